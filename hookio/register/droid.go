package register

import (
	"path/filepath"

	"github.com/rewind-cli/rewind/hookio"
)

// Of Droid's two files hooks.json has the events at its top level: with a "hooks"
// object it runs nothing.
var droid = Client{
	Agent:       hookio.Droid,
	Programs:    []string{"droid"},
	Hint:        droidHint,
	HintRemoved: droidHint,
	dir:         func(w Where) string { return below(w.Home, ".factory") },
	files: func(w Where, dir string) (files []SettingsFile) {
		add := func(dir string, ours bool) {
			files = append(files,
				SettingsFile{Path: filepath.Join(dir, "hooks.json"), TopLevel: true, Ours: ours},
				SettingsFile{Path: filepath.Join(dir, "settings.json"), Ours: ours})
		}
		add(dir, true)
		if w.Root != "" {
			add(filepath.Join(w.Root, ".factory"), false)
		}
		return files
	},
	hooks: []registration{
		{"SessionStart", ""},
		{"UserPromptSubmit", ""},
		{"PreToolUse", "Edit|Create|ApplyPatch|Execute"},
		{"PreToolUse", "mcp__.*"},
		{"PostToolUse", "Edit|Create|ApplyPatch|Execute"},
		{"Stop", ""},
		{"SubagentStop", ""},
		{"SessionEnd", ""},
	},
	grown:    []growth{{1, "PostToolUse", "Execute"}},
	known:    classicEvents,
	switches: []offSwitch{{"disableAllHooks", true, HooksDisabled}, {"allowManagedHooksOnly", true, ManagedOnly}},
}

const droidHint = "Droid reads its hooks when it starts: restart it, then check them with /hooks"
