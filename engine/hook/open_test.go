package hook

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/engine/conversation"
)

// A session stays with the project that it began in, also where that is moved.
func TestOpenFollowsAMovedProject(t *testing.T) {
	l := newLab(t)
	l.init()
	opens := func(dir string) string {
		t.Helper()
		c := Call{Event: Event{Dir: dir, Cwd: dir, By: conversation.Trigger{Agent: "claude", Session: "s"}}, Env: l.env}
		c.Env.Dir = dir
		c.Load()
		if err := c.Open(t.Context()); err != nil {
			return err.Error()
		}
		defer c.Project.Close()
		return c.Project.Root()
	}
	if got := opens(l.root); got != l.root {
		t.Fatal(got)
	}
	elsewhere := filepath.Join(filepath.Dir(l.root), "elsewhere")
	must(t, os.Mkdir(elsewhere, 0o755))
	if got := opens(elsewhere); got != l.root {
		t.Errorf("after a cd it is in %s", got)
	}
	moved := l.root + "-moved"
	must(t, os.Rename(l.root, moved))
	for range 2 { // also by what is remembered
		if got := opens(moved); got != moved {
			t.Errorf("moved, it is in %s", got)
		}
	}
}

// Where another project stands in the place of the session's, that is followed; where it is gone, the session is a new one there.
func TestOpenFollowsPastAnotherProject(t *testing.T) {
	l := newLab(t)
	l.init()
	by := conversation.Trigger{Agent: "claude", Session: "s"}
	opens := func(dir string) (root string, known bool) {
		t.Helper()
		c := Call{Event: Event{Dir: dir, Cwd: dir, By: by}, Env: l.env}
		c.Env.Dir = dir
		c.Load()
		must(t, c.Open(t.Context()))
		defer c.Project.Close()
		if c.sessionRecord() == nil {
			return c.Project.Root(), true
		}
		must(t, registerSession(t.Context(), c.Project, *c.sessionRecord()))
		return c.Project.Root(), false
	}
	if root, known := opens(l.root); root != l.root || known {
		t.Fatal(root, known)
	}
	old, moved := l.root, l.root+"-moved"
	must(t, os.Rename(old, moved))
	must(t, os.Mkdir(old, 0o755))
	must(t, os.WriteFile(filepath.Join(old, "f"), nil, 0o644))
	l.init()
	for range 2 {
		if root, known := opens(moved); root != moved || !known {
			t.Errorf("it is in %s, known %v", root, known)
		}
	}
	if root, known := opens(old); root != moved || !known {
		t.Errorf("with the agent in the other one it is in %s, known %v", root, known)
	}
	must(t, os.RemoveAll(moved))
	for i := range 2 { // what is there now has it as its own
		if root, known := opens(old); root != old || known != (i > 0) {
			t.Errorf("its own is gone: it is in %s, known %v", root, known)
		}
	}
}
