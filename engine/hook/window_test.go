package hook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// event runs a hook as a process of its own does.
func (l *lab) event(e Event) error {
	l.t.Helper()
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.By.Agent, e.By.Session = "claude", "s"
	e.Dir = l.root
	c := &Call{Event: e, Env: l.env, Detach: func(WorkOptions) error { l.detached++; return nil }, Matches: func(string, string) bool { return false }}
	c.Load()
	if err := c.Open(context.Background()); err != nil {
		return err
	}
	defer c.Project.Close()
	return c.Run(context.Background())
}

func tool(edge manifest.WindowEdge, call string, writes ...string) Event {
	e := Event{Kind: manifest.PreTool, Moment: settings.PreEdit, Class: manifest.WindowEdit, Edge: edge, Writes: writes,
		By: conversation.Trigger{Tool: "Edit", ToolUseID: call, Files: strings.Join(writes, "\n")}}
	if edge == manifest.WindowClose {
		e.Kind, e.Moment = manifest.PostTool, ""
	}
	return e
}

// said is what the newest checkpoint holds of windows, in short.
func said(t *testing.T, c manifest.Checkpoint) string {
	t.Helper()
	windows, err := manifest.ParseWindows(c.Windows)
	must(t, err)
	return inShort(windows)
}

func inShort(windows []manifest.Window) string {
	var out []string
	for _, w := range windows {
		out = append(out, strings.TrimSpace(fmt.Sprint(w.Edge, " ", w.Call, " ", strings.Join(w.Files, ","))))
	}
	return strings.Join(out, "; ")
}

// Every event leaves its line, whether or not a checkpoint is taken; the next checkpoint, also a person's, takes them along, once.
func TestWindowsGoWithTheNextCheckpoint(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.init()
	abs := func(name string) string { return filepath.Join(l.root, name) }
	must(t, l.event(Event{Kind: manifest.Prompt, Moment: settings.Prompt, Edge: manifest.WindowPrompt, By: conversation.Trigger{Prompt: "go"}}))
	if got := said(t, l.newest(1)[0].Checkpoint); got != "3" {
		t.Errorf("the prompt's checkpoint says %q", got)
	}
	must(t, l.event(tool(manifest.WindowOpen, "t1", abs("a"), abs("new/b"), "/elsewhere")))
	l.write("a", "2")
	must(t, l.event(tool(manifest.WindowClose, "t1", abs("a"))))
	must(t, l.event(tool(manifest.WindowOpen, "t2", abs("a")))) // debounced
	l.do(func(_ context.Context, p *project.Project) error {
		if got := inShort(window.Pending(p)); got != "1 t1 a,new/b,/elsewhere; 2 t1 a; 1 t2 a" {
			t.Errorf("left for the next: %q", got)
		}
		return nil
	})
	l.person()
	c := l.newest(1)[0].Checkpoint
	if got := said(t, c); got != "1 t1 a,new/b,/elsewhere; 2 t1 a; 1 t2 a" {
		t.Errorf("the person's checkpoint says %q", got)
	}
	changed, err := manifest.ParseChanged(c.Changed)
	must(t, err)
	info, err := os.Lstat(abs("a"))
	must(t, err)
	if ns, _ := account.ChangeTime(info); len(changed) != 1 || changed[0].Path != "a" || changed[0].At.UnixNano() != ns {
		t.Errorf("changed: %+v, the file %d", changed, ns)
	}
	l.write("c", "")
	l.person()
	if got := l.newest(1)[0]; got.Windows != "" {
		t.Errorf("the next one says %q", said(t, got.Checkpoint))
	}
}

// What a checkpoint says of when paths were written: of files, links, modes and directories that are new, changed or gone.
func TestChangedTimes(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"same", "edited", "mode", "gone", "dir/gone", "away/x/y"} {
		l.write(name, name)
	}
	l.init()
	time.Sleep(tick)
	l.write("edited", "now")
	must(t, os.Chtimes(filepath.Join(l.root, "edited"), time.Unix(1, 0), time.Unix(1, 0))) // mtime lies, ctime does not
	must(t, os.Chmod(filepath.Join(l.root, "mode"), 0o600))
	l.remove("gone")
	l.remove("dir/gone")
	l.remove("away")
	l.write("new/file", "")
	must(t, os.Symlink("same", filepath.Join(l.root, "new/link")))
	at := func(path string) time.Time {
		info, err := os.Lstat(filepath.Join(l.root, path))
		must(t, err)
		ns, _ := account.ChangeTime(info)
		return time.Unix(0, ns).UTC()
	}
	root := at("")
	want := map[string]time.Time{"edited": at("edited"), "mode": at("mode"), "gone": root, "dir/gone": at("dir"), "away": root, "away/x": root, "away/x/y": root,
		"new": at("new"), "new/file": at("new/file"), "new/link": at("new/link")}
	check := func(what string) {
		t.Helper()
		changed, err := manifest.ParseChanged(l.newest(1)[0].Changed)
		must(t, err)
		got := map[string]time.Time{}
		for _, c := range changed {
			got[c.Path] = c.At
		}
		for path, when := range want {
			if !got[path].Equal(when) {
				t.Errorf("%s: %s: got %v, want %v", what, path, got[path], when)
			}
			delete(got, path)
		}
		if len(got) > 0 {
			t.Errorf("%s: also %v", what, got)
		}
	}
	l.person()
	check("beside a stat cache")
	// Without one everything is read, and all the same these alone are said to have changed.
	l.write("edited", "again")
	want = map[string]time.Time{"edited": at("edited")}
	l.do(func(_ context.Context, p *project.Project) error { return os.Remove(p.StatCacheFile()) })
	l.person()
	check("without a stat cache")
}

func TestWindowsOfManyHooksAtOnce(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.init()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			e := tool(manifest.WindowOpen, fmt.Sprint("t", i), filepath.Join(l.root, "a"))
			e.Moment = "" // a tier without it
			if err := l.event(e); err != nil {
				t.Error(err)
			}
		})
	}
	l.write("a", "2")
	l.person()
	all.Wait()
	l.write("a", "3")
	l.person()
	found := map[string]bool{}
	for _, c := range l.newest(2) {
		windows, err := manifest.ParseWindows(c.Windows)
		must(t, err)
		for _, w := range windows {
			found[w.Call] = true
		}
	}
	if len(found) != 16 {
		t.Errorf("%d of 16 windows came through", len(found))
	}
}

// Where nothing can be written beside the store's objects, hooks go on.
func TestWindowsCannotBeLeft(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.init()
	l.do(func(_ context.Context, p *project.Project) error {
		return os.Mkdir(filepath.Join(p.StoreDir(), account.TmpName, "windows"), 0o700)
	})
	l.write("a", "2")
	must(t, l.event(Event{Kind: manifest.Prompt, Moment: settings.Prompt, Edge: manifest.WindowPrompt, By: conversation.Trigger{Prompt: "go"}}))
	if c := l.newest(1)[0]; c.Kind != manifest.Prompt || c.Windows != "" {
		t.Errorf("%+v", c)
	}
}
