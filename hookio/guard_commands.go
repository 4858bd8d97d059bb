package hookio

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// ownValues are the flags of rewind's commands that take the next word as their value,
// whatever it looks like.
var ownValues = []string{"--root", "--session", "--mode", "--text", "--keep", "--max-age", "--max-size", "--adopt", "--tier", "--agent", "--plugin", "--to", "--limit", "--run", "--good", "--bad"}

// isShortDryRun reports -n, alone or among other short flags without values, as in -yn.
func isShortDryRun(a string) bool {
	return len(a) > 1 && a[0] == '-' && strings.Contains(a, "n") && strings.Trim(a[1:], "nyqv") == ""
}

// ownCommand returns the subcommand where inv runs rewind and that is not for
// tools, else "".
func ownCommand(inv *shell.Invocation) string {
	if inv.Name != "rewind" && inv.Name != "smart-checkpoint" {
		return ""
	}
	var words []string
	var dryRun, takenBack bool // --dry-run=false
	args := inv.Args
	if inv.ByXargs && len(inv.Piped) > 0 { // what echo or printf hands on
		args = append(slices.Clone(args), inv.Piped[1:]...)
	}
	for i := 0; i < len(args); i++ {
		a := args[i].Text
		if a == "--" {
			break // what follows are paths
		}
		switch {
		case slices.Contains(ownValues, a), a == "--git" && (len(words) == 0 || words[0] == "import"): // for others, its value is joined to it
			i++
		case a == "--help" || a == "-h":
			return ""
		case a == "--dry-run" || isShortDryRun(a):
			dryRun = true
		case strings.HasPrefix(a, "--dry-run=") || strings.HasPrefix(a, "-") && strings.Contains(a, "n=") && !strings.HasPrefix(a, "--"):
			takenBack = true
		case !strings.HasPrefix(a, "-"):
			words = append(words, a)
		}
	}
	if len(words) == 0 || dryRun && !takenBack {
		return ""
	}
	switch sub := words[0]; sub {
	case "config":
		// One word more is the setting to show, two are its value.
		if len(words) > 2 || inv.ByXargs || inv.HasFlag(0, "--", "--tier", "--unset", "--register-hooks", "--unregister-hooks", "--plugin") || inv.HasWord("--") ||
			slices.ContainsFunc(args, func(a shell.Word) bool { return a.Dynamic }) {
			return sub
		}
	case "restore", "jump", "chat", "undo", "redo", "undo-restore", "redo-restore", "revert", "back", "gc", "forget", "repair", "unpin", "rename", "deinit", "ui", "import":
		return sub
	case "run":
		// Its undo takes what others did meanwhile too; the command itself is looked at as any other.
		own := inv.Args[:len(inv.Args)-len(shell.Inner(inv.Args))]
		if slices.ContainsFunc(own, func(a shell.Word) bool {
			return strings.HasPrefix(a.Text, "--yes") || len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.Contains(a.Text, "y")
		}) {
			return "run --yes"
		}
	case "init":
		if inv.HasFlag(0, "--adopt", "--trust", "--force") {
			return sub
		}
	case "stores":
		if len(words) > 1 && words[1] == "rm" {
			return "stores rm"
		}
	case "hook":
		// An agent that plays the person's in-session commands.
		if len(words) > 1 && words[1] != string(Generic) {
			return sub
		}
	}
	return ""
}

// switchesOff refuses a command of an agent's own program that keeps hooks from running.
func switchesOff(inv *shell.Invocation) *Refusal {
	for _, line := range Agent(inv.Name).adapter().switches {
		if !slices.ContainsFunc(strings.Fields(line), func(word string) bool {
			return !slices.ContainsFunc(inv.Args, func(a shell.Word) bool { return strings.Contains(a.Text, word) })
		}) {
			return &Refusal{"rewind: '" + inv.Name + " " + line + "' would switch off what saves checkpoints; ask the user to do it"}
		}
	}
	return nil
}
