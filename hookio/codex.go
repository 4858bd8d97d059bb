package hookio

import (
	"path"
	"strings"
)

// Codex is OpenAI's Codex CLI.
const Codex Agent = "codex"

var codex = adapter{
	agent: Codex, title: "Codex CLI",
	transcript: func(file string) bool {
		return strings.Contains(file, "/.codex/sessions/") && strings.HasPrefix(path.Base(file), "rollout-")
	},
	variable: "CODEX_HOME", switches: []string{"features disable hooks"},
	members: []memberName{{"turn_id", "prompt_id"}},
	tools: toolNames{
		edit:  []string{"applypatch"},
		shell: []string{"shell", "localshell", "exec", "execcommand"},
		read:  []string{"updateplan"},
	},
	messages: true,
	informs:  []EventKind{Prompt},
}
