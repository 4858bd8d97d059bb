//go:build unix

package stores_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/stores"
)

// TestGlobalStores: a moved project keeps its store, another directory at its path does not get it.
func TestGlobalStores(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options(), Mode: account.GlobalMode})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	id := l.StoreID()
	moved := l.In(l.Root + "-moved")
	if err := os.Rename(l.Root, moved.Root); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(l.Root, 0o755); err != nil {
		t.Fatal(err)
	}
	var other *project.MovedError
	if _, err := project.Open(t.Context(), l.Options()); !errors.As(err, &other) || other.ID != id.String() {
		t.Fatalf("another directory at its path: %v", err)
	}
	moved.Write("a", "2")
	moved.Save()
	if moved.StoreID() != id {
		t.Error("the moved project has another store")
	}
	p, _, _, err = save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options(), Mode: account.GlobalMode})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if l.StoreID() == id || len(l.IDs()) != 1 || len(moved.IDs()) != 2 {
		t.Errorf("two directories: %v and %v", l.IDs(), moved.IDs())
	}
	l.Save()
	l.Verify()
	moved.Verify()
}

// TestExportedRoot: the variable counts inside of the directory that it names, and its session there.
func TestExportedRoot(t *testing.T) {
	l := newLab(t)
	l.Write("sub/a", "1")
	l.Init()
	other := l.In(l.Root + "-other")
	other.Write("b", "1")
	other.Init()
	values := map[string]string{"REWIND_PROJECT_ROOT": l.Root, "REWIND_SESSION_ID": "s", "REWIND_AGENT": "claude"}
	env := l.Env
	env.Getenv = func(key string) string { return values[key] }
	for dir, want := range map[string]string{l.Root: l.Root, filepath.Join(l.Root, "sub"): l.Root, other.Root: other.Root} {
		env.Dir = dir
		p, err := project.Open(t.Context(), project.OpenOptions{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		if p.Root() != want {
			t.Errorf("in %s the root is %s", dir, p.Root())
		}
		beside, err := session.Beside(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		id := ""
		if beside != nil {
			id = beside.ID
		}
		if (id == "s") != (want == l.Root) {
			t.Errorf("in %s the session is %q", dir, id)
		}
		p.Close()
	}
}
