package hook

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/manifest"
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

// The directory that a client's process was started in decides, at each hook where the client says it; a project that was moved
// is followed all the same.
func TestOpenInAnotherDirectory(t *testing.T) {
	l := newLab(t)
	l.init()
	home, other := l.root, filepath.Join(filepath.Dir(l.root), "other")
	must(t, os.Mkdir(other, 0o755))
	l.root = other
	must(t, os.WriteFile(filepath.Join(other, "f"), nil, 0o644))
	l.init()
	by := conversation.Trigger{Agent: "claude", Session: "s"}
	opens := func(e Event, cwd string) string {
		t.Helper()
		e.By, e.Cwd = by, cwd
		c := Call{Event: e, Env: l.env}
		c.Env.Dir = cwd
		c.Load()
		if err := c.Open(t.Context()); err != nil {
			return err.Error()
		}
		defer c.Project.Close()
		if r := c.sessionRecord(); r != nil && e.Dir != "" {
			must(t, registerSession(t.Context(), c.Project, *r))
		}
		return c.Project.Root()
	}
	start := func(source, dir string) Event { return Event{Kind: manifest.SessionStart, Source: source, Dir: dir} }
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: in %s, want %s", what, got, want)
		}
	}
	check("begun", opens(start("startup", home), home), home)
	check("after a cd", opens(Event{Dir: other}, other), home)
	for _, source := range []string{"clear", "compact"} {
		check(source, opens(start(source, other), other), home)
	}
	for _, source := range []string{"resume", "fork", "startup", ""} {
		check(source, opens(start(source, other), other), other)
		check("after it, and a cd", opens(Event{Dir: home}, home), other)
		check("back", opens(start("resume", home), home), home)
	}
	// Two clients in one session, each in its project, and their hooks in turn.
	for range 2 {
		check("the client at home", opens(Event{Dir: home, Fixed: true}, other), home)
		check("the client in the other one", opens(Event{Dir: other, Fixed: true}, home), other)
	}
	// The project is moved under a client that names the old place, and another one is made there.
	moved := other + "-moved"
	must(t, os.Rename(other, moved))
	check("moved", opens(Event{Dir: other, Fixed: true}, moved), moved)
	must(t, os.Mkdir(other, 0o755))
	must(t, os.WriteFile(filepath.Join(other, "f"), nil, 0o644))
	l.init()
	check("the same client", opens(Event{Dir: other, Fixed: true}, moved), moved)
	check("a new process at the old place", opens(start("resume", other), other), other)
}
