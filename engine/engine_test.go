package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// lab is a project in a temporary directory with a home of its own. Its cleanup
// verifies the store: every test ends with a whole one.
type lab struct {
	t    testing.TB
	root string
	home string
	env  account.Env
}

func newLab(t testing.TB) *lab {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return newLabAt(t, base)
}

// every is the step through a test's cases: one where all of them are tried, and n where -race tries a share of them.
func every[N int | uint64](n N) N {
	if testing.Short() {
		return n
	}
	return 1
}

// newLabAt makes a lab in a directory whose path has no links.
func newLabAt(t testing.TB, base string) *lab {
	t.Helper()
	l := &lab{t: t, root: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	for _, dir := range []string{l.root, l.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.env = account.Env{Home: l.home, Dir: l.root, Getenv: func(string) string { return "" }}
	return l
}

func (l *lab) options() project.OpenOptions { return project.OpenOptions{Env: l.env, Root: l.root} }

// init makes the store with a first checkpoint.
func (l *lab) init() *checkpoint.Saved {
	l.t.Helper()
	p, saved, created, err := save.Init(context.Background(), stores.InitOptions{OpenOptions: l.options()})
	if err != nil {
		l.t.Fatal(err)
	}
	if !created {
		l.t.Fatal("there was a store already")
	}
	if err := p.Close(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { l.verify() })
	return saved
}

func (l *lab) open() *project.Project {
	l.t.Helper()
	p, err := project.Open(context.Background(), l.options())
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

// do opens the project for one call, as each command does.
func (l *lab) do(call func(ctx context.Context, p *project.Project) error) {
	l.t.Helper()
	if err := l.try(call); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) try(call func(ctx context.Context, p *project.Project) error) error {
	l.t.Helper()
	p, err := project.Open(context.Background(), l.options())
	if err != nil {
		return err
	}
	defer p.Close()
	return call(context.Background(), p)
}

func (l *lab) save() *checkpoint.Saved {
	l.t.Helper()
	var saved *checkpoint.Saved
	l.do(func(ctx context.Context, p *project.Project) (err error) {
		saved, err = save.Save(ctx, p, checkpoint.Options{})
		return err
	})
	return saved
}

func (l *lab) verify() {
	l.t.Helper()
	l.do(func(ctx context.Context, p *project.Project) error {
		v, err := maintain.Verify(ctx, p, true)
		if err == nil && !v.OK() {
			l.t.Errorf("the store is damaged: %+v", v.Damaged)
		}
		return err
	})
}

func (l *lab) write(path, content string) {
	l.t.Helper()
	file := filepath.Join(l.root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) remove(path string) {
	l.t.Helper()
	if err := os.RemoveAll(filepath.Join(l.root, filepath.FromSlash(path))); err != nil {
		l.t.Fatal(err)
	}
}

// tree is the plain model of a working tree: for each path its mode and content,
// of a large file its size and hash.
type tree map[string]string

// read gives the tree as it is on disk, the store left out.
func (l *lab) read() tree {
	l.t.Helper()
	return l.readAt(l.root)
}

// readAt is read of another directory.
func (l *lab) readAt(root string) tree {
	l.t.Helper()
	out := tree{}
	err := filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil || rel == "." {
			return err
		}
		if rel == ".agent" || d.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(file)
			if err != nil {
				return err
			}
			text += " -> " + target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if len(data) > 1000 {
				data = fmt.Appendf(nil, "%d bytes %s", len(data), oid.Sum(data))
			}
			text += " " + string(data)
		}
		out[filepath.ToSlash(rel)] = text
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return out
}

// diff says where other is not as m, a line each.
func (m tree) diff(other tree) string {
	var lines []string
	for p := range m {
		if other[p] != m[p] {
			lines = append(lines, fmt.Sprintf("%q: %q, want %q", p, other[p], m[p]))
		}
	}
	for p := range other {
		if _, ok := m[p]; !ok {
			lines = append(lines, fmt.Sprintf("%q: %q, want nothing", p, other[p]))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// is fails the test where the tree on disk is not want.
func (l *lab) is(want tree, when string) {
	l.t.Helper()
	if d := want.diff(l.read()); d != "" {
		l.t.Errorf("tree %s:\n%s", when, d)
	}
}

func TestSaveAndRestore(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "one\n")
	l.write("dir/b.txt", "two\n")
	l.write("gone/c.txt", "three\n")
	if err := os.Symlink("nowhere", filepath.Join(l.root, "dangling")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(l.root, "empty"), 0o750); err != nil {
		t.Fatal(err)
	}
	first := l.init()
	before := l.read()
	if first.Checkpoint.Files != 4 || first.Checkpoint.Added != 4 {
		t.Errorf("files %d, added %d, want 4 and 4", first.Checkpoint.Files, first.Checkpoint.Added)
	}
	if again := l.save(); !again.Unchanged || again.Checkpoint.Added+again.Checkpoint.Modified+again.Checkpoint.Deleted != 0 {
		t.Errorf("nothing was changed, the save says %+v", again.Checkpoint)
	}
	l.write("a.txt", "ONE\n")
	l.remove("gone")
	l.write("new/d.txt", "four\n")
	second := l.save()
	if c := second.Checkpoint; c.Added != 1 || c.Modified != 1 || c.Deleted != 1 {
		t.Errorf("added %d modified %d deleted %d, want 1 each", c.Added, c.Modified, c.Deleted)
	}
	after := l.read()
	l.do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first.Checkpoint})
		return err
	})
	l.is(before, "after restore")
	l.do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.UndoRestore(ctx, p, restore.Options{})
		return err
	})
	l.is(after, "after undo-restore")
}

func TestResolve(t *testing.T) {
	l := newLab(t)
	l.write("a", "0")
	var ids []string
	ids = append(ids, l.init().Checkpoint.ID.String())
	for i := range 3 {
		l.write("a", strings.Repeat("x", i+1))
		ids = append(ids, l.save().Checkpoint.ID.String())
	}
	l.do(func(ctx context.Context, p *project.Project) error {
		c, err := inspect.Resolve(ctx, p, "2")
		if err != nil {
			return err
		}
		return maintain.Rename(ctx, p, c.Checkpoint, "before-lunch")
	})
	l.do(func(ctx context.Context, p *project.Project) error {
		for spec, want := range map[string]int{
			"": 3, "last": 3, "prev": 2, "1": 3, "4": 0, "before-lunch": 2, ids[1]: 1, ids[0][:8]: 0, "@{0s}": 3,
		} {
			c, err := inspect.Resolve(ctx, p, spec)
			if err != nil {
				t.Errorf("%q: %v", spec, err)
				continue
			}
			if c.ID.String() != ids[want] || c.N != 4-want {
				t.Errorf("%q is %s (%d), want %s (%d)", spec, c.ID, c.N, ids[want], 4-want)
			}
		}
		for _, spec := range []string{"5", "0", "nope", "kkkkkkkkkkkkkkkk", "klm", "@{never}", "@{2001-01-01}"} {
			var missing *project.NoCheckpointError
			if c, err := inspect.Resolve(ctx, p, spec); !errors.As(err, &missing) {
				t.Errorf("%q gives %v, %v, want no checkpoint", spec, c.ID, err)
			}
		}
		for _, name := range []string{"last", "prev", "now", "123", "klmnopqr", "rtntlvoyoyzzzmvv", "", "-x", "a b", "é", strings.Repeat("a", 300)} {
			var bad *project.BadNameError
			if err := project.CheckName(name); !errors.As(err, &bad) {
				t.Errorf("the name %q gives %v", name, err)
			}
		}
		for _, name := range []string{"two", "top", "sort", "k", "klmn", "support"} {
			if err := project.CheckName(name); err != nil {
				t.Errorf("the name %q gives %v", name, err)
			}
		}
		// A name is found before an id that begins with it; with one letter more, the id is found.
		second, err := inspect.Resolve(ctx, p, ids[1])
		if err != nil {
			return err
		}
		if err := maintain.Rename(ctx, p, second.Checkpoint, ids[0][:7]); err != nil {
			return err
		}
		for spec, want := range map[string]string{ids[0][:7]: ids[1], ids[0][:8]: ids[0], ids[0]: ids[0]} {
			if c, err := inspect.Resolve(ctx, p, spec); err != nil || c.ID.String() != want {
				t.Errorf("%q is %s, %v, want %s", spec, c.ID, err, want)
			}
		}
		return nil
	})
}

func TestAges(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5m": 5 * time.Minute, "3d": 72 * time.Hour, "1w": 168 * time.Hour, "1w2d": 216 * time.Hour, "1d12h": 36 * time.Hour, "90s": 90 * time.Second,
	} {
		if got, err := inspect.ParseAge(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "5", "-5m", "1d-2h", "99999999999w", "9999999w9999999w", "h"} {
		if got, err := inspect.ParseAge(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

func TestLargeFileChangedInTheMiddle(t *testing.T) {
	l := newLab(t)
	size := 24 << 20 / every(3)
	data := make([]byte, size)
	state := uint64(1)
	for i := range data { // incompressible, reproducible
		state = state*6364136223846793005 + 1442695040888963407
		data[i] = byte(state >> 56)
	}
	l.write("big", string(data))
	first := l.init()
	copy(data[size/2:], bytes.Repeat([]byte("changed!"), 1<<17))
	l.write("big", string(data))
	second := l.save()
	if added := second.Checkpoint.StoredBytes; added > 4<<20 {
		t.Errorf("1 MB changed in the middle adds %d bytes", added)
	}
	l.do(func(ctx context.Context, p *project.Project) error {
		e, err := inspect.Entry(ctx, p, second.Checkpoint, "big")
		if err != nil {
			return err
		}
		if e.Kind != manifest.Chunked || e.Size != uint64(size) {
			t.Errorf("entry %+v", e)
		}
		r, err := inspect.Content(ctx, p, e)
		if err != nil {
			return err
		}
		defer r.Close()
		got, err := io.ReadAll(r)
		if !bytes.Equal(got, data) {
			t.Error("the content differs")
		}
		return err
	})
	l.do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first.Checkpoint})
		return err
	})
}

func (l *lab) saveWith(o checkpoint.Options) *checkpoint.Saved {
	l.t.Helper()
	var saved *checkpoint.Saved
	l.do(func(ctx context.Context, p *project.Project) (err error) {
		saved, err = save.Save(ctx, p, o)
		return err
	})
	return saved
}

func (l *lab) fold() {
	l.t.Helper()
	l.do(maintain.Fold)
}
