package register

import (
	"cmp"
	"path/filepath"

	"github.com/rewind-cli/rewind/hookio"
)

// Qwen Code 0.24 reads a timeout below 1000 as seconds, and one from there on as milliseconds; 0.15 reads all as milliseconds.
var qwen = Client{
	Agent:    hookio.Qwen,
	Programs: []string{"qwen"},
	Hint:     "Qwen Code reads its hooks when it starts: restart it, then check them with /hooks",
	dir:      func(w Where) string { return cmp.Or(w.Getenv("QWEN_HOME"), below(w.Home, ".qwen")) },
	files: func(w Where, dir string) []SettingsFile {
		return oursAnd(filepath.Join(dir, "settings.json"), w.inProject(".qwen/settings.json")...)
	},
	hooks: []registration{
		{"SessionStart", ""},
		{"UserPromptSubmit", ""},
		{"PreToolUse", "edit|write_file|notebook_edit|run_shell_command"},
		{"PreToolUse", "mcp__.*"},
		{"PostToolUse", "edit|write_file|notebook_edit|run_shell_command"},
		{"Stop", ""},
		{"SubagentStop", ""},
		{"SessionEnd", ""},
	},
	form:     form{timeout: milliseconds},
	reads:    shortTimeouts(hookio.Qwen, "earlier versions of Qwen Code, as 0.15"),
	grown:    []growth{{1, "PostToolUse", "run_shell_command"}},
	switches: []offSwitch{{"disableAllHooks", true, HooksDisabled}},
}
