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
