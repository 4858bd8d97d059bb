package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

func TestVanishedStoreComesBack(t *testing.T) {
	l := newLab(t)
	l.Write("a", "precious\n")
	l.Write("src/b", "too\n")
	l.Init()
	want := l.Read()
	l.Remove(".agent")
	l.Remove("src")
	l.Remove("a")
	l.Do(func(ctx context.Context, p *project.Project) error {
		if len(p.Notices()) == 0 {
			t.Error("nobody is told that the store had vanished")
		}
		_, err := restore.Undo(ctx, p, restore.Options{})
		return err
	})
	l.Is(want, "after undo")
}

func TestForeignStoreIsRefused(t *testing.T) {
	l := newLab(t)
	l.Write("a", "x")
	l.Init()
	if err := os.Remove(filepath.Join(l.Home, ".rewind", "known")); err != nil {
		t.Fatal(err)
	}
	var foreign *account.ForeignStoreError
	if _, err := project.Open(context.Background(), l.Options()); !errors.As(err, &foreign) {
		t.Fatalf("a store that this account did not make gives %v", err)
	}
	p, _, _, err := save.Init(context.Background(), stores.InitOptions{OpenOptions: l.Options(), Trust: true})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	l.Save()
}

func TestMovedAndCopiedProjects(t *testing.T) {
	l := newLab(t)
	l.Write("a", "x")
	first := l.Init()
	moved := l.Root + "-moved"
	if err := os.Rename(l.Root, moved); err != nil {
		t.Fatal(err)
	}
	l.Root, l.Env.Dir = moved, moved
	l.Write("a", "y")
	l.Save()
	copied := moved + "-copy"
	if err := os.CopyFS(copied, os.DirFS(moved)); err != nil {
		t.Fatal(err)
	}
	other := &lab{&testlab.Lab{T: t, Root: copied, Home: l.Home, Env: l.Env}}
	other.Env.Dir = copied
	other.Write("a", "z")
	other.Save()
	a, b := l.Open(), other.Open()
	defer a.Close()
	defer b.Close()
	if a.ID == b.ID {
		t.Error("a copied store has the id of the original")
	}
	for _, p := range []*project.Project{a, b} {
		if _, err := inspect.Resolve(context.Background(), p, first.Checkpoint.ID.String()); err != nil {
			t.Error(err)
		}
	}
}

func TestFutureFormat(t *testing.T) {
	l := newLab(t)
	l.Write("a", "x")
	l.Init()
	file := filepath.Join(l.Root, ".agent", "rewind", "format")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(old, []byte(`"version": 1`), []byte(`"version": 2`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	var future *account.FutureFormatError
	if _, err := project.Open(context.Background(), l.Options()); !errors.As(err, &future) {
		t.Errorf("a format from the future gives %v", err)
	}
	if err := os.WriteFile(file, old, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRefusedRoots(t *testing.T) {
	l := newLab(t)
	for _, dir := range []string{"/", l.Home, os.TempDir()} {
		env := l.Env
		env.Dir = dir
		var refused *project.RefusedRootError
		_, _, _, err := save.Init(context.Background(), stores.InitOptions{OpenOptions: project.OpenOptions{Env: env}})
		if !errors.As(err, &refused) {
			t.Errorf("init in %s gives %v", dir, err)
		}
	}
}

// What another account left in the temporary directory does not decide for the projects below it; a store of
// one's own there does.
func TestStoreInTheTemporaryDirectory(t *testing.T) {
	l, other := newLab(t), newLab(t)
	l.Write("below/project/a", "x")
	t.Setenv("TMPDIR", l.Root)
	env := other.Env
	env.Dir = l.Root
	open := project.OpenOptions{Env: env, Root: l.Root}
	if _, _, _, err := save.Init(context.Background(), stores.InitOptions{OpenOptions: open}); err != nil {
		t.Fatal(err)
	}
	at := func(env account.Env) string {
		t.Helper()
		env.Dir = filepath.Join(l.Root, "below", "project")
		known, err := account.KnownStores(env)
		if err != nil {
			t.Fatal(err)
		}
		found, err := project.Discover(project.OpenOptions{Env: env}, known)
		if err != nil {
			t.Fatal(err)
		}
		return found.Root
	}
	if got, want := at(l.Env), filepath.Join(l.Root, "below", "project"); got != want {
		t.Errorf("somebody else's store: the root is %s, not %s", got, want)
	}
	if got := at(other.Env); got != l.Root {
		t.Errorf("one's own: the root is %s, not %s", got, l.Root)
	}
}
