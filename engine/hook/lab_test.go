package hook

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// lab is a project with a first checkpoint, and an agent whose hooks save there. A deadline in the
// past leaves a save to the detached process, which detached counts and never starts.
type lab struct {
	t        *testing.T
	root     string
	env      account.Env
	detached int
}

func newLab(t *testing.T) *lab {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	l := &lab{t: t, root: filepath.Join(base, "project")}
	l.env = account.Env{Home: filepath.Join(base, "home"), Dir: l.root, Getenv: func(string) string { return "" }}
	must(t, os.Mkdir(l.root, 0o755))
	must(t, os.Mkdir(l.env.Home, 0o755))
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (l *lab) options() project.OpenOptions { return project.OpenOptions{Env: l.env, Root: l.root} }

func (l *lab) init() {
	l.t.Helper()
	p, _, err := stores.Init(l.t.Context(), stores.InitOptions{OpenOptions: l.options()})
	must(l.t, err)
	must(l.t, p.Close())
	l.person()
}

func (l *lab) open() *project.Project {
	l.t.Helper()
	p, err := project.Open(l.t.Context(), l.options())
	must(l.t, err)
	return p
}

// try opens the project for one call, as each process does.
func (l *lab) try(call func(context.Context, *project.Project) error) error {
	l.t.Helper()
	p := l.open()
	defer p.Close()
	return call(context.Background(), p)
}

func (l *lab) do(call func(context.Context, *project.Project) error) {
	l.t.Helper()
	must(l.t, l.try(call))
}

func (l *lab) write(path, content string) {
	l.t.Helper()
	file := filepath.Join(l.root, path)
	must(l.t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(l.t, os.WriteFile(file, []byte(content), 0o644))
}

func (l *lab) remove(path string) {
	l.t.Helper()
	must(l.t, os.RemoveAll(filepath.Join(l.root, path)))
}

// person saves as a person does.
func (l *lab) person() {
	l.t.Helper()
	l.do(func(ctx context.Context, p *project.Project) error {
		if err := p.BeginWriting(ctx); err != nil {
			return err
		}
		_, err := checkpoint.Take(ctx, p, checkpoint.TakeOptions{})
		return err
	})
}

func (l *lab) save(o saveOptions) (saved *outcome) {
	l.t.Helper()
	o.Detach = func() error { l.detached++; return nil }
	if o.Kind == "" {
		o.Kind = manifest.PreTool
	}
	l.do(func(ctx context.Context, p *project.Project) (err error) {
		saved, err = save(ctx, p, o)
		return err
	})
	return saved
}

func (l *lab) work() {
	l.t.Helper()
	l.do(func(ctx context.Context, p *project.Project) error { return Work(ctx, p, WorkOptions{}) })
}

func (l *lab) newest(n int) (out []project.Listed) {
	l.t.Helper()
	l.do(func(ctx context.Context, p *project.Project) (err error) {
		out, err = p.List(ctx, project.ListOptions{Limit: n})
		return err
	})
	return out
}

// entry is a path of a checkpoint; nil where there is none.
func (l *lab) entry(c manifest.Checkpoint, path string) (found *manifest.Entry) {
	l.t.Helper()
	l.do(func(_ context.Context, p *project.Project) error {
		return manifest.Walk(p.LoadDir, c.Root, func(at string, e manifest.Entry) error {
			if at == path {
				found = &e
			}
			return nil
		})
	})
	return found
}

// at reads a file of a checkpoint; "-" where there is none.
func (l *lab) at(c manifest.Checkpoint, path string) (text string) {
	l.t.Helper()
	e := l.entry(c, path)
	switch {
	case e == nil:
		return "-"
	case e.Kind == manifest.Symlink:
		return e.Target
	}
	l.do(func(_ context.Context, p *project.Project) error {
		data, err := p.ReadObject(e.ID)
		text = string(data)
		return err
	})
	return text
}

var tooLate = time.Unix(1, 0)

// tick is longer than the grain of a file system's clock.
const tick = 20 * time.Millisecond
