package cli

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
)

// group is a part of the overview: commands that a person looks for together.
type group struct {
	title    string
	commands []string
}

// groups are all of them, in the order of the overview and of rewind(1).
func groups() []group {
	return []group{
		{"Start", []string{"init", "status", "config", "import"}},
		{"Take checkpoints", []string{"save", "run", "watch"}},
		{"Look", []string{"list", "show", "diff", "history", "blame", "grep", "bisect", "sessions", "ui"}},
		{"Go back", []string{"undo", "redo", "restore", "revert", "back"}},
		{"Keep", []string{"pin", "checkout", "export"}},
		{"The store", []string{"gc", "forget", "verify", "stores"}},
		{"For programs and shells", []string{"hook", "completion", "help"}},
	}
}

// grouped calls visit for each group, with those of its commands that there are.
// A command of no group comes last, so that it is never missed.
func grouped(visit func(title string, commands []*app.Command)) {
	made := map[string]*app.Command{}
	for _, e := range entries() {
		if !e.hidden {
			made[e.name] = e.make()
		}
	}
	for _, g := range groups() {
		var commands []*app.Command
		for _, name := range g.commands {
			if c := made[name]; c != nil {
				commands = append(commands, c)
				delete(made, name)
			}
		}
		visit(g.title, commands)
	}
	var rest []*app.Command
	for _, c := range made {
		rest = append(rest, c)
	}
	slices.SortFunc(rest, func(a, b *app.Command) int { return strings.Compare(a.Name, b.Name) })
	if len(rest) > 0 {
		visit("Others", rest)
	}
}
