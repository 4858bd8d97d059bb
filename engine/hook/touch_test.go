package hook

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// edits is an agent that edits: each call brings the hooks before and after it.
type edits struct {
	*lab
	calls int
}

// hook runs a hook of an edit tool that declares files, below the root or absolute.
func (l *edits) hook(kind manifest.CheckpointKind, call string, files ...string) {
	l.t.Helper()
	for i, f := range files {
		if !filepath.IsAbs(f) {
			files[i] = filepath.Join(l.root, f)
		}
	}
	e := Event{
		Time: time.Now(), Kind: kind, Edited: files,
		By: conversation.Trigger{Agent: "claude", Session: "s", PromptID: "p", Tool: "Edit", ToolUseID: call},
	}
	if kind == manifest.PreTool {
		e.Moment, e.Files, e.Edit = settings.PreEdit, files, &Edit{Chars: 1}
	}
	l.do(func(ctx context.Context, p *project.Project) error {
		c := Call{Event: e, Env: l.env, Project: p, Detach: func(WorkOptions) error { return nil }, Matches: func(string, string) bool { return false }}
		c.Load()
		return c.Run(ctx)
	})
}

func (l *edits) edit(do func(), files ...string) {
	l.t.Helper()
	l.calls++
	call := "call" + string(rune('a'+l.calls))
	l.hook(manifest.PreTool, call, slices.Clone(files)...)
	do()
	l.hook(manifest.PostTool, call, slices.Clone(files)...)
}

// touches are told as "before path content", "-" for nothing.
func (l *edits) touches() (out []string) {
	l.t.Helper()
	l.do(func(ctx context.Context, p *project.Project) error {
		return p.Query(ctx, func(db *manifest.DB) error {
			for t, err := range db.Touches(manifest.TouchQuery{}) {
				if err != nil {
					return err
				}
				when, text := "before ", "-"
				if t.After {
					when = "after "
				}
				if t.Entry != nil {
					data, err := p.ReadObject(t.Entry.ID)
					if err != nil {
						return err
					}
					text = string(data)
				}
				if t.Session != "s" || t.Agent != "claude" || t.PromptID != "p" || t.Tool != "Edit" || t.Call == "" || t.Time.IsZero() || !l.writtenJust(t) {
					l.t.Errorf("touch without its call: %+v", t)
				}
				out = append(out, when+t.Path+" "+text)
			}
			return nil
		})
	})
	return out
}

// writtenJust reports whether a touch has a change time that may be: all is written just before it is touched.
func (l *edits) writtenJust(t manifest.Touch) bool {
	if runtime.GOOS == "windows" {
		return t.Changed.IsZero()
	}
	d := t.Time.Sub(t.Changed)
	return d > -time.Second && d < time.Minute
}

func (l *edits) is(what string, want ...string) {
	l.t.Helper()
	if got := l.touches(); !slices.Equal(got, want) {
		l.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func newEdits(t *testing.T) *edits {
	l := &edits{lab: newLab(t)}
	l.write("a", "one")
	l.write(".gitignore", "*.log\n")
	l.init()
	return l
}

func TestTouches(t *testing.T) {
	l := newEdits(t)
	l.edit(func() { l.write("a", "two") }, "a")
	l.is("an edit of what the newest checkpoint has", "after a two")
	l.edit(func() { l.write("a", "three") }, "a")
	l.is("and another", "after a two", "before a two", "after a three")
	l.person()
	l.edit(func() {}, "a")
	l.is("an edit that changes nothing", "after a two", "before a two", "after a three")
	l.write("a", "the person's")
	l.edit(func() { l.remove("a") }, "a")
	l.edit(func() { l.write("d/new", "x") }, "d/new")
	l.is("what changed before the edit; deleted, new",
		"after a two", "before a two", "after a three", "before a the person's", "after a -", "after d/new x")
	l.edit(func() { l.write("a", "again") }, "a")
	l.is("made again: that it was gone before is known, too",
		"after a two", "before a two", "after a three", "before a the person's", "after a -", "after d/new x", "before a -", "after a again")
}

func TestTouchesOfTwoHooks(t *testing.T) {
	l := newEdits(t)
	l.write("a", "two")
	l.hook(manifest.PreTool, "call", "a")
	l.hook(manifest.PreTool, "call", "a")
	l.hook(manifest.PostTool, "call", "a", "a")
	l.hook(manifest.PostTool, "call", "a")
	l.is("each hook is registered twice", "before a two", "after a two")
}

// What no checkpoint would capture, what is no file of the project, what is too large: no touch.
func TestTouchesOnlyWhatIsCaptured(t *testing.T) {
	l := newEdits(t)
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("secret"), 0o644))
	must(t, os.Symlink(outside, filepath.Join(l.root, "link")))
	must(t, os.Symlink(filepath.Dir(outside), filepath.Join(l.root, "out")))
	must(t, os.Mkdir(filepath.Join(l.root, "dir"), 0o755))
	must(t, os.Mkdir(filepath.Join(l.root, ".git"), 0o755))
	l.write(".git/config", "x")
	l.write("x.log", "ignored")
	must(t, os.Truncate(filepath.Join(l.root, ".gitignore"), 6))
	f, err := os.Create(filepath.Join(l.root, "huge"))
	must(t, err)
	must(t, f.Truncate(1<<40))
	must(t, f.Close())
	l.edit(func() {}, outside, "link", "out/outside", "dir", "dir/none", "x.log", "huge", ".git/config", ".agent/rewind/config.json",
		"../project/../../up", "a/b", "", "\x00", strings.Repeat("x", 5000), "https://example.com/x", ".")
	l.is("nothing")
	must(t, os.Symlink("dir", filepath.Join(l.root, "way")))
	l.edit(func() { l.write("dir/f", "by a link") }, "way/f")
	l.is("a directory's link within the root", "after dir/f by a link")
}

// A checkpoint before the edit says it all.
func TestTouchesBesideACheckpoint(t *testing.T) {
	l := newEdits(t)
	l.write("a", "two")
	e := Event{
		Time: time.Now(), Kind: manifest.PreTool, Moment: settings.PreEdit, Edited: []string{filepath.Join(l.root, "a")},
		By: conversation.Trigger{Agent: "claude", Session: "s", PromptID: "p", Tool: "Edit", ToolUseID: "call"},
	}
	l.do(func(ctx context.Context, p *project.Project) error {
		c := Call{Event: e, Env: l.env, Project: p, Detach: func(WorkOptions) error { return nil }}
		return c.Run(ctx)
	})
	if list := l.newest(1); list[0].Kind != manifest.PreTool {
		t.Errorf("the newest is %s", list[0].Kind)
	}
	l.is("no touch beside it")
	l.edit(func() { l.write("a", "three") }, "a")
	l.write("a", "two")
	e.By.ToolUseID = "another"
	l.do(func(ctx context.Context, p *project.Project) error {
		c := Call{Event: e, Env: l.env, Project: p, Detach: func(WorkOptions) error { return nil }}
		return c.Run(ctx)
	})
	l.is("all is as in the newest, and there is none", "after a three", "before a two")
}

// Where a file cannot be looked at before an edit, that is left for whoever asks who wrote it.
func TestTouchesThatCannotBe(t *testing.T) {
	l := newEdits(t)
	l.write("a", "two")
	l.do(func(ctx context.Context, p *project.Project) error {
		lock, err := p.Lock(ctx, account.TreeLockName)
		must(t, err)
		l.hook(manifest.PreTool, "call", "a", "b")
		lock.Release()
		l.hook(manifest.PreTool, "later", "a")
		var unseen []string
		for _, w := range window.Pending(p) {
			if w.Edge == manifest.WindowUnseen {
				unseen = append(unseen, w.Call+" "+strings.Join(w.Files, " "))
			}
		}
		if want := []string{"call a b"}; !slices.Equal(unseen, want) {
			t.Errorf("%q", unseen)
		}
		return nil
	})
	l.is("only the one after it", "before a two")
}
