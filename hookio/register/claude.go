package register

import (
	"cmp"
	"path/filepath"
	"runtime"

	"github.com/rewind-cli/rewind/hookio"
)

var claude = Client{
	Agent:      hookio.Claude,
	Programs:   []string{"claude"},
	Hint:       "open sessions pick this up by themselves; hooks run in a folder once you have trusted it in Claude Code",
	PluginCure: "to use the settings instead: claude plugin disable rewind",
	dir:        func(w Where) string { return cmp.Or(w.Getenv("CLAUDE_CONFIG_DIR"), below(w.Home, ".claude")) },
	files: func(w Where, dir string) []SettingsFile {
		return oursAnd(filepath.Join(dir, "settings.json"), append(w.inProject(".claude/settings.json", ".claude/settings.local.json"), managedSettings())...)
	},
	hooks: []registration{
		{"SessionStart", ""},
		{"UserPromptSubmit", ""},
		{"PreToolUse", "Edit|Write|MultiEdit|NotebookEdit|Bash|PowerShell"},
		{"PreToolUse", "mcp__.*"},
		{"PostToolUse", "Edit|Write|MultiEdit|NotebookEdit|Bash|PowerShell"},
		{"Stop", ""},
		{"SubagentStop", ""},
		{"SessionEnd", ""},
	},
	grown:    []growth{{1, "PostToolUse", "Bash|PowerShell"}},
	known:    classicEvents,
	switches: []offSwitch{{"disableAllHooks", true, HooksDisabled}, {"allowManagedHooksOnly", true, ManagedOnly}},
	others:   func(w Where, _ string) []string { return []string{claudeState(w)} },
	reads:    claudeReads,
	runs:     func(w Where, _ FoundEntry) bool { return claudeTrusts(w) },
	check:    claudeTrust,
}

// claudeState is the file in which Claude Code notes what the person trusts.
func claudeState(w Where) string {
	return filepath.Join(cmp.Or(w.Getenv("CLAUDE_CONFIG_DIR"), w.Home), ".claude.json")
}

// claudeTrusts reports whether interactive sessions run hooks in the project; where nothing is known of that they do.
func claudeTrusts(w Where) bool {
	if w.Root == "" {
		return true
	}
	text, err := w.read(claudeState(w))
	if err != nil || text == nil {
		return true
	}
	trusted, known := hookio.FolderTrusted(text, w.Root)
	return trusted || !known
}

// managedSettings is where an organisation's policy lies.
func managedSettings() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\ProgramData\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

// claudeTrust: interactive sessions run no hooks in a folder that the person has
// not trusted.
func claudeTrust(w Where, _ []FoundEntry) []Finding {
	if claudeTrusts(w) {
		return nil
	}
	return []Finding{{
		Code: Untrusted, File: claudeState(w), Detail: w.Root,
		Cure: "claude in " + w.Root + ", then trust the folder",
	}}
}
