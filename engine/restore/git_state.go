package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
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
	dir  string // temporary: the saved state as files
	plan *gitrestore.Plan
}

func (g *gitMove) changes() bool { return g != nil && len(g.plan.Lines) > 0 }

func (g *gitMove) close() {
	if g != nil {
		os.RemoveAll(g.dir) // what is left of it is swept by gc
	}
}

// prepareGit plans the way of git's own state to that of a checkpoint's.
func (r *Run) prepareGit(id oid.ID) error {
	if r.Options.Git == GitStays || r.git != nil {
		return nil
	}
	if !r.Options.GitOf.IsZero() {
		id = r.Options.GitOf
	}
	if id.IsZero() {
		return &project.RefusedError{What: "that checkpoint does not hold git's own state: there was no git repository, it could not be read, or forget removed it", Next: "leave out --git"}
	}
	r.git = &gitMove{}
	if err := r.planGit(r.git, id, r.Options.Git); err != nil {
		return err
	}
	if reasons := r.git.plan.Refusals; len(reasons) > 0 {
		return &project.RefusedError{What: "git's own state cannot be brought back: " + strings.Join(reasons, " ")}
	}
	return nil
}

// planGit plans g, the way of git's own state to a captured one. The caller closes g, also after an error.
func (r *Run) planGit(g *gitMove, id oid.ID, half GitHalf) error {
	state, err := gitstate.Load(r.Tx, id, r.Root())
	if err != nil {
		return err
	}
	target := gitrestore.Target{WorkTree: state.WorkTree, GitDir: state.GitDir, CommonDir: state.Common}
	if err := isOurRepository(r.Root(), target); err != nil {
		return err
	}
	temp := filepath.Join(r.StoreDir(), account.TmpName)
	if r.Options.DryRun {
		temp = "" // the system's: a dry run writes nothing into the store
	}
	if g.dir, err = os.MkdirTemp(temp, "git-"); err != nil {
		return err
	}
	source := gitrestore.Source{Dir: filepath.Join(g.dir, "files"), Objects: gitstate.HeldDirs(r.Project)}
	indexes := filepath.Join(g.dir, "indexes")
	for _, dir := range []string{source.Dir, indexes} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := state.WriteFiles(source.Dir); err != nil {
		return err
	}
	if source.Indexes, err = state.WriteIndexes(indexes); err != nil {
		return err
	}
	if err := linkSharedIndexes(source.Dir, indexes); err != nil {
		return err
	}
	mode := gitrestore.Missing
	switch half {
	case GitExact:
		mode = gitrestore.Exact
	case gitBack:
		mode = gitrestore.Back
	}
	g.plan, err = gitrestore.MakePlan(r.Ctx, source, target, mode, r.target.ID.String()[:gitLabel])
	return err
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

// isOurRepository refuses a place that is not that of the repository around the root: a store can come from anywhere, and
// says itself where its repository is.
func isOurRepository(root string, t gitrestore.Target) error {
	if repo, ok := gitrepo.Find(root); ok && repo.CommonDir == t.CommonDir && repo.GitDir == t.GitDir {
		return nil
	}
	around := t.WorkTree == root || strings.HasPrefix(root, strings.TrimSuffix(t.WorkTree, string(filepath.Separator))+string(filepath.Separator))
	dotGit := filepath.Join(t.WorkTree, ".git")
	switch {
	case around && t.GitDir == t.CommonDir && t.CommonDir == dotGit && !gitrepo.IsGitDir(dotGit):
		return nil // the directory is gone, or what is left is no repository: it comes back in its place
	case around && t.GitDir != t.CommonDir && namesWorktree(t, dotGit):
		return nil
	}
	return &project.RefusedError{
		What: fmt.Sprintf("the git repository of that checkpoint was %s, and that is not the one around %s now", t.CommonDir, root),
		Next: "leave out --git, or move what is there now away",
	}
}

// maxPath is more than a longest path, in bytes.
const maxPath = 64 << 10

// namesWorktree reports whether the repository of a linked worktree knows the one at dotGit, or did until git pruned it.
func namesWorktree(t gitrestore.Target, dotGit string) bool {
	text, err := account.ReadSmall(filepath.Join(t.GitDir, "gitdir"), maxPath)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = account.ReadSmall(dotGit, maxPath)
		return err == nil && strings.TrimRight(strings.TrimPrefix(string(text), "gitdir: "), "\r\n") == t.GitDir
	}
	return err == nil && strings.TrimRight(string(text), "\r\n") == dotGit
}

// applyGit brings git's own state back, and captures what it is then.
func (r *Run) applyGit() error {
	if !r.git.changes() {
		return nil
	}
	r.Op.GitBefore = r.Scan.Git()
	if _, err := r.git.plan.Apply(r.Ctx); err != nil {
		return err
	}
	repo, ok := gitrepo.Find(r.Root())
	if !ok {
		return errors.New("the git repository that was brought back is not found around the project")
	}
	start, err := r.StartTime()
	if err != nil {
		return err
	}
	generation, err := r.Store.Generation()
	if err != nil {
		return err
	}
	after, err := gitstate.Capture(r.Ctx, r.Project, gitstate.Options{Tx: r.Tx, Repo: repo, Start: start, Generation: generation})
	if err != nil {
		return err
	}
	r.Op.GitAfter = after.ID
	return nil
}

// recordGit is a restore in which no file differs, and git's own state does.
func (r *Run) recordGit(done *Restored) (*Restored, error) {
	safety, err := r.saveSafety(r.Now)
	if err != nil {
		return nil, err
	}
	r.Op.Time, r.Op.Safety, r.Op.Before, r.Op.After = safety.Time, safety.ID, r.Now, r.Now
	r.Tx = r.Tx.Next()
	if r.Op.Paths, err = r.Tx.Put(r.move.Line()); err != nil {
		return nil, err
	}
	if err := r.applyGit(); err != nil {
		return nil, err
	}
	if err := r.commitMove(); err != nil {
		return nil, err
	}
	r.Tx = nil
	done.Safety, done.Operation = safety, r.Op.Seq
	return done, nil
}

// takeBackGit plans to take back what operations, the newest last, did to git's own state.
func (r *Run) takeBackGit(back []manifest.Operation) error {
	back = slices.DeleteFunc(slices.Clone(back), func(o manifest.Operation) bool { return o.GitAfter.IsZero() })
	if len(back) == 0 {
		return nil
	}
	before, after := back[0].GitBefore, back[len(back)-1].GitAfter
	if before.IsZero() {
		r.Notify("the git directory that this operation made stays: what is in it may have no other copy")
		return nil
	}
	r.Options.Git = gitBack
	if gitstate.Differ(r.Tx, after, r.Scan.Git()) {
		if !r.Options.Force {
			return &project.RefusedError{What: "git's own state has changed since that operation", Forcible: true}
		}
		r.Options.Git = GitExact
	}
	return r.prepareGit(before)
}

// gitLines are what becomes of git's own state.
func (r *Run) gitLines() []gitrestore.Line {
	if r.git == nil {
		return nil
	}
	return r.git.plan.Lines
}

// undoWithGit is the step of an undo that brings git's own state back, too: to the newest checkpoint of which that, or the
// files, differ, or to what an operation has left since.
func (r *Run) undoWithGit() (*treeio.Plan, error) {
	ops, err := oplog.Operations(r.Ctx, r.Project, 0)
	if err != nil {
		return nil, err
	}
	below, err := r.undoneTo(ops)
	if err != nil {
		return nil, err
	}
	c, err := r.otherGit(!r.Options.GitOnly, below)
	if err != nil {
		return nil, err
	}
	if below != 0 {
		ops = nil
	}
	for _, op := range ops {
		if c != nil && op.Seq < c.Seq {
			break
		}
		if op.GitAfter.IsZero() || !r.Scan.Git().IsZero() && !gitstate.Differ(r.Tx, op.GitAfter, r.Scan.Git()) {
			continue
		}
		if err := r.reportTarget(op); err != nil {
			return nil, err
		}
		plan, err := r.planTree(r.target, op.After)
		if err != nil {
			return nil, err
		}
		return plan, r.prepareGit(op.GitAfter)
	}
	if c == nil {
		return nil, &project.NothingError{What: UndoVerb, Next: "no checkpoint has another state of git: rewind list shows what there is"}
	}
	return r.planTo(*c)
}

// undoneTo is the sequence number of the checkpoint that the last operation, an undo with git, went to, if git's own state is
// still as it left that; else 0. The next undo goes further back from there.
func (r *Run) undoneTo(ops []manifest.Operation) (uint64, error) {
	if len(ops) == 0 || r.Scan.Git().IsZero() || ops[0].Kind != manifest.OpUndo || ops[0].GitAfter.IsZero() || gitstate.Differ(r.Tx, ops[0].GitAfter, r.Scan.Git()) {
		return 0, nil
	}
	var seq uint64
	err := r.Look(r.Ctx, func(db *manifest.DB) error {
		c, ok, err := db.ByID(ops[0].Checkpoint)
		if ok {
			seq = c.Seq
		}
		return err
	})
	return seq, err
}

// otherGit is the newest checkpoint of which git's own state, or with files those, differ; nil for none. With below, it is an
// earlier one than that sequence number, and none that an operation took before it began.
func (r *Run) otherGit(files bool, below uint64) (*manifest.Checkpoint, error) {
	now := r.Scan.Git()
	return r.NewestInLog(r.Ctx, 0, func(c *manifest.Checkpoint) bool {
		if below != 0 && (c.Seq >= below || c.Kind == manifest.Safety) {
			return false
		}
		return !c.Git.IsZero() && (now.IsZero() || gitstate.Differ(r.Tx, c.Git, now) || files && c.Root != r.Now)
	})
}

// gitInstead is what to do where no file differs, and git's own state does; "" where that does not either.
func (r *Run) gitInstead() string {
	c, err := r.otherGit(false, 0)
	if err != nil || c == nil {
		return ""
	}
	return "no file differs, but git's own state does: rewind undo --git --dry-run shows what would return"
}
