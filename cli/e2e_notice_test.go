package cli_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// noticed is how every notice begins.
const noticed = "files of this project were changed outside this conversation"

// told counts the notices in a request.
func (r request) told() int { return strings.Count(r.raw, noticed) }

// told is how often each request of the turn says that something was taken back.
func (b *bench) told(prompt string, ask func()) (times []int) {
	b.t.Helper()
	n := b.model.count()
	ask()
	for _, r := range b.model.since(n) {
		times = append(times, r.told())
	}
	if len(times) == 0 {
		b.t.Fatalf("no request for %q", prompt)
	}
	return times
}

func all(times []int, want int) bool {
	return !slices.ContainsFunc(times, func(n int) bool { return n != want })
}

// noticeClaude: two sessions are told of a restore of the files, each once, with the next prompt; what a
// resumed conversation says again is no second notice.
func noticeClaude(t *testing.T, rewind string, client []string) {
	b := newBench(t, rewind, client)
	const a, other = "5db0d5f6-0000-4000-8000-00000000e2a1", "5db0d5f6-0000-4000-8000-00000000e2b1"
	b.register()
	b.run(rewind, "init", "-q")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("status: %s", b.run(rewind, "status"))
		}
	})
	in := func(name string) string { return filepath.Join(b.dir, name) }
	asks := func(flag, session, prompt string) []int {
		t.Helper()
		return b.told(prompt, func() { b.ask(flag, session, prompt) })
	}
	asks("--session-id", a, "first "+tool("Write", map[string]any{"file_path": in("a.txt"), "content": "one\n"}))
	asks("--session-id", other, "look "+tool("Read", map[string]any{"file_path": in("a.txt")}))
	if times := asks("--resume", a, "second "+tool("Read", map[string]any{"file_path": in("a.txt")})+tool("Edit", map[string]any{"file_path": in("a.txt"), "old_string": "one", "new_string": "two"})); !all(times, 0) {
		t.Fatalf("before any restore: %v", times)
	}
	b.restore("restore", "prompt~1", "--session", a, "--code-only")
	if got := b.tree()["/a.txt"]; !strings.HasSuffix(got, "one\n") {
		t.Fatalf("restored: %q\n%s", got, b.run(rewind, "list", "--all"))
	}
	n := b.model.count()
	if times := asks("--resume", a, "third "+tool("Read", map[string]any{"file_path": in("a.txt")})); !all(times, 1) || len(times) < 2 {
		t.Errorf("A is told %v times in the requests of its next turn", times)
	}
	text := b.noticeIn(b.model.since(n)[0].raw)
	if !strings.Contains(text, `before your turn on the prompt "second `) || !strings.Contains(text, `changed "a.txt".`) {
		t.Errorf("A is told %q", text)
	}
	// Newer clients keep it as a part of what was said, older ones do not say it again.
	again := asks("--resume", a, "fourth")[0]
	if times := asks("--resume", a, "fourth, again"); again > 1 || !all(times, again) {
		t.Errorf("A is told again: %d, then %v", again, times)
	}
	if times := asks("--resume", other, "what now"); !all(times, 1) {
		t.Errorf("B is told %v times", times)
	}
	if times := asks("--resume", other, "and now"); !all(times, again) {
		t.Errorf("B is told again: %v", times)
	}
	// Taken back before it was told: nothing. A new session: nothing. The fork of both halves: nothing.
	if err := os.WriteFile(in("a.txt"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.restore("undo", "--code-only")
	b.restore("undo-restore")
	if times := asks("--resume", other, "and then"); !all(times, again) {
		t.Errorf("B is told what was taken back: %v", times)
	}
	if times := asks("--session-id", "5db0d5f6-0000-4000-8000-00000000e2c1", "hello"); !all(times, 0) {
		t.Errorf("a new session is told: %v", times)
	}
	asks("--resume", a, "fifth "+tool("Bash", map[string]any{"command": "echo three > a.txt", "description": "x"}))
	done := b.restore("restore", "prompt~1", "--session", a)
	if done.Transcript == nil {
		t.Fatal("no fork")
	}
	if times := asks("--resume", done.Transcript.SessionID, "in the fork"); !all(times, again) { // that of before
		t.Errorf("the fork is told: %v", times)
	}
	if times := asks("--resume", a, "in the old one"); !all(times, again+1) {
		t.Errorf("the conversation that goes on is told %v times", times)
	}
	for _, h := range b.model.helpers {
		if strings.Contains(h, noticed) {
			t.Errorf("a request for something else has it: %.2000s", h)
		}
	}
	b.run(rewind, "verify")
}

// noticeIn is the notice in a request, as the model reads it.
func (b *bench) noticeIn(raw string) string {
	b.t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(raw), &doc); err != nil {
		b.t.Fatal(err)
	}
	found := ""
	var look func(any)
	look = func(v any) {
		switch v := v.(type) {
		case string:
			if strings.Contains(v, noticed) {
				found = v
			}
		case []any:
			for _, e := range v {
				look(e)
			}
		case map[string]any:
			for _, e := range v {
				look(e)
			}
		}
	}
	look(doc)
	return found
}

// noticeDroid: droid exec has no hook for its prompt, and is told at the session's start.
func noticeDroid(t *testing.T, rewind, client string) {
	b := newBench(t, rewind, []string{client})
	b.droid()
	b.run(rewind, "init", "-q")
	ask := func(words ...string) []request {
		t.Helper()
		n := b.model.count()
		b.run(append([]string{client, "exec", "--skip-permissions-unsafe", "-m", "custom:Fake-0"}, words...)...)
		return b.model.since(n)
	}
	ask("make it " + tool("Create", map[string]any{"file_path": filepath.Join(b.dir, "a.txt"), "content": "one\n"}))
	files, err := filepath.Glob(filepath.Join(b.home, ".factory", "sessions", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	session := strings.TrimSuffix(filepath.Base(files[0]), ".jsonl")
	b.restore("undo", "--code-only")
	if got := b.tree(); len(got) != 0 {
		t.Fatalf("undone: %v", got)
	}
	// Each of Droid's own forks has the conversation of the session that was to be told, and no more.
	before := b.model.count()
	for _, prompt := range []string{"go on", "and on"} {
		for _, r := range ask("--fork", session, prompt) {
			if r.told() != 1 {
				t.Errorf("%s: told %d times", prompt, r.told())
			}
		}
	}
	if said := b.model.since(before); len(said) != 2 || !strings.Contains(b.noticeIn(said[0].raw), `deleted "a.txt".`) {
		t.Errorf("%d requests", len(said))
	}
}

// noticeNPM: a client is told of a restore of the files in the turn after it, and in no other.
func noticeNPM(t *testing.T, rewind, clients string, c *npmClient) {
	if !c.informed {
		t.Skip("it has no way to tell its model")
	}
	b := c.bench(t, rewind, clients)
	b.run(b.rewind, "init", "-q")
	asks := func(prompt string) (times []int) {
		t.Helper()
		n := b.model.count()
		c.ask(b, b.session, prompt)
		for _, r := range b.model.since(n) {
			if strings.Contains(r.raw, strings.Fields(prompt)[0]) {
				times = append(times, r.told())
			}
		}
		return times
	}
	asks("alpha " + c.write(b, "one\n"))
	ids := slices.Collect(maps.Keys(c.sessions(b)))
	if len(ids) != 1 {
		t.Fatalf("sessions: %v", ids)
	}
	b.session = ids[0]
	if times := asks("beta " + c.run(b, "echo two > a.txt")); slices.Max(times) != 0 {
		t.Fatalf("before any restore: %v", times)
	}
	b.restore("restore", "prompt~1", "--session", b.session, "--code-only")
	n := b.model.count()
	if times := asks("gamma " + c.run(b, "cat a.txt")); slices.Min(times) != 1 || slices.Max(times) != 1 {
		t.Errorf("told in the next turn: %v", times)
	} else {
		t.Log(b.noticeIn(b.model.since(n)[0].raw))
	}
	if times := asks("delta"); slices.Max(times) > 1 {
		t.Errorf("told again: %v", times)
	}
	b.run(b.rewind, "verify")
}
