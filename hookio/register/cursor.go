package register

import (
	"path/filepath"

	"github.com/rewind-cli/rewind/hookio"
)

// Of Cursor only what every version knows is registered: later ones have more events. That the
// first ones run afterFileEdit is from its documentation, and was not seen.
var cursor = Client{
	Agent:    hookio.Cursor,
	Programs: []string{"cursor", "cursor-agent"},
	Hint:     "Cursor reads its hooks when it starts: restart it, then check them in its settings under Hooks",
	dir:      func(w Where) string { return below(w.Home, ".cursor") },
	files: func(w Where, dir string) []SettingsFile {
		return oursAnd(filepath.Join(dir, "hooks.json"), w.inProject(".cursor/hooks.json")...)
	},
	hooks: []registration{
		{"beforeSubmitPrompt", ""},
		{"beforeShellExecution", ""},
		{"beforeMCPExecution", ""},
		{"afterFileEdit", ""},
		{"stop", ""},
	},
	grown: []growth{{1, "afterFileEdit", ""}},
	form: form{flat: true, version: "1", handler: func(line string) jsonNode {
		return object("command", quoted(line), "timeout", jsonNode{literal: Seconds})
	}},
}
