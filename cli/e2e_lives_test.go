package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// register makes the client call our hooks.
func (b *bench) register() {
	b.t.Helper()
	hook := []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "'" + b.rewind + "' hook claude", "timeout": 10}}}}
	hooks := map[string]any{}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"} {
		hooks[event] = hook
	}
	settings, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.home, ".claude", "settings.json"), settings, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// asked is ask, for what the client sends before the prompt.
func (b *bench) asked(words ...string) []any {
	b.t.Helper()
	n := b.model.count()
	b.run(append(append(slices.Clone(b.client), "-p", "--dangerously-skip-permissions"), words...)...)
	said := b.model.since(n)
	if len(said) == 0 || len(said[0].messages) == 0 {
		b.t.Fatalf("no request for %q", words)
	}
	return said[0].messages[:len(said[0].messages)-1]
}

// newest is the session that the newest checkpoint of a prompt is of.
func (b *bench) newest() string {
	b.t.Helper()
	for _, c := range b.list() {
		if c.Kind == "prompt" {
			return c.SessionID
		}
	}
	b.t.Fatal("no prompt has a checkpoint")
	return ""
}

type e2eCheckpoint struct {
	ID, Kind, Tool, Prompt string
	SessionID              string `json:"session_id"`
}

func (b *bench) list() []e2eCheckpoint {
	b.t.Helper()
	var list struct{ Checkpoints []e2eCheckpoint }
	if err := json.Unmarshal([]byte(b.run(b.rewind, "list", "--json", "--limit", "0")), &list); err != nil {
		b.t.Fatal(err)
	}
	return list.Checkpoints
}

// liveClaude plays what people do with sessions. No command names one: each time
// it must be clear which is meant.
func liveClaude(t *testing.T, rewind string, client []string) {
	b := newBench(t, rewind, client)
	b.session = "5db0d5f6-0000-4000-8000-00000000e2e2"
	b.register()
	b.run(rewind, "init", "-q")
	write := func(text string) string {
		return tool("Bash", map[string]any{"command": "echo " + text + " >> a.txt", "description": "a shell command"})
	}
	b.turn("first " + write("one"))
	b.turn("second " + write("two"))
	b.turn("third " + write("three"))

	// Resumed twice: the stubs of 2.0.30 are no sessions. The fork is opened, but
	// nothing is said in it before it is left again.
	third := b.firstRequest[2].messages
	done := b.restore("restore", "prompt~1")
	if got := b.tree(); !maps.Equal(got, b.beforePrompt[2]) {
		t.Errorf("before the third prompt the tree was %v, and is restored as %v", b.beforePrompt[2], got)
	}
	fork := done.Transcript.SessionID
	if got := b.asked("--resume", fork, "third again "+write("drei")); !reflect.DeepEqual(got, third[:len(third)-1]) {
		t.Errorf("the client had sent %v, and sends in the fork %v", third[:len(third)-1], got)
	}
	in := b.newest()
	if title := b.run(rewind, "sessions", "--json"); !strings.Contains(title, "[Fork] before third ") {
		t.Errorf("no fork is named by its prompt: %s", title)
	}
	// The fork is what goes on now.
	var back struct{ Prompts []string }
	if err := json.Unmarshal([]byte(b.run(rewind, "back", "--json", "--dry-run")), &back); err != nil || len(back.Prompts) != 1 || !strings.HasPrefix(back.Prompts[0], "third again") {
		t.Errorf("back is about %v (%v), the fork is %s, its session %s", back, err, fork, in)
	}

	// The client forks by itself: the new session's past is the old one's.
	b.asked("--resume", in, "--fork-session", "fourth "+write("four"))
	own := b.newest()
	if own == in {
		t.Fatal("the client made no fork")
	}
	b.restore("restore", "prompt~4", "--code-only", "--dry-run")
	b.restore("restore", "prompt~3", "--code-only")
	if got := b.tree(); !maps.Equal(got, b.beforePrompt[1]) {
		t.Errorf("before the second prompt the tree was %v, and is restored as %v", b.beforePrompt[1], got)
	}
	b.restore("undo-restore")

	// The project moves, and so does the place of its sessions.
	moved := b.dir + "-moved"
	if err := os.Rename(b.dir, moved); err != nil {
		t.Fatal(err)
	}
	b.dir = moved
	done = b.restore("back")
	if done.Transcript == nil || !strings.Contains(done.Transcript.Resume, "cd "+moved+" && ") {
		t.Fatalf("after the move: %+v", done.Transcript)
	}
	if got := fmt.Sprint(b.resumed(done.Transcript.SessionID)); strings.Contains(got, "fourth") || !strings.Contains(got, "third again") {
		t.Errorf("the fork after the move has %s", got)
	}

	// The transcripts are deleted: what is held of them answers.
	if err := os.RemoveAll(filepath.Join(b.home, ".claude", "projects")); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b.run(rewind, "back", "--json", "--dry-run")), &back); err != nil || len(back.Prompts) != 1 || back.Prompts[0] != "go on from here" {
		t.Errorf("without transcripts back is about %v (%v)", back, err)
	}
	b.run(rewind, "verify")
}

// droidPrompts: two runs of Droid, the second a fork. Each checkpoint has the
// prompt of its own, and no command needs a session's name.
func (b *bench) droidPrompts() {
	b.t.Helper()
	list := b.list()
	texts := map[string]map[string]bool{}
	for _, c := range list {
		if texts[c.SessionID] == nil {
			texts[c.SessionID] = map[string]bool{}
		}
		if c.Kind != "session-start" && c.SessionID != "" {
			text, _, _ := strings.Cut(c.Prompt, " ")
			texts[c.SessionID][text] = true
		}
	}
	var said []string
	for _, t := range texts {
		said = append(said, fmt.Sprint(slices.Sorted(maps.Keys(t))))
	}
	slices.Sort(said)
	if got := strings.Join(said, " "); !strings.HasSuffix(got, "[change] [make]") {
		b.t.Errorf("prompts of the sessions: %s in %+v", got, list)
	}
	var back struct{ Prompts []string }
	if err := json.Unmarshal([]byte(b.run(b.rewind, "back", "--json", "--dry-run")), &back); err != nil || len(back.Prompts) != 1 || !strings.HasPrefix(back.Prompts[0], "change it") {
		b.t.Errorf("back is about %v (%v)", back, err)
	}
	changed := b.tree()
	b.restore("restore", "prompt~1", "--code-only")
	if got := b.tree(); maps.Equal(got, changed) {
		b.t.Errorf("before the last prompt the tree is %v", got)
	}
	b.restore("restore", "prompt~2", "--code-only")
	if got := b.tree(); got["/a.txt"] != "" {
		b.t.Errorf("before the first prompt the tree is %v", got)
	}
}
