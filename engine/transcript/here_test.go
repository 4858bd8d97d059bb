package transcript

import (
	"path/filepath"
	"testing"
)

// TestHere: what an agent kept below another home is looked for below this one; its own files, and files elsewhere, stay where they are.
func TestHere(t *testing.T) {
	home := Home{Dir: filepath.FromSlash("/home/me")}
	for _, c := range []struct {
		agent      Agent
		file, want string
	}{
		{Claude, "/root/.claude/projects/-p/a.jsonl", "/home/me/.claude/projects/-p/a.jsonl"},
		{Claude, "/home/me/.claude/projects/-p/a.jsonl", "/home/me/.claude/projects/-p/a.jsonl"},
		{Claude, "/elsewhere/a.jsonl", "/elsewhere/a.jsonl"},
		{Pi, "/Users/you/.pi/agent/sessions/--p--/1_a.jsonl", "/home/me/.pi/agent/sessions/--p--/1_a.jsonl"},
		{Pi, "/home/me/.pi/agent/sessions/--p--/1_a.jsonl", "/home/me/.pi/agent/sessions/--p--/1_a.jsonl"},
		{Codex, "/root/.codex/sessions/2026/01/02/a.jsonl", "/home/me/.codex/sessions/2026/01/02/a.jsonl"},
		{Droid, "/root/.factory/sessions/-p/a.jsonl", "/home/me/.factory/sessions/-p/a.jsonl"},
	} {
		if got := Here(c.agent, home, filepath.FromSlash(c.file)); got != filepath.FromSlash(c.want) {
			t.Errorf("%s: %s is looked for at %s, want %s", c.agent, c.file, got, c.want)
		}
	}
}
