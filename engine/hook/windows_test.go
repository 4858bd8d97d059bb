//go:build unix

package hook_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// shellCall lets an agent report both ends of a command that writes a file.
func (l *lab) shellCall(call, command, file string, run func()) {
	l.T.Helper()
	e := hook.Event{Time: time.Now(), Kind: manifest.PreTool, Class: manifest.WindowShell, Edge: manifest.WindowOpen, Writes: []string{filepath.Join(l.Root, file)},
		By: conversation.Trigger{Agent: "claude", Session: "s", Tool: "Bash", ToolUseID: call, Command: command}}
	l.Report(e)
	run()
	e.Time, e.Kind, e.Edge = time.Now(), manifest.PostTool, manifest.WindowClose
	l.Report(e)
}

// callsIn are the calls that a checkpoint's windows name, each once, in order.
func callsIn(t *testing.T, data string) string {
	t.Helper()
	windows, err := manifest.ParseWindows(data)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, w := range windows {
		if w.Edge == manifest.WindowOpen {
			calls = append(calls, w.Call)
		}
	}
	return strings.Join(calls, " ")
}

// What gc takes away hands its windows and change times to the next checkpoint: at once, in the log that is written anew,
// and in a database that is made from that.
func TestWindowsOutliveTheirCheckpoint(t *testing.T) {
	l := newLab(t)
	l.Write("a", "0")
	l.Init()
	for i := range 4 {
		name := fmt.Sprint("f", i)
		l.shellCall(fmt.Sprint("t", i), "make "+name, name, func() { l.Write(name, "x") })
		l.Save()
	}
	check := func(when string) {
		t.Helper()
		l.Do(func(ctx context.Context, p *project.Project) error {
			list, err := p.List(ctx, project.ListOptions{})
			if err != nil {
				return err
			}
			if len(list) != 2 {
				t.Fatalf("%s: %d checkpoints", when, len(list))
			}
			changed, err := manifest.ParseChanged(list[1].Changed)
			if got := callsIn(t, list[1].Windows); got != "t0 t1 t2" || err != nil || len(changed) < 3 {
				t.Errorf("%s: windows of %q, %d changed, %v", when, got, len(changed), err)
			}
			return nil
		})
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 2})
		return err
	})
	check("after a gc")
	l.Do(func(ctx context.Context, p *project.Project) error {
		if err := manifest.Rebuild(ctx, p.DatabaseOptions(), p.Log()); err != nil {
			return err
		}
		for r, err := range p.Log().Records(1) {
			if err != nil {
				return err
			}
			if c := r.Record.Checkpoint; c != nil && strings.Contains(callsIn(t, c.Windows), "t0 t1 t2") {
				return nil
			}
		}
		t.Error("the log does not say it by itself")
		return nil
	})
	check("in a new database")
}

// forget leaves no byte of a path or a text in windows, change times and summaries, taken along or not.
func TestForgetWindows(t *testing.T) {
	const hidden = "hidden-4f1c"
	for _, how := range []string{"path", "text"} {
		t.Run(how, func(t *testing.T) {
			l := newLab(t)
			l.Write("a", "0")
			l.Init()
			file := "dir/" + hidden + ".txt"
			if how == "text" {
				file = "dir/other.txt"
			}
			l.shellCall("t1", "echo "+hidden+" > "+file, file, func() { l.Write(file, "x") })
			l.Save()
			l.shellCall("t2", "touch a; rm "+file+" # "+hidden, file, func() { l.Remove(file) })
			l.Do(func(ctx context.Context, p *project.Project) error {
				var done *maintain.Forgotten
				var err error
				if how == "path" {
					done, err = maintain.Forget(ctx, p, []string{file}, false)
				} else {
					done, err = maintain.ForgetText(ctx, p, []string{hidden}, false, false)
				}
				if err != nil || !done.Found() || done.Pending != "" {
					t.Errorf("%+v, %v", done, err)
				}
				if how == "path" {
					for _, w := range window.Pending(p) {
						if strings.Contains(w.Summary, hidden) || len(w.Files) > 0 {
							t.Errorf("left for the next checkpoint: %+v", w)
						}
					}
				}
				for _, w := range window.Pending(p) {
					if strings.Contains(fmt.Sprint(w), hidden) {
						t.Errorf("left for the next checkpoint: %+v", w)
					}
				}
				return nil
			})
			l.Nowhere(hidden, "after forget of a "+how)
			l.Save()
			l.Do(func(ctx context.Context, p *project.Project) error {
				list, err := p.List(ctx, project.ListOptions{Limit: 2})
				if err != nil || len(list) != 2 {
					return fmt.Errorf("%d checkpoints, %v", len(list), err)
				}
				if a, b := callsIn(t, list[1].Windows), callsIn(t, list[0].Windows); a != "t1" || b != "t2" {
					t.Errorf("the windows are of %q and %q", a, b)
				}
				return nil
			})
		})
	}
}

// A safety checkpoint takes windows along, too; and what cannot be read of a field harms nothing else.
func TestWindowsOfARestoreAndDamage(t *testing.T) {
	l := newLab(t)
	l.Write("a", "0")
	l.Init()
	l.shellCall("t1", "make", "a", func() { l.Write("a", "1") })
	l.Do(func(ctx context.Context, p *project.Project) error {
		list, err := p.List(ctx, project.ListOptions{})
		if err != nil {
			return err
		}
		if _, err := restore.Restore(ctx, p, restore.Options{Checkpoint: list[0].Checkpoint}); err != nil {
			return err
		}
		c, err := p.NewestCheckpoint()
		if err != nil {
			return err
		}
		if got := callsIn(t, c.Windows); c.Kind != manifest.Safety || got != "t1" {
			t.Errorf("%s: windows of %q", c.Kind, got)
		}
		odd := *c
		odd.ID, odd.Windows, odd.Changed = manifest.CheckpointID{9}, "\x01\xff", "\x07"
		if _, err := commit.Commit(ctx, p, manifest.Record{Checkpoint: &odd}); err != nil {
			return err
		}
		v, err := maintain.Verify(ctx, p, false)
		if err != nil || !v.OK() { // a newer program's form is no damage
			t.Errorf("%+v, %v", v, err)
		}
		all, err := p.List(ctx, project.ListOptions{All: true})
		if err != nil || len(all) != 3 {
			t.Errorf("%d checkpoints, %v", len(all), err)
		}
		return nil
	})
	l.Write("a", "2")
	l.Save()
}
