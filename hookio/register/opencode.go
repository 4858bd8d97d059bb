package register

import (
	_ "embed"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/hookio"
)

// opencodeText is the plugin, in JavaScript: opencode loads it as it is.
//
//go:embed opencode/rewind.js
var opencodeText string

// opencodeProgram is its line that names the program.
const opencodeProgram = `const PROGRAM = "rewind"`

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
		files := []SettingsFile{{Path: filepath.Join(dir, "plugins", "rewind.js"), Ours: true}}
		if w.Root != "" {
			files = append(files, SettingsFile{Path: filepath.Join(w.Root, ".opencode", "plugins", "rewind.js")})
		}
		return files
	},
	extension: func(p Program) string {
		path, err := json.Marshal(p.Path)
		if err != nil {
			return opencodeText // a string always marshals
		}
		return strings.Replace(opencodeText, opencodeProgram, "const PROGRAM = "+string(path), 1)
	},
}
