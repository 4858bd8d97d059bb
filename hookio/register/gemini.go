package register

import (
	"path/filepath"

	"github.com/rewind-cli/rewind/hookio"
)

var gemini = Client{
	Agent:    hookio.Gemini,
	Programs: []string{"gemini"},
	Hint:     "Gemini CLI reads its hooks when it starts: restart it, then check them with /hooks",
	dir: func(w Where) string {
		if home := w.Getenv("GEMINI_CLI_HOME"); home != "" {
			return filepath.Join(home, ".gemini")
		}
		return below(w.Home, ".gemini")
	},
	files: func(w Where, dir string) []SettingsFile {
		files := []SettingsFile{{Path: filepath.Join(dir, "settings.json"), Ours: true}}
		if w.Root != "" {
			files = append(files, SettingsFile{Path: filepath.Join(w.Root, ".gemini", "settings.json")})
		}
		return files
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
	form:         form{timeout: func(string) string { return hookSeconds + "000" }}, // milliseconds
	switches:     []offSwitch{{"hooksConfig.enabled", false, HooksDisabled}},
	disabled:     "hooksConfig.disabled",
}
