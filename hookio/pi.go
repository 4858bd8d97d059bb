package hookio

import "strings"

// Pi is pi. It has no hooks: an extension of ours calls us.
const Pi Agent = "pi"

var pi = adapter{
	agent: Pi, title: "pi",
	transcript: func(file string) bool { return strings.Contains(file, "/.pi/agent/sessions/") },
	tools:      toolNames{read: []string{"find"}},
	informs:    []EventKind{Prompt}, switches: []string{"remove rewind", "uninstall rewind"},
}
