package testlab

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// Lab is a project in a temporary directory, with a home of its own. Its cleanup verifies the store: every test ends
// with an undamaged one. One goroutine at a time uses it, unless a method says otherwise.
type Lab struct {
	T    testing.TB
	Root string
	Home string
	Env  account.Env
}

// New makes a lab without a store.
func New(t testing.TB) *Lab {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return NewAt(t, base)
}

// NewAt makes a lab in a directory whose path has no links.
func NewAt(t testing.TB, base string) *Lab {
	t.Helper()
	l := &Lab{T: t, Root: filepath.Join(base, "project"), Home: filepath.Join(base, "home")}
	for _, dir := range []string{l.Root, l.Home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.Env = account.Env{Home: l.Home, Dir: l.Root, Getenv: func(string) string { return "" }}
	return l
}

// Every is the step through the cases of a test: 1 where all of them are tried, and n with -short, which tries a share.
func Every[N int | uint64](n N) N {
	if testing.Short() {
		return n
	}
	return 1
}

// In is the lab of another directory of the same account.
func (l *Lab) In(root string) *Lab {
	other := &Lab{T: l.T, Root: root, Home: l.Home, Env: l.Env}
	other.Env.Dir = root
	return other
}

// Options opens the project of the lab.
func (l *Lab) Options() project.OpenOptions { return project.OpenOptions{Env: l.Env, Root: l.Root} }

// Init makes the store with a first checkpoint.
func (l *Lab) Init() *checkpoint.Saved {
	l.T.Helper()
	p, saved, created, err := save.Init(context.Background(), stores.InitOptions{OpenOptions: l.Options()})
	if err != nil {
		l.T.Fatal(err)
	}
	if !created {
		l.T.Fatal("there was a store already")
	}
	if err := p.Close(); err != nil {
		l.T.Fatal(err)
	}
	l.T.Cleanup(func() { l.Verify() })
	return saved
}

// Open opens the project. The caller closes it.
func (l *Lab) Open() *project.Project {
	l.T.Helper()
	p, err := project.Open(context.Background(), l.Options())
	if err != nil {
		l.T.Fatal(err)
	}
	return p
}

// Do opens the project for one call, as each command does, and ends the test on an error.
func (l *Lab) Do(call func(ctx context.Context, p *project.Project) error) {
	l.T.Helper()
	if err := l.Try(call); err != nil {
		l.T.Fatal(err)
	}
}

// Try is Do that gives the error.
func (l *Lab) Try(call func(ctx context.Context, p *project.Project) error) error {
	l.T.Helper()
	p, err := project.Open(context.Background(), l.Options())
	if err != nil {
		return err
	}
	defer p.Close()
	return call(context.Background(), p)
}

// Ok ends the test on an error.
func (l *Lab) Ok(err error) {
	l.T.Helper()
	if err != nil {
		l.T.Fatal(err)
	}
}

// Save takes a checkpoint, as a person does.
func (l *Lab) Save() *checkpoint.Saved {
	l.T.Helper()
	var saved *checkpoint.Saved
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		saved, err = save.Save(ctx, p, checkpoint.Options{})
		return err
	})
	return saved
}

// SaveWith takes a checkpoint with options.
func (l *Lab) SaveWith(o checkpoint.Options) *checkpoint.Saved {
	l.T.Helper()
	var saved *checkpoint.Saved
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		saved, err = save.Save(ctx, p, o)
		return err
	})
	return saved
}

// SaveBy takes the checkpoint of a prompt.
func (l *Lab) SaveBy(by conversation.Trigger) *checkpoint.Saved {
	l.T.Helper()
	var saved *checkpoint.Saved
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		saved, err = save.Save(ctx, p, checkpoint.Options{Kind: manifest.Prompt, By: by})
		return err
	})
	return saved
}

// Verify fails the test if the store is damaged.
func (l *Lab) Verify() {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		v, err := maintain.Verify(ctx, p, true)
		if err == nil && !v.OK() {
			l.T.Errorf("the store is damaged: %+v", v.Damaged)
		}
		return err
	})
}

// Fold folds the log into its tables.
func (l *Lab) Fold() {
	l.T.Helper()
	l.Do(maintain.Fold)
}

// Newest lists the n newest checkpoints that are shown, the newest first.
func (l *Lab) Newest(n int) (out []project.Listed) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		out, err = p.List(ctx, project.ListOptions{Limit: n})
		return err
	})
	return out
}

// IDs lists all checkpoints of the project, the oldest first.
func (l *Lab) IDs() (ids []manifest.CheckpointID) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		list, err := p.List(ctx, project.ListOptions{All: true})
		for _, c := range list {
			ids = append(ids, c.ID)
		}
		return err
	})
	slices.Reverse(ids)
	return ids
}

// StoreID is the id of the store of the project.
func (l *Lab) StoreID() account.StoreID {
	l.T.Helper()
	p := l.Open()
	defer p.Close()
	return p.ID
}

// KnownStores are the stores that the account knows of, at least one.
func (l *Lab) KnownStores() []account.KnownStore {
	l.T.Helper()
	all, err := account.KnownStores(l.Env)
	if err != nil || len(all) == 0 {
		l.T.Fatalf("the registry has %v, %v", all, err)
	}
	return all
}

// Patterns turns paths below the root into the patterns that Restore and others take.
func (l *Lab) Patterns(paths []string, o pathspec.PatternOptions) (out []string) {
	l.T.Helper()
	var args []pathspec.PathArg
	for _, p := range paths {
		if p = path.Clean(p); p == "." {
			p = ""
		}
		args = append(args, pathspec.PathArg{Path: p})
	}
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		out, err = pathspec.Patterns(ctx, p, args, o)
		return err
	})
	return out
}
