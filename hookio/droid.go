package hookio

import "strings"

// Droid is Factory's.
const Droid Agent = "droid"

var droid = adapter{
	agent: Droid, aliases: []string{"factory"}, title: "Droid",
	transcript:       func(file string) bool { return strings.Contains(file, "/.factory/sessions/") },
	variable:         "FACTORY_PROJECT_DIR",
	switches:         []string{"plugin disable rewind", "plugin uninstall rewind"},
	projectVariables: []string{"FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR"},
	tools: toolNames{
		edit:  []string{"create", "applypatch"},
		shell: []string{"execute"},
		read:  []string{"fetchurl"},
	},
	envFiles:   []string{"DROID_ENV_FILE", "CLAUDE_ENV_FILE"},
	envMember:  true,
	envLines:   true,
	tellsNames: true,
	messages:   true,
	promptless: true, // droid exec
	informs:    []EventKind{SessionStart, Prompt},
}
