package restore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/gitrestore"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// GitHalf says whether git's own state (references, stash, HEAD, index) goes to the target, too.
type GitHalf int

const (
	GitStays GitHalf = iota
	GitLost          // what is lost returns; what exists is not moved
	GitExact         // references, HEAD and index become what they were
	gitBack          // so does what is in progress: an operation is taken back, after which nothing has changed
)

// gitMove is git's own state on its way to the target's.
type gitMove struct {
	half     GitHalf
	state    oid.ID              // to which it goes
	to       manifest.Checkpoint // names what is put beside what is there
	quiet    bool                // what cannot be brought back is not reported
	left     bool                // a repository below the root cannot be brought back
	dir      string              // temporary: the saved states as files
	plans    []gitPlan
	lines    []gitrestore.Line // of all plans
	refusals []string          // of the plan for the repository around the project
	around   bool              // the first plan is that one
	below    []string          // see gitstate.Options
	comes    func(string) bool // see gitrestore.Source
	shared   bool              // there are several repositories, whose objects are held in one place
}

// gitPlan is the plan for one of the project's repositories.
type gitPlan struct {
	*gitrestore.Plan
	target gitrestore.Target
}

func (g *gitMove) changes() bool {
	return g != nil && slices.ContainsFunc(g.lines, func(l gitrestore.Line) bool { return l.Change != gitrestore.Unable && l.Change != gitrestore.Stays })
}

// clearUp removes what is left of a way that was killed, where nothing is to do.
func (g *gitMove) clearUp() error {
	if g == nil || g.changes() {
		return nil
	}
	var errs []error
	for _, plan := range g.plans {
		errs = append(errs, plan.ClearUp())
	}
	return errors.Join(errs...)
}

func (g *gitMove) close() {
	if g != nil {
		os.RemoveAll(g.dir) // what is left of it is swept by gc
	}
}

// prepareGit plans the way of git's own state to that of a checkpoint's, unless it is planned already.
func (r *Run) prepareGit(way *Way, id oid.ID) error {
	if r.Options.Git == GitStays || way.git != nil {
		return nil
	}
	if !r.Options.GitOf.IsZero() {
		id = r.Options.GitOf
	}
	if id.IsZero() {
		return &project.RefusedError{What: "that checkpoint does not hold git's own state: there was no git repository, it could not be read, or forget removed it", Next: "leave out " + r.gitFlag()}
	}
	way.git = &gitMove{half: r.Options.Git, state: id, comes: r.comes(way)}
	if err := r.planGit(way.git, way.Target, id); err != nil {
		return err
	}
	if reasons := way.git.refusals; len(reasons) > 0 {
		return &project.RefusedError{What: "git's own state cannot be brought back: " + strings.Join(reasons, " ")}
	}
	return nil
}

// comes tells in which directories a way creates files.
func (r *Run) comes(way *Way) func(dir string) bool {
	return func(dir string) bool {
		return way.Plan != nil && slices.ContainsFunc(way.Plan.Changes, func(c treeio.Change) bool {
			return c.Action != treeio.Delete && vfs.IsBelow(dir, filepath.Join(r.Root(), filepath.FromSlash(c.Path)))
		})
	}
}

// gitFlag is the option that brings git's own state along.
func (r *Run) gitFlag() string {
	if r.Options.GitOnly {
		return "--git-only"
	}
	return "--git"
}

// planGit plans g, the way of git's own state to a captured one, and names what it puts beside others by the target. The caller
// closes g, also after an error.
func (r *Run) planGit(g *gitMove, target manifest.Checkpoint, id oid.ID) error {
	g.to = target
	states, around, err := gitstate.LoadAll(r.Tx, id, r.Root())
	if err != nil {
		return err
	}
	g.around, g.shared = around, len(states) > 1
	temp := filepath.Join(r.StoreDir(), account.TmpName)
	if r.Options.DryRun {
		temp = "" // the system's: a dry run writes nothing into the store
	}
	if g.dir, err = os.MkdirTemp(temp, account.GitTemp); err != nil {
		return err
	}
	for i, state := range states {
		if i > 0 || !around {
			if err := r.planBelow(g, state); err != nil {
				return err
			}
			continue
		}
		place := gitrestore.Target{WorkTree: state.WorkTree, GitDir: state.GitDir, CommonDir: state.Common}
		if repo, ok := gitrepo.Find(r.Root()); ok && repo.CommonDir == place.CommonDir && repo.WorkTree == place.WorkTree && repo.GitDir != repo.CommonDir && place.GitDir != place.CommonDir {
			place.Was, place.GitDir = filepath.Base(place.GitDir), repo.GitDir // git can have added it again, under another name
		}
		if err := isOurRepository(r.Root(), place); err != nil {
			return err
		}
		if g.refusals, err = r.planRepository(g, state, place, ""); err != nil || len(g.refusals) > 0 {
			return err
		}
	}
	return nil
}

// planRepository plans the way of one repository to a state, and adds the plan to g where nothing refuses it. name is that of
// its lines.
func (r *Run) planRepository(g *gitMove, state *gitstate.State, target gitrestore.Target, name string) (refusals []string, err error) {
	dir, err := os.MkdirTemp(g.dir, "")
	if err != nil {
		return nil, err
	}
	source := gitrestore.Source{Dir: filepath.Join(dir, "files"), Objects: gitstate.HeldDirs(r.Project), Shared: g.shared, Unchecked: g.quiet, Comes: g.comes, Why: r.whyNotHeld(g.to), Mode: state.Mode, Beside: state.Beside}
	indexes := filepath.Join(dir, "indexes")
	for _, dir := range []string{source.Dir, indexes} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	var present *gitstate.State
	if !target.Anew && gitrepo.IsGitDir(target.CommonDir) {
		present = r.presentGit()[target.CommonDir]
	}
	if err := state.WriteFiles(source.Dir, present); err != nil {
		return nil, err
	}
	if source.Indexes, err = state.WriteIndexes(indexes); err != nil {
		return nil, err
	}
	if err := linkSharedIndexes(source.Dir, indexes); err != nil {
		return nil, err
	}
	mode := gitrestore.Missing
	switch g.half {
	case GitExact:
		mode = gitrestore.Exact
	case gitBack:
		mode = gitrestore.Back
	}
	plan, err := gitrestore.MakePlan(r.Ctx, source, target, mode, g.to.ID.String()[:gitLabel])
	if err != nil || len(plan.Refusals) > 0 {
		return plan.Refusals, err
	}
	g.plans = append(g.plans, gitPlan{plan, target})
	for _, l := range plan.Lines {
		l.Repo = name
		g.lines = append(g.lines, l)
	}
	return nil, nil
}

// presentGit are the captured states of the repositories as they are now, by their common git directories; what is not known is missing.
func (r *Run) presentGit() map[string]*gitstate.State {
	all := map[string]*gitstate.State{}
	if r.Scan == nil || r.Scan.Git().IsZero() {
		return all
	}
	list, _, _ := gitstate.LoadAll(r.Tx, r.Scan.Git(), r.Root())
	for _, s := range list {
		all[s.Common] = s
	}
	return all
}

// whyNotHeld is the most likely reason why what a state needs is not held.
func (r *Run) whyNotHeld(target manifest.Checkpoint) string {
	forgot := func(o manifest.Operation) bool { return o.Kind == manifest.OpForget && o.Seq > target.Seq }
	if ops, err := oplog.Operations(r.Ctx, r.Project, 0); err == nil && slices.ContainsFunc(ops, forgot) {
		return "rewind forget let go of what was held."
	}
	return "They are not held for this account and this directory: another account holds them, this is a copy of a project, or ~/.rewind was removed, or put back from a backup."
}

// linkSharedIndexes puts the other halves of split indexes beside the indexes, where git looks for them. Their names say what
// they contain.
func linkSharedIndexes(files, indexes string) error {
	dirs := []string{files}
	worktrees, _ := os.ReadDir(filepath.Join(files, "worktrees")) // most have none
	for _, w := range worktrees {
		dirs = append(dirs, filepath.Join(files, "worktrees", w.Name()))
	}
	for _, dir := range dirs {
		names, err := os.ReadDir(dir)
		if err != nil {
			continue // a file in the place of a directory
		}
		for _, name := range names {
			if strings.HasPrefix(name.Name(), "sharedindex.") && name.Type().IsRegular() {
				if err := os.Link(filepath.Join(dir, name.Name()), filepath.Join(indexes, name.Name())); err != nil && !errors.Is(err, fs.ErrExist) {
					return err
				}
			}
		}
	}
	return nil
}

// gitLabel is how much of a checkpoint's id names it in rewind/<checkpoint>/<branch>: it stays the same when numbers shift.
const gitLabel = 8

// applyGit brings git's own state back, and captures what it is then.
func (r *Run) applyGit(g *gitMove) error {
	r.Op.GitBefore = r.Scan.Git()
	for _, plan := range g.plans {
		if _, err := plan.Apply(r.Ctx); err != nil {
			return err
		}
		if plan.Builds() { // it stays, so the operation is recorded, which an undo takes back
			r.Ctx = context.WithoutCancel(r.Ctx)
		}
	}
	repo, ok := gitrepo.Find(r.Root())
	if !ok && g.around {
		return errors.New("the git repository that was brought back is not found around the project")
	}
	below := slices.Concat(r.Scan.Scan.Repos, g.below)
	slices.Sort(below)
	start, err := r.StartTime()
	if err != nil {
		return err
	}
	generation, err := r.Store.Generation()
	if err != nil {
		return err
	}
	after, err := gitstate.Capture(r.Ctx, r.Project, gitstate.Options{
		Tx: r.Tx, Repo: repo, Below: slices.Compact(below), Start: start, Generation: generation,
	})
	if err != nil {
		return err
	}
	if r.Op.GitAfter = after.ID; after.ID == r.Op.GitBefore { // objects came back, and nothing else
		r.Op.GitBefore, r.Op.GitAfter = oid.ID{}, oid.ID{}
	}
	return nil
}

// recordGit is a restore in which no file differs, and git's own state does.
func (r *Run) recordGit(way *Way, done *Restored) (*Restored, error) {
	safety, err := r.saveSafety(r.Now)
	if err != nil {
		return nil, err
	}
	r.Op.Time, r.Op.Safety, r.Op.Before, r.Op.After = safety.Time, safety.ID, r.Now, r.Now
	r.Tx = r.Tx.Next()
	if r.Op.Paths, err = r.Tx.Put(way.move.Line()); err != nil {
		return nil, err
	}
	_, err = (&treeio.Plan{}).Apply(r.Ctx, treeio.ApplyOptions{
		Dir: r.RestoreDir(), Sink: r.Tx, Owner: r.Owner, NoSync: r.Settings().Durability == "fast",
		Note:   manifest.Record{Operation: &r.Op}.Append(nil),
		Record: func(out *treeio.Outcome) error { return r.recordMoves(way, out.Note) }, Now: r.Env.Time,
	})
	if err != nil {
		return nil, err
	}
	r.Tx = nil
	done.Safety, done.Operation = safety, r.Op.Seq
	return done, nil
}

// takeBackGit plans to take back what operations, the newest last, did to git's own state.
func (r *Run) takeBackGit(way *Way, back []manifest.Operation) error {
	back = slices.DeleteFunc(slices.Clone(back), func(o manifest.Operation) bool { return o.GitAfter.IsZero() })
	if len(back) == 0 {
		return nil
	}
	before, after := back[0].GitBefore, back[len(back)-1].GitAfter
	if before.IsZero() {
		r.Notify("the git directory that this operation made stays: what is in it may have no other copy")
		r.Options.Git = GitStays
		return nil
	}
	r.Options.Git = gitBack
	if !r.gitIsAt(way.Target, after) {
		if r.gitIsAt(way.Target, before) {
			r.Options.Git = GitStays // an undo of git's own state alone came first
			return nil
		}
		if !r.Options.Force {
			return &project.RefusedError{What: "git's own state has changed since that operation", Forcible: true}
		}
		r.Options.Git = GitExact
	}
	return r.prepareGit(way, before)
}

// gitIsAt reports whether git's own state is what it was in a captured one; reflogs may have grown.
func (r *Run) gitIsAt(target manifest.Checkpoint, id oid.ID) bool {
	if now := r.Scan.Git(); now.IsZero() || !gitstate.Differ(r.Tx, id, now) {
		return !now.IsZero()
	}
	move := &gitMove{half: GitExact, quiet: true}
	defer move.close()
	return r.planGit(move, target, id) == nil && len(move.refusals) == 0 && !move.changes()
}
