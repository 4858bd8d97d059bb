//go:build unix

package engine

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
	l.write("a", "1")
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.options(), Mode: account.GlobalMode})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	id := l.storeID()
	moved := l.in(l.root + "-moved")
	if err := os.Rename(l.root, moved.root); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(l.root, 0o755); err != nil {
		t.Fatal(err)
	}
	var other *project.MovedError
	if _, err := project.Open(t.Context(), l.options()); !errors.As(err, &other) || other.ID != id.String() {
		t.Fatalf("another directory at its path: %v", err)
	}
	moved.write("a", "2")
	moved.save()
	if moved.storeID() != id {
		t.Error("the moved project has another store")
	}
	p, _, _, err = save.Init(t.Context(), stores.InitOptions{OpenOptions: l.options(), Mode: account.GlobalMode})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if l.storeID() == id || len(l.ids()) != 1 || len(moved.ids()) != 2 {
		t.Errorf("two directories: %v and %v", l.ids(), moved.ids())
	}
	l.save()
	l.verify()
	moved.verify()
}

// TestExportedRoot: the variable counts inside of the directory that it names, and its session there.
func TestExportedRoot(t *testing.T) {
	l := newLab(t)
	l.write("sub/a", "1")
	l.init()
	other := l.in(l.root + "-other")
	other.write("b", "1")
	other.init()
	values := map[string]string{"REWIND_PROJECT_ROOT": l.root, "REWIND_SESSION_ID": "s", "REWIND_AGENT": "claude"}
	env := l.env
	env.Getenv = func(key string) string { return values[key] }
	for dir, want := range map[string]string{l.root: l.root, filepath.Join(l.root, "sub"): l.root, other.root: other.root} {
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
		if (id == "s") != (want == l.root) {
			t.Errorf("in %s the session is %q", dir, id)
		}
		p.Close()
	}
}
