package register

import (
	"cmp"
	"path/filepath"

	"github.com/rewind-cli/rewind/hookio"
)

// Copilot CLI reads every file of its hooks directory, and the .claude/settings.json of a
// repository: what is registered there for Claude Code is called by both, and recognised.
// Event names in this letter case have payloads with Claude Code's names.
var copilot = Client{
	Agent:    hookio.Copilot,
	Programs: []string{"copilot"},
	Hint:     "Copilot CLI reads its hooks when it starts: restart it",
	dir:      func(w Where) string { return cmp.Or(w.Getenv("COPILOT_HOME"), below(w.Home, ".copilot")) },
	files: func(w Where, dir string) []SettingsFile {
		return oursAnd(filepath.Join(dir, "hooks", "rewind.json"), w.inProject(".github/hooks/rewind.json")...)
	},
	others: func(w Where, dir string) []string {
		return append([]string{filepath.Join(dir, "settings.json"), filepath.Join(dir, "config.json")},
			w.inProject(".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json")...)
	},
	hooks: []registration{
		{"SessionStart", ""},
		{"UserPromptSubmit", ""},
		{"PreToolUse", ""},
		{"PostToolUse", ""},
		{"Stop", ""},
		{"SubagentStop", ""},
		{"SessionEnd", ""},
	},
	stopsWithout: true,
	form: form{flat: true, version: "1", handler: func(line string) jsonNode {
		return object("type", quoted("command"), "bash", quoted(line), "timeoutSec", jsonNode{literal: Seconds})
	}},
	switches: []offSwitch{{"disableAllHooks", true, HooksDisabled}},
}
