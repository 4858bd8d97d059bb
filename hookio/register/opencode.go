package register

import (
	_ "embed"
	"path/filepath"

	"github.com/rewind-cli/rewind/hookio"
)

// opencodeText is the plugin, in JavaScript: opencode loads it as it is.
//
//go:embed opencode/rewind.js
var opencodeText string

var opencode = Client{
	Agent:       hookio.OpenCode,
	Programs:    []string{"opencode"},
	Hint:        "opencode loads its plugins when it starts: restart it",
	HintRemoved: "sessions of opencode that are open keep the plugin until they end",
	dir: func(w Where) string {
		if dir := w.Getenv("OPENCODE_CONFIG_DIR"); filepath.IsAbs(dir) {
			return dir
		}
		if dir := w.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "opencode")
		}
		return below(w.Home, ".config", "opencode")
	},
	files: func(w Where, dir string) []SettingsFile {
		return oursAnd(filepath.Join(dir, "plugins", "rewind.js"), w.inProject(".opencode/plugins/rewind.js")...)
	},
	extension: &opencodeText,
}
