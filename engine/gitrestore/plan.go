package gitrestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// Mode says what happens to what exists.
type Mode int

const (
	Missing Mode = iota // what is lost returns, what exists is not moved
	Exact               // references, HEAD and index are moved to what they were
	Back                // as Exact, and what is in progress goes: an operation, after which nothing has changed, brought it
)

// Source is a saved state. Its paths are absolute.
type Source struct {
	Dir     string            // the files of the common git directory, without objects and indexes; Apply moves reflogs from there
	Indexes map[string]string // files: of the main worktree (""), and of linked ones by their names below worktrees/
	Objects []string          // directories laid out as git's objects, which hold what the state needs
	Shared  bool              // they hold objects of other repositories, too, which a git directory that is built anew is not to get
	Why     string            // a sentence: why objects may not be held
	Mode    fs.FileMode       // permissions of the git directory; 0: those of a new one
	Beside  []string          // names in the git directory of what had objects that are not held: "lfs", "annex"
	// Comes reports whether a directory that is not there will be when Apply is called; nil for none.
	Comes func(dir string) bool `json:"-"`
	// Unchecked says that nobody is to be told what of a git directory that is built anew is held.
	Unchecked bool
}

// Target is the repository's place. Its paths are absolute; what is there is looked at, and nothing may be.
type Target struct {
	WorkTree  string
	GitDir    string // of a linked worktree: its own, below CommonDir
	CommonDir string
	Was       string // the name that a linked worktree has in the saved state; "" for the one that it has now
	// Anew says that CommonDir is built anew whatever is there now, with the directories above it: it lies in a git directory that
	// is itself built anew.
	Anew bool
}

func (t Target) linked() bool { return t.GitDir != t.CommonDir }

// worktree is the name of a linked worktree in the saved state, "" for the main one.
func (t Target) worktree() string {
	if !t.linked() || t.Was != "" {
		return t.Was
	}
	return filepath.Base(t.GitDir)
}

// What a line is about.
type What int

const (
	GitDir   What = iota // the git directory as a whole
	Worktree             // the registration of a linked worktree
	Ref
	Stash
	Head
	Index
	Progress // a merge, rebase, cherry-pick, revert or bisect that was in progress
	Reflog
	Objects // that a git directory which is built anew lacks
)

// Change is what happens.
type Change int

const (
	Returns   Change = iota // it is not there now
	ReturnsAs               // what has its name now stays; it returns as Line.As
	Moves
	Goes
	Stays  // it would go or move, and Note says why it does not
	Unable // it is lost and cannot return, and Note says why
)

// Line is one part of a plan. From and To are object ids; of a symbolic reference and of HEAD on a branch, the name of the
// reference; "" where there is none.
type Line struct {
	What     What
	Change   Change
	Name     string // of a reference in full; of a stash entry, its message; of progress, "merge"
	As       string // the full name of the reference under which it returns
	From, To string // now and then
	Count    int    // reflog lines; of GitDir: references
	Note     string // a sentence, "" for none
	Blocked  bool   // of ReturnsAs: not what has its name now is in the way, but a file that is no reference; of HEAD: another worktree has the branch
	Repo     string // which of several repositories, "" for the one around the project; it is not set here
}

// Plan is what Apply does.
type Plan struct {
	Mode     Mode
	Lines    []Line   // empty: nothing is lost, or all is as it was
	Refusals []string // sentences; Apply does nothing while there are any

	source Source
	target Target
	label  string

	partial  bool // objects may be missing
	build    bool
	absent   map[string]bool // by ids that the saved state names, whether they are held nowhere
	damaged  map[string]bool // and files of loose objects that are held and have another content
	remains  bool            // of the git directory: they are moved into the new one
	worktree bool            // the linked worktree is registered anew
	gitFile  bool            // so is the file .git of the work tree
	gitFiles []string        // and those of linked worktrees below the work tree, by the names of their git directories
	links    []link
	first    []refChange // one transaction
	head     *gitrepo.Ref
	rest     []refChange // what can only follow
	symbolic map[string]string
	stash    []logEntry // the whole log, the oldest first; nil: it is not changed
	stashWas []logEntry // the log that it replaces
	logs     []logPlan
	moved    []movedLog
	mended   []refChange // references whose files are empty
	index    *indexPlan
	kept     []keptIndex
	progress []string // names in the git directory

	step func(string) error // for tests: is called after each step
}

// Result counts what was done.
type Result struct {
	Objects int // linked or copied, packs count as one
	Refs    int
	Logs    int
}

// Builds reports whether the git directory is built anew.
func (p *Plan) Builds() bool { return p.build }

// RefusedError is a plan with refusals.
type RefusedError struct{ Reasons []string }

func (e *RefusedError) Error() string { return strings.Join(e.Reasons, " ") }

// savedRepo is the saved state of the target.
func (p *Plan) savedRepo() gitrepo.Repo {
	r := gitrepo.Open(p.source.Dir, p.source.Dir)
	if p.target.linked() {
		r.GitDir = filepath.Join(p.source.Dir, "worktrees", p.target.worktree())
	}
	return r
}

func (p *Plan) refuse(format string, args ...any) {
	p.Refusals = append(p.Refusals, fmt.Sprintf(format, args...))
}

func (p *Plan) line(l Line) { p.Lines = append(p.Lines, l) }

// MakePlan looks at both sides. label names the checkpoint in rewind/<label>/…; what git does not take in a name is replaced. Errors: of the
// file system, *gitprogram.FailedError, *gitprogram.MissingError; what is no fault but a reason to wait is a refusal.
func MakePlan(ctx context.Context, s Source, t Target, mode Mode, label string) (*Plan, error) {
	p := &Plan{Mode: mode, source: s, target: t, label: refComponent(label), symbolic: map[string]string{}}
	saved := p.savedRepo()
	if _, err := os.Lstat(filepath.Join(s.Dir, "HEAD")); err != nil {
		p.refuse("The saved state has no HEAD: it is not that of a git repository.")
		return p, nil
	}
	if names := gitrepo.LinkedRefs(s.Dir); len(names) > 0 {
		p.refuse("The checkpoint does not have its references: %s was a symbolic link.", filepath.Join(t.CommonDir, names[0]))
		return p, nil
	}
	if names := gitrepo.LinkedRefs(t.CommonDir); len(names) > 0 && !t.Anew {
		p.refuse("%s is a symbolic link, through which no references are restored.", filepath.Join(t.CommonDir, names[0]))
		return p, nil
	}
	info, err := os.Lstat(t.CommonDir)
	switch {
	case t.Anew:
		return p, p.planBuild(ctx, saved)
	case errors.Is(err, fs.ErrNotExist):
		return p, p.planBuild(ctx, saved)
	case err != nil:
		return nil, err
	case !gitrepo.IsGitDir(t.CommonDir):
		if !info.IsDir() {
			p.refuse("%s is there and is no git directory. Move it away, and the saved one is built anew in its place.", t.CommonDir)
			return p, nil
		}
		p.remains = true
		return p, p.planBuild(ctx, saved)
	}
	if err := p.planWorktree(); err != nil || len(p.Refusals) > 0 {
		return p, err
	}
	for empty, again := *p, true; again && err == nil; { // without what turned out to be held nowhere
		absent, damaged := p.absent, p.damaged
		*p = empty
		p.absent, p.damaged, p.symbolic = absent, damaged, map[string]string{}
		pl := &planner{Plan: p, ctx: ctx, renamed: map[string]string{}, staged: map[string]string{}, left: leftLocks(t.CommonDir)}
		again, err = pl.plan(saved)
	}
	if err == nil && len(p.Refusals) == 0 { // packed references that it cannot read stop it only when it changes one
		_, err = p.git(ctx, false, nil, "for-each-ref", "--count=1", "--format=%(refname)") // with its own format it reads the object of each
	}
	if failed := (*gitprogram.FailedError)(nil); errors.As(err, &failed) {
		p.refuse("Git cannot read %s: %s. Move %s away and run rewind undo --git-only: it is built anew.", p.unreadable(failed.Text), strings.TrimSuffix(failed.Text, "."), t.CommonDir)
		return p, nil
	}
	return p, err
}

// unreadable is the file that git means with a message, or the git directory.
func (p *Plan) unreadable(message string) string {
	for _, name := range []string{"packed-refs", "config", "index"} {
		if strings.Contains(message, name) {
			return filepath.Join(p.target.CommonDir, name)
		}
	}
	if head, err := gitrepo.Open(p.target.GitDir, p.target.CommonDir).HeadRef(); err != nil || head == (gitrepo.Ref{}) {
		return filepath.Join(p.target.GitDir, "HEAD")
	}
	return p.target.CommonDir
}

// planner compares a repository with a saved state of it.
type planner struct {
	*Plan
	ctx        context.Context
	saved, now side
	names      *names            // of the references that there are afterwards
	renamed    map[string]string // by the saved name
	wanted     []string          // ids of all that returns
	inLogs     []string          // and of what lines of reflogs name
	staged     map[string]string // ids of what a saved index names, with git's name there, as ":a.txt"
	left       map[string]bool   // locks of processes that have ended, which Apply removes
	checkedOut map[string]string // by the branch that another worktree is on, its directory
	inIndexes  map[string]bool   // see stagedNow
	reachable  []string          // ids that references and HEADs name afterwards
}

// side is what one of them has.
type side struct {
	repo gitrepo.Repo
	refs map[string]gitrepo.Ref
	head gitrepo.Ref
}

func readSide(r gitrepo.Repo) (s side, err error) {
	s.repo = r
	if s.refs, err = r.Refs(); err != nil {
		return s, err
	}
	for name, ref := range s.refs {
		if ref.ID != "" && isZero(ref.ID) {
			s.refs[name] = gitrepo.Ref{} // damaged, to git
		}
	}
	s.head, err = r.HeadRef()
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // a linked worktree that is not registered
	}
	return s, err
}

// plan plans all parts. again says that ids have come to p.absent, and that a new plan leaves them out.
func (p *planner) plan(saved gitrepo.Repo) (again bool, err error) {
	now := gitrepo.Open(p.target.GitDir, p.target.CommonDir)
	switch {
	case now.RefStorage() != "files" || saved.RefStorage() != "files":
		p.refuse("References that are kept as %q are brought back only with the whole git directory. Move %s away, and it is built anew.", max(now.RefStorage(), saved.RefStorage()), p.target.CommonDir)
	case now.ObjectFormat() != saved.ObjectFormat():
		p.refuse("The repository names objects by %s now, and did by %s.", now.ObjectFormat(), saved.ObjectFormat())
	case saved.Partial() && !now.Partial():
		p.refuse("The saved state is of a partial clone, which the repository is not now.")
	}
	if len(p.Refusals) > 0 {
		return false, nil
	}
	if p.saved, err = readSide(saved); err != nil {
		return false, err
	}
	if p.now, err = readSide(now); err != nil {
		return false, err
	}
	p.partial = now.Partial()
	p.dropStrangers()
	if p.worktree { // what is its own comes whole
		p.now.head = p.saved.head
		for name, ref := range p.saved.refs {
			if gitrepo.OwnRef(name) {
				p.now.refs[name] = ref
			}
		}
	}
	d := p.compareRefs()
	wasStash, err := stashOf(p.saved, true)
	if err != nil {
		return false, err
	}
	isStash, err := stashOf(p.now, false)
	if err != nil {
		return false, err
	}
	logs, err := p.compareLogs()
	if err != nil {
		return false, err
	}
	own, err := p.ownIDs()
	if err != nil {
		return false, err
	}
	if err := p.refuseDamaged(); err != nil || len(p.Refusals) > 0 {
		return false, err
	}
	kinds, err := p.kindsOf(d, slices.Concat(wasStash, isStash), logs, own)
	if err != nil {
		return false, err
	}
	if err := p.planRefs(d, kinds); err != nil {
		return false, err
	}
	p.planStash(wasStash, isStash, kinds)
	if err := p.planLogs(logs, kinds); err != nil {
		return false, err
	}
	for _, id := range own {
		if kinds[id] != "" {
			p.wanted = append(p.wanted, id)
		}
	}
	if err := p.planOwn(kinds); err != nil {
		return false, err
	}
	p.planObstacles()
	p.goneWorktrees()
	if err := p.planKeptLogs(); err != nil {
		return false, err
	}
	if again, err = p.planObjects(); err == nil && !again {
		err = p.planLacking()
		p.refuseLocked()
	}
	return again, err
}

// ownIDs are the ids that what returns of the worktree's own names: something in progress, HEAD and its reflog.
func (p *planner) ownIDs() ([]string, error) {
	ids := p.progressIDs()
	if !p.worktree {
		return ids, nil
	}
	if p.saved.head.ID != "" {
		ids = append(ids, p.saved.head.ID)
	}
	log, err := readLog(logFile(p.saved.repo, "HEAD"))
	for _, e := range log {
		ids = append(ids, e.id)
	}
	index, ierr := p.lsFiles(p.ctx, p.source.Indexes[p.target.worktree()])
	for _, e := range index {
		if e.mode != gitlink {
			p.staged[e.id] = ":" + e.path
		}
	}
	return ids, errors.Join(err, ierr)
}

// planOwn plans what is the worktree's own: HEAD, the index, and what was in progress.
func (p *planner) planOwn(kinds map[string]string) error {
	if p.Mode == Missing {
		return p.keepIndexes()
	}
	if p.worktree {
		return nil
	}
	if err := p.planProgress(); err != nil {
		return err
	}
	is := p.now.head
	was, note := p.headThen()
	switch {
	case note != "" && (was == is || was == gitrepo.Ref{}):
		p.line(Line{What: Head, Change: Stays, Name: "HEAD", From: text(is), Note: note})
	case was == is, was == gitrepo.Ref{}:
	case was.ID != "" && kinds[was.ID] != "commit":
		p.line(Line{What: Head, Change: Unable, Name: "HEAD", From: text(is), To: was.ID, Note: heldNowhere})
	default:
		p.line(Line{What: Head, Change: Moves, Name: "HEAD", From: text(is), To: text(was), Note: note, Blocked: note != ""})
		p.head = &was
		if was.ID != "" {
			p.wanted = append(p.wanted, was.ID)
		}
	}
	if err := p.planIndex(); err != nil || p.Mode != Exact || p.source.Unchecked {
		return err
	}
	if err := p.keepIndexes(); err != nil {
		return err
	}
	return p.planOthers()
}

// headThen is what HEAD becomes in the mode Exact: detached, with a sentence that says why, where another worktree has its branch now.
func (p *planner) headThen() (head gitrepo.Ref, note string) {
	head = p.saved.head
	place := p.checkedOut[head.Target]
	if place == "" || head == p.now.head {
		return head, ""
	}
	note = fmt.Sprintf("Branch %s is checked out in %s: HEAD is detached, on the commit that it was on.", strings.TrimPrefix(head.Target, "refs/heads/"), place)
	return gitrepo.Ref{ID: p.saved.refs[head.Target].ID}, note
}

// stashIDs are the entries of the stash afterwards.
func (p *planner) stashIDs() (ids []string) {
	for _, e := range append(p.stash, p.stashWas...) {
		ids = append(ids, e.id)
	}
	return ids
}

// refuseDamaged refuses where a reference names an object that the repository lacks and that is held: more may be missing, of
// which the references say nothing, and all of it comes back only with the whole git directory.
func (p *planner) refuseDamaged() error {
	ask := map[string]bool{p.now.head.ID: true}
	for _, r := range p.now.refs {
		ask[r.ID] = true
	}
	delete(ask, "") // of a symbolic reference
	there, err := p.kinds(p.ctx, false, sorted(ask))
	if err != nil {
		return err
	}
	for id := range there {
		delete(ask, id)
	}
	held, err := p.kinds(p.ctx, true, sorted(ask))
	if err != nil {
		return err
	}
	for _, id := range sorted(held) {
		p.refuse("Objects of the repository are missing, such as %s. Move %s away, and it is built anew with all that is held.", id, p.target.CommonDir)
		break
	}
	return nil
}

// kindsOf asks for the kinds of all objects in question.
func (p *planner) kindsOf(d differing, stash []logEntry, logs []savedLog, own []string) (map[string]string, error) {
	ask := map[string]bool{p.saved.head.ID: true, p.saved.refs[p.saved.head.Target].ID: true}
	for _, id := range own {
		ask[id] = true
	}
	for _, list := range [][]string{d.back, d.differ} {
		for _, name := range list {
			ask[p.saved.refs[name].ID] = true
		}
	}
	for _, t := range d.tips {
		ask[t.id] = true
	}
	for _, e := range stash {
		ask[e.old], ask[e.id] = true, true
	}
	for _, l := range logs {
		for e := range l.lacking {
			ask[e.old], ask[e.id] = true, true
		}
	}
	delete(ask, "") // of a symbolic reference
	kinds, err := p.kinds(p.ctx, true, sorted(ask))
	for id := range p.absent {
		delete(kinds, id)
	}
	return kinds, err
}
