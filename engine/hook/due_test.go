package hook

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

func TestHeldBack(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(base, "p")
	for _, dir := range []string{root, filepath.Join(base, "home")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, size := range map[string]int{"large": 5000, "small": 3} {
		if err := os.WriteFile(filepath.Join(root, name), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := account.Env{Home: filepath.Join(base, "home"), Dir: root, Getenv: func(string) string { return "" }}
	p, _, err := stores.Init(context.Background(), stores.InitOptions{OpenOptions: project.OpenOptions{Env: env, Root: root}, NoSave: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()

	balanced := &settings.Settings{
		AntiSpam:     settings.AntiSpam{Enabled: true, MinInterval: 30 * time.Second},
		Significance: settings.Significance{Enabled: true, MinChangeSize: 50, CriticalFiles: []string{"package.json", "db/*.sql"}},
	}
	allCritical := &settings.Settings{AntiSpam: balanced.AntiSpam, Significance: settings.Significance{Enabled: true, MinChangeSize: 50, CriticalFiles: []string{"*"}}}
	off := &settings.Settings{Significance: settings.Significance{MinChangeSize: 50}, AntiSpam: settings.AntiSpam{MinInterval: time.Hour}}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ago := func(s int) time.Time { return now.Add(-time.Duration(s) * time.Second) }
	never := time.Time{}
	edit := func(chars int, name string) Event {
		return Event{Moment: settings.PreEdit, Files: []string{filepath.Join(root, name)}, Edit: &Edit{Chars: chars}}
	}
	whole := func(chars int, name string) Event {
		e := edit(chars, name)
		e.Edit.Whole = true
		return e
	}
	at := func(moment string) Event { return Event{Moment: moment} }
	for _, c := range []struct {
		name string
		e    Event
		set  *settings.Settings
		last time.Time
		want bool
	}{
		{"a session's start within the interval", at(settings.SessionStart), balanced, ago(1), false},
		{"a prompt within the interval", at(settings.Prompt), balanced, ago(1), false},
		{"a stop within the interval", at(settings.Stop), balanced, ago(1), false},
		{"a subagent's stop within the interval", at(settings.SubagentStop), balanced, ago(1), false},
		{"a session's end within the interval", at(settings.SessionEnd), balanced, ago(1), false},
		{"an edit", edit(50, "a.go"), balanced, ago(30), false},
		{"an edit within the interval", edit(5000, "a.go"), balanced, ago(29), true},
		{"the session's first edit", edit(50, "a.go"), balanced, never, false},
		{"a small edit", edit(49, "a.go"), balanced, never, true},
		{"a small edit of a critical file", edit(1, "sub/package.json"), balanced, never, false},
		{"a small edit of a critical file by path", edit(1, "db/b.sql"), balanced, never, false},
		{"a small edit of a file outside that path", edit(1, "x/db/b.sql"), balanced, never, true},
		{"a critical file within the interval", edit(1, "package.json"), balanced, ago(5), true},
		{"the clock set back", edit(50, "a.go"), balanced, ago(-1000), false},
		{"short new content of a new file", whole(3, "new"), balanced, never, true},
		{"short new content over a small file", whole(3, "small"), balanced, never, true},
		{"short new content over a large file", whole(3, "large"), balanced, never, false},
		{"an edit of unknown size", at(settings.PreEdit), balanced, never, false},
		{"an edit of no file", Event{Moment: settings.PreEdit, Edit: &Edit{}}, balanced, never, false},
		{"an edit of unknown size within the interval", at(settings.PreEdit), balanced, ago(3), true},
		{"a shell command", at(settings.PreShell), balanced, ago(31), false},
		{"a shell command within the interval", at(settings.PreShell), balanced, ago(3), true},
		{"a destructive one within the interval", Event{Moment: settings.PreShell, Destructive: true}, balanced, ago(1), false},
		{"after a shell command", at(settings.PostShell), balanced, ago(30), false},
		{"after a shell command within the interval", at(settings.PostShell), balanced, ago(29), false},
		{"every file critical", edit(1, "a.go"), allCritical, ago(30), false},
		{"all switched off", edit(1, "a.go"), off, ago(1), false},
	} {
		c.e.Time = now
		call := Call{Event: c.e, Project: p, session: account.SessionState{Last: c.last}, Matches: func(glob, file string) bool {
			ok, _ := path.Match(glob, file)
			base, _ := path.Match(glob, path.Base(file))
			return ok || base
		}}
		if got := call.heldBack(c.set); got != c.want {
			t.Errorf("%s: held back %v, want %v", c.name, got, c.want)
		}
	}
}

// TestUnreported: the transcript has a prompt that no hook told of.
func TestUnreported(t *testing.T) {
	const old = `{"type":"session_start","id":"s","cwd":"/p"}` + "\n" +
		`{"type":"message","id":"u1","timestamp":"2026-11-20T12:00:00Z","message":{"role":"user","content":[{"type":"text","text":"first"}]}}` + "\n" +
		`{"type":"message","id":"e1","parentId":"u1","timestamp":"2026-11-20T12:00:01Z","message":{"role":"assistant","content":[{"type":"text","text":"done"}]}}` + "\n"
	const prompt = `{"type":"message","id":"u2","parentId":"e1","timestamp":"2026-11-20T12:00:02Z","message":{"role":"user","content":[{"type":"text","text":"second"}]}}` + "\n"
	const call = `{"type":"message","id":"m2","parentId":"e1","timestamp":"2026-11-20T12:00:03Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"c2","name":"Edit","input":{}}]}}` + "\n"
	const third = `{"type":"message","id":"u3","parentId":"u2","timestamp":"2026-11-20T12:00:03Z","message":{"role":"user","content":[{"type":"text","text":"third"}]}}` + "\n"
	held := &account.HeldConversation{Seen: int64(len(old)), Prompt: "first"}
	now := time.Date(2026, 11, 20, 12, 0, 4, 0, time.UTC)
	for _, c := range []struct {
		name     string
		promptID string
		s        account.SessionState
		file     string
		want     bool
	}{
		{"a prompt came", "", account.SessionState{Held: held}, old + prompt + call, true},
		{"a call came", "", account.SessionState{Held: held}, old + call, false},
		{"nothing came", "", account.SessionState{Held: held}, old, false},
		{"its line is not whole yet", "", account.SessionState{Held: held}, old + prompt[:len(prompt)-1], false},
		{"the file is shorter than what is held", "", account.SessionState{Held: held}, old[:10], false},
		{"there is no file", "", account.SessionState{Held: held}, "", false},
		{"nothing is held", "", account.SessionState{}, old + prompt, false},
		{"its hook ran", "", account.SessionState{Held: held, Stopped: now.Add(-2 * time.Second), Prompted: now.Add(-time.Second)}, old + prompt, false},
		{"the hook of the turn before ran", "", account.SessionState{Held: held, Prompted: now.Add(-2 * time.Second), Stopped: now.Add(-time.Second)}, old + prompt, true},
		{"its hook ran, its turn was interrupted, and a prompt came", "", account.SessionState{Held: held, Prompted: now.Add(-time.Second)}, old + prompt + third, true},
		{"so, and the line of the first is held", "", account.SessionState{Held: held, Prompt: promptKey("", "first"), Prompted: now.Add(-time.Second)}, old + prompt, true},
		{"its hook ran, by its id", "p2", account.SessionState{Held: held, PromptID: "p2"}, old + prompt, false},
		{"the hook before ran, by its id, and its turn was interrupted", "p2", account.SessionState{Held: held, PromptID: "p1", Prompted: now.Add(-time.Second)}, old + prompt, true},
	} {
		file := filepath.Join(t.TempDir(), "s.jsonl")
		if c.file != "" {
			if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		call := Call{Event: Event{Kind: manifest.PreTool, Time: now, By: conversation.Trigger{Agent: "droid", Session: "s", PromptID: c.promptID, Transcript: file}}, session: c.s}
		if got := call.unreported(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
