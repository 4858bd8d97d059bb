package hookio

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// maxWrites bounds what Writes gives.
const maxWrites = 256

// Writes lists the files that a tool call says it writes, absolute, each once: what an edit declares, and what a command
// line names as the target of a redirection or of a program that is known to write it. A directory means what is
// below it. What the text does not tell (a pattern, a variable that is not known, what a program does by itself) is
// missing. home is for ~ and $HOME; it may be "".
func Writes(e *Event, home string) (files []string) {
	add := func(file string) {
		if file != "" && len(files) < maxWrites && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	t := &e.Tool
	switch t.Class {
	case Edit:
	case MCP, OtherTool:
		if !soundsLikeWriting(t.Name) {
			return nil
		}
	case Shell:
		word := func(dir string, w shell.Word) {
			if !w.Dynamic && w.Pattern == "" && w.Text != "" && !strings.HasPrefix(w.Text, "/dev/") {
				add(shell.Absolute(dir, w.Text))
			}
		}
		variables := map[string]string{}
		if home != "" {
			variables["HOME"] = home
		}
		shell.Walk(t.Command, e.CommandDir(), variables, func(inv *shell.Invocation) {
			for _, r := range inv.Redirects {
				switch r.Op {
				case ">", ">>", ">|", "&>", "&>>", "<>":
					word(inv.Dir, r.Target)
				}
			}
			targets := inv.Writes()
			if len(targets) > 0 && scripted(inv) {
				targets = targets[1:]
			}
			for _, w := range targets {
				word(inv.Dir, w.Word)
			}
		})
		return files
	default:
		return nil
	}
	for _, f := range t.Files {
		add(shell.Absolute(e.Cwd, f))
	}
	return files
}

// scripted reports whether the first operand of a program that edits in place is what it is to do.
func scripted(inv *shell.Invocation) bool {
	switch inv.Name {
	case "sed", "perl", "ruby":
		return !slices.ContainsFunc(inv.Args, func(w shell.Word) bool {
			return strings.HasPrefix(w.Text, "--expression=") || strings.HasPrefix(w.Text, "--file=")
		})
	}
	return false
}

// goesOn reports whether a command line leaves something running: its last command is in the background.
func goesOn(command string) bool {
	command = strings.TrimRight(command, " \t\r\n;")
	return strings.HasSuffix(command, "&") && !strings.HasSuffix(command, "&&") && !strings.HasSuffix(command, ">&")
}
