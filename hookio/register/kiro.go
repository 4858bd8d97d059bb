package register

import (
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/hookio"
)

// Kiro CLI has its hooks in the files of its agents: they are registered with each
// agent that the person has made. Where there is none they make one, "rewind", which
// has no tools before the person gives it some.
var kiro = Client{
	Agent:    hookio.Kiro,
	Programs: []string{"kiro-cli"},
	Hint:     "Kiro CLI runs the hooks of the agent that is chosen: kiro-cli chat --agent NAME; its built-in agent has none, and an agent that has no tools needs a list of them in its file",
	dir:      func(w Where) string { return below(w.Home, ".kiro") },
	files: func(w Where, dir string) (files []SettingsFile) {
		add := func(dir string, ours bool) {
			entries, _ := os.ReadDir(dir) // none: no agents
			for _, e := range entries {
				if filepath.Ext(e.Name()) == ".json" && !e.IsDir() {
					files = append(files, SettingsFile{Path: filepath.Join(dir, e.Name()), Ours: ours})
				}
			}
		}
		add(filepath.Join(dir, "agents"), true)
		if len(files) == 0 {
			files = append(files, SettingsFile{Path: filepath.Join(dir, "agents", "rewind.json"), Ours: true})
		}
		if w.Root != "" {
			add(filepath.Join(w.Root, ".kiro", "agents"), false)
		}
		return files
	},
	hooks: []registration{
		{"agentSpawn", ""},
		{"userPromptSubmit", ""},
		{"preToolUse", ""},
		{"postToolUse", ""},
		{"stop", ""},
	},
	form: form{flat: true, handler: func(line string) jsonNode {
		return object("command", quoted(line), "timeout_ms", jsonNode{literal: Seconds + "000"})
	}},
}
