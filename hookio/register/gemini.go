package register

import (
	"cmp"
	"path/filepath"

	"github.com/rewind-cli/rewind/hookio"
)

var gemini = Client{
	Agent:    hookio.Gemini,
	Programs: []string{"gemini"},
	Hint:     "Gemini CLI reads its hooks when it starts: restart it, then check them with /hooks",
	dir:      func(w Where) string { return below(cmp.Or(w.Getenv("GEMINI_CLI_HOME"), w.Home), ".gemini") },
	files: func(w Where, dir string) []SettingsFile {
		return oursAnd(filepath.Join(dir, "settings.json"), w.inProject(".gemini/settings.json")...)
	},
	// Not BeforeModel and AfterModel, which come for every request and every part of an
	// answer, nor PreCompress, which comes before every request too.
	hooks: []registration{
		{"SessionStart", ""},
		{"BeforeAgent", ""},
		{"BeforeTool", "replace|write_file|run_shell_command"},
		{"BeforeTool", "mcp_.*"},
		{"AfterTool", "replace|write_file|run_shell_command"},
		{"AfterAgent", ""},
		{"SessionEnd", ""},
	},
	grown:        []growth{{1, "AfterTool", "run_shell_command"}},
	stopsWithout: true,
	form:         form{timeout: milliseconds},
	reads:        shortTimeouts(hookio.Gemini, "Gemini CLI"),
	switches:     []offSwitch{{"hooksConfig.enabled", false, HooksDisabled}},
	disabled:     "hooksConfig.disabled",
}
