package gitstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
)

// maxRepos is how many repositories below a project are captured: each costs a hook some 20 stat calls.
const maxRepos = 100

// modulesName is the directory in a git directory that has those of its submodules.
const modulesName = "modules"

// Options of one capture.
type Options struct {
	Tx         *commit.Tx
	Repo       gitrepo.Repo // around the project's root; zero: there is none
	Below      []string     // paths, relative to the root and with "/", of each .git that the scan met below it
	Start      time.Time    // start of the checkpoint on the file system's clock
	Generation uint64       // of the store
	Look       bool         // write nothing: hold no object
	Begun      *Begun       // the capture of Repo, if it was begun before; nil: it was not
}

// Begun is the capture of the repository around a project, which goes on beside the scan of the project.
type Begun struct {
	may       chan bool // objects are held, or the capture is dropped
	done      chan struct{}
	forgotten error // of ObeyForgotten
	state     *captured
	err       error
}

// Begin begins to capture the repository around a project, which o.Repo is; the rest of it is left to Capture, with the same options.
// Nothing is written before Hold is called: it is not known yet that the store is the project's own.
func Begin(ctx context.Context, p *project.Project, o Options) *Begun {
	if o.Repo.CommonDir == "" {
		return nil
	}
	b := &Begun{may: make(chan bool, 1), done: make(chan struct{})}
	o.Tx = o.Tx.Beside()
	go func() {
		defer close(b.done)
		b.state, b.err = capture(ctx, p, o.Repo, o)
		if b.err = errors.Join(b.err, o.Tx.Flush()); b.err != nil || o.Look || !<-b.may {
			return
		}
		b.forgotten = ObeyForgotten(p)
		b.err = b.state.hold(ctx)
	}()
	return b
}

// Hold has the objects held that the state needs.
func (b *Begun) Hold() {
	if b != nil {
		b.may <- true
	}
}

// Drop ends what was begun, in place of Hold.
func (b *Begun) Drop() {
	if b != nil {
		b.may <- false
		b.Wait()
	}
}

// Wait waits until what was begun puts nothing into the transaction any more, after Hold.
func (b *Begun) Wait() {
	if b != nil {
		<-b.done
	}
}

// Captured is the state of a project's repositories in a transaction that is not committed yet.
type Captured struct {
	ID       oid.ID            // the tree of the states; zero: there is no repository
	Problems []problem.Problem // what is not in it

	p      *project.Project
	o      Options
	states []*captured
	sum    string // over the states' ids
	new    bool   // the tree was put together
}

// Capture captures the state of the repository around a project, of its submodules, and of the repositories below the root.
// The caller holds the users lock until the commit. What cannot be read is a problem. Errors: of the store; ctx.Err.
func Capture(ctx context.Context, p *project.Project, o Options) (*Captured, error) {
	c := &Captured{p: p, o: o}
	o.Begun.Wait()
	var err error
	if o.Begun != nil {
		err = o.Begun.forgotten
	} else if !o.Look {
		err = ObeyForgotten(p)
	}
	if err != nil {
		c.problem(p.Root(), "objects of git that another account has forgotten may still be held: "+problem.Text(err))
	}
	for _, repo := range c.repos() {
		var state *captured
		if o.Begun != nil && repo.CommonDir == o.Repo.CommonDir {
			state, err = o.Begun.state, o.Begun.err
		} else if state, err = capture(ctx, p, repo, o); err == nil && !o.Look {
			err = state.hold(ctx)
		}
		if err == nil && state.new { // not before: what another goroutine puts cannot be read while it does
			err = state.take(o.Tx)
		}
		if err != nil {
			if ctx.Err() != nil || project.IsDamage(err) {
				return nil, err
			}
			c.problem(repo.CommonDir, "what git keeps beside its objects is not in this checkpoint: "+problem.Text(err))
			continue
		}
		if state.left > 0 {
			c.problem(repo.CommonDir, fmt.Sprintf("git objects or packs that are not held: %d. Their file system allows no hard links to them, and they are too large to copy", state.left))
		}
		for _, name := range state.linked {
			c.problem(filepath.Join(repo.CommonDir, name), "git's references are not in this checkpoint, so --git cannot bring them back: it is a symbolic link")
			c.Problems[len(c.Problems)-1].Failed = true
		}
		c.states = append(c.states, state)
	}
	return c, c.together()
}

// problem notes what is wrong with a path.
func (c *Captured) problem(file, reason string) {
	name := ".git"
	if rel, err := filepath.Rel(c.p.Root(), file); err == nil && filepath.IsLocal(rel) {
		name = filepath.ToSlash(rel)
	}
	c.Problems = append(c.Problems, problem.Problem{Path: name, Reason: reason})
}

// repos are the repositories to capture: that around the project first, and each before those in its git directory. A common git
// directory comes once, and for its main worktree where that is one of them.
func (c *Captured) repos() (list []gitrepo.Repo) {
	seen := map[string]bool{}
	left := 0
	var add func(r gitrepo.Repo)
	add = func(r gitrepo.Repo) {
		if seen[r.CommonDir] {
			return
		}
		seen[r.CommonDir] = true
		if len(list) > maxRepos {
			left++
			return
		}
		list = append(list, r)
		for _, dir := range moduleDirs(r) {
			eachModule(dir, 0, func(gitDir string) { add(gitrepo.OpenModule(gitDir)) })
		}
	}
	if c.o.Repo.CommonDir != "" {
		add(c.o.Repo)
	} else {
		c.unreadable(filepath.Join(c.p.Root(), ".git"))
	}
	if dir := filepath.Join(c.p.Root(), filepath.FromSlash(gitrepo.JJStore)); gitrepo.IsGitDir(dir) {
		add(gitrepo.OpenModule(dir))
	}
	var linked []gitrepo.Repo
	for _, dotGit := range c.o.Below {
		file := filepath.Join(c.p.Root(), filepath.FromSlash(dotGit))
		dir := filepath.Dir(file)
		if HasStore(c.p.Root(), dir) {
			continue
		}
		r, ok := gitrepo.Find(dir)
		switch {
		case !ok || r.WorkTree != dir:
			c.unreadable(file)
		case !Below(c.p.Root(), c.o.Repo.CommonDir, r.CommonDir): // it belongs to another project
		case r.GitDir != r.CommonDir:
			linked = append(linked, r)
		default:
			add(r)
		}
	}
	for _, r := range linked {
		add(r)
	}
	if left > 0 {
		c.problem(c.p.Root(), fmt.Sprintf("git repositories below the project whose own state is not in this checkpoint: %d. It has that of %d", left, maxRepos))
	}
	return list
}

// unreadable names a git directory that cannot be read.
func (c *Captured) unreadable(dotGit string) {
	if _, err := os.Stat(filepath.Join(dotGit, "HEAD")); errors.Is(err, fs.ErrPermission) {
		c.problem(dotGit, "what git keeps beside its objects is not in this checkpoint: "+problem.Text(err))
	}
}

// HasStore reports whether a directory, or one between it and the project's root, has a store of its own, which captures what
// is below.
func HasStore(root, dir string) bool {
	for ; dir != root && len(dir) > len(root); dir = filepath.Dir(dir) {
		if account.IsStore(filepath.Join(dir, filepath.FromSlash(account.StoreName))) {
			return true
		}
	}
	return false
}

// Below reports whether a common git directory is one that a project has beside that of the repository around it: as a .git, or
// in one, below its root, in the git directory of that repository ("" for none), or as jj's own. All paths are absolute.
func Below(root, around, common string) bool {
	if around != "" && vfs.IsBelow(around, common) {
		return true
	}
	rel, err := filepath.Rel(root, common)
	parts := strings.Split(rel, string(filepath.Separator))
	return err == nil && vfs.IsBelow(root, common) && (slices.Contains(parts, ".git") || filepath.ToSlash(rel) == gitrepo.JJStore)
}

// moduleDirs are the directories with the git directories of a repository's submodules. Those of the other worktrees belong to
// a project of their own where this one is a linked worktree.
func moduleDirs(r gitrepo.Repo) []string {
	dirs := []string{filepath.Join(r.GitDir, modulesName)}
	if r.GitDir == r.CommonDir {
		for _, index := range indexesOf(r.CommonDir)[1:] {
			dirs = append(dirs, filepath.Join(r.CommonDir, filepath.Dir(filepath.FromSlash(index.path)), modulesName))
		}
	}
	return dirs
}

// maxModuleDepth is how many slashes the name of a submodule can have.
const maxModuleDepth = 8

// eachModule finds the git directories of submodules, whose names can have slashes.
func eachModule(dir string, depth int, visit func(gitDir string)) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return // most repositories have none
	}
	for _, name := range names {
		below := filepath.Join(dir, name.Name())
		switch {
		case !name.IsDir():
		case gitrepo.IsGitDir(below):
			visit(below)
		case depth < maxModuleDepth && name.Name() != "objects": // else it is what is left of one
			eachModule(below, depth+1, visit)
		}
	}
}

// combined is what is kept of the last tree of several states.
type combined struct {
	Sum        string    `json:"sum"`
	ID         oid.ID    `json:"id"`
	Generation uint64    `json:"generation"`
	Start      time.Time `json:"start"`
}

func (c *Captured) combinedFile() string {
	return filepath.Join(c.p.StoreDir(), account.GitName, "combined")
}

// together makes one tree of the states: that of the repository around the project, with those of all others below it.
func (c *Captured) together() error {
	around := len(c.states) > 0 && c.states[0].repo.CommonDir == c.o.Repo.CommonDir
	switch {
	case len(c.states) == 0:
		return nil
	case around && len(c.states) == 1:
		c.ID = c.states[0].id
		return nil
	}
	var ids []byte
	for _, s := range c.states {
		ids = append(append(ids, s.id[:]...), s.name()...)
	}
	c.sum = oid.Sum(ids).String()
	var last combined
	if data, err := vfs.ReadSmall(c.combinedFile(), 1<<10, vfs.NoFollow); err == nil && json.Unmarshal(data, &last) == nil &&
		last.Sum == c.sum && c.o.fits(c.p, last.Generation, last.Start) {
		c.ID = last.ID
		return nil
	}
	all, below := tree{sink: c.o.Tx}, tree{sink: c.o.Tx}
	for i, s := range c.states {
		dir, err := c.o.Tx.Load(s.id)
		if err != nil {
			return err
		}
		if i == 0 && around {
			all.dir = dir
			all.dir.Entries = slices.Clone(dir.Entries)
			continue
		}
		files, size := dir.Totals()
		below.subdir(s.name(), s.id, files, size)
	}
	err := all.tree(belowName, &below)
	if err == nil {
		c.ID, err = all.put()
	}
	if err == nil {
		err = c.o.Tx.Flush()
	}
	c.new = true
	return err
}

// Publish keeps what the next capture compares with. The caller holds the append lock, and at is durable.
func (c *Captured) Publish(at cas.Position) error {
	if c == nil || len(c.states) == 0 {
		return nil
	}
	if err := account.MakeDir(filepath.Join(c.p.StoreDir(), account.GitName), c.p.Owner); err != nil {
		return err
	}
	stamp := project.Stamp{Generation: c.o.Generation, At: at, Start: c.o.Start}.Encode()
	var errs []error
	for _, s := range c.states {
		errs = append(errs, s.publish(stamp))
	}
	if c.new {
		data, err := json.Marshal(combined{c.sum, c.ID, c.o.Generation, c.o.Start})
		if err == nil {
			err = account.WriteCache(c.combinedFile(), data, c.p.Owner)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
