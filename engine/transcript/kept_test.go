package transcript

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every agent's transcripts lie in a place that it keeps, where variables say and where it is by default.
func TestKept(t *testing.T) {
	env := map[string]string{"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "GEMINI_CLI_HOME": "/g", "QWEN_HOME": "/q", "COPILOT_HOME": "/o",
		"PI_CODING_AGENT_DIR": "/pi", "PI_CODING_AGENT_SESSION_DIR": "/pis", "XDG_DATA_HOME": "/data"}
	kept := Kept(Home{Dir: "/h", Getenv: func(name string) string { return env[name] }})
	has := func(path string) bool {
		return slices.ContainsFunc(kept, func(at string) bool {
			rest, in := strings.CutPrefix(path, strings.TrimSuffix(at, "*"))
			return in && (rest == "" || rest[0] == '/' || strings.HasSuffix(at, "*"))
		})
	}
	for _, path := range []string{
		"/h/.claude/projects/-p/s.jsonl", "/h/.claude/history.jsonl", "/h/.factory/sessions/-p/s.jsonl", "/h/.codex/sessions/2026/11/27/rollout-x.jsonl", "/h/.codex/state_5.sqlite-wal",
		"/h/.gemini/tmp/p/chats/session-x.jsonl", "/h/.qwen/projects/-p/chats/s.jsonl", "/h/.copilot/session-state/s/events.jsonl", "/h/.copilot/session-store.db-shm",
		"/h/.pi/agent/sessions/--p--/x.jsonl", "/h/.local/share/opencode/opencode.db",
		"/c/projects/-p/s.jsonl", "/x/sessions/2026/11/27/rollout-x.jsonl", "/g/.gemini/tmp/p/chats/session-x.jsonl", "/q/projects/-p/chats/s.jsonl", "/o/session-state/s/events.jsonl",
		"/pi/sessions/--p--/x.jsonl", "/pis/x.jsonl", "/data/opencode/opencode.db",
	} {
		if !has(path) {
			t.Errorf("%s is not kept", path)
		}
	}
	for _, path := range []string{
		"/h/.claude/settings.json", "/h/.claude/skills/x", "/h/.codex/config.toml", "/h/.gemini/settings.json", "/h/.factory/hooks.json", "/h/.pi/agent/extensions/x.ts",
		"/h/.qwen/settings.json", "/h/.copilot/hooks/x.json", "/h/.config/opencode/opencode.json", "/h/.claude.json", "/h/a",
	} {
		if has(path) {
			t.Errorf("%s is kept", path)
		}
	}
	for _, path := range Kept(Home{}) {
		if !filepath.IsAbs(path) {
			t.Errorf("%q without a home", path)
		}
	}
}
