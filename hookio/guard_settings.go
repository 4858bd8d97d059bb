package hookio

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// registered finds the settings file with our hooks that a path names, as it is written and as
// its links lead; "" for any other.
func (g Guarded) registered(file string) string {
	parts := splitAbs(file)
	if parts == nil || g.Hooked == nil {
		return ""
	}
	named := func(parts []string) string {
		for _, s := range g.Settings {
			if of := splitAbs(s); of != nil && len(of) == len(parts) && samePath(parts, of) && g.Hooked(s) {
				return s
			}
		}
		return ""
	}
	if s := named(parts); s != "" || g.Resolve == nil {
		return s
	}
	if real := splitAbs(g.Resolve(file, true)); real != nil {
		for _, s := range g.Settings {
			if of := splitAbs(g.Resolve(s, true)); of != nil && len(of) == len(real) && samePath(real, of) && g.Hooked(s) {
				return s
			}
		}
	}
	return ""
}

// unhooks refuses a command that would take our hooks out of an agent's settings: one that puts
// something else in the file's place or removes it, and one that edits it in place by a script
// that speaks of hooks.
func (g Guarded) unhooks(inv *shell.Invocation) *Refusal {
	if len(g.Settings) == 0 {
		return nil
	}
	for _, r := range inv.Redirects {
		switch r.Op {
		case ">", ">|", "&>", "<>", ">&":
			if s := g.registered(shell.Absolute(inv.Dir, r.Target.Text)); s != "" && !r.Target.Dynamic {
				return refuseUnhook(s)
			}
		}
	}
	switch inv.Name {
	case "chmod", "chown", "chgrp", "touch", "mkdir", "ln":
		return nil
	case "tee":
		if inv.HasFlag('a', "--append") {
			return nil
		}
	case "sed", "perl", "ruby":
		if !slices.ContainsFunc(inv.Args, func(w shell.Word) bool { return speaksOfHooks(w.Text) }) {
			return nil
		}
	}
	for _, w := range inv.Writes() {
		file := shell.Absolute(inv.Dir, w.Word.Text)
		if s := g.registered(file); s != "" && !w.Word.Dynamic {
			return refuseUnhook(s)
		}
		if !w.RemovesTree && !w.Moves {
			continue
		}
		for _, s := range g.Settings { // with the directory that it is in
			if dir := splitAbs(file); len(dir) > 0 && inside(splitAbs(s), dir) && !w.Word.Dynamic && g.Hooked != nil && g.Hooked(s) {
				return refuseUnhook(s)
			}
		}
	}
	return nil
}

func speaksOfHooks(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "rewind") || strings.Contains(text, "hook") || strings.Contains(text, "smart-checkpoint")
}

func refuseUnhook(file string) *Refusal {
	return &Refusal{"rewind: this would take the hooks out of " + show(tail(file)) + " that save checkpoints; leave them in, or ask the user to do it"}
}

// runners are what a script in another language runs a program with.
var runners = []string{"system", "popen", "Popen", "subprocess", "exec", "spawn", "check_call", "check_output", "getoutput", "backtick", "qx", "%x", "Open3", "`", "Deno.Command", "Bun.$", "shell"}

// maxScriptWords bounds the words of a call of ours in such a script.
const maxScriptWords = 16

// inScript refuses a script in another language that runs one of our commands which are not for tools.
func inScript(text string) *Refusal {
	if !strings.Contains(text, "rewind") && !strings.Contains(text, "smart-checkpoint") ||
		!slices.ContainsFunc(runners, func(r string) bool { return strings.Contains(text, r) }) {
		return nil
	}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '.' && r != '/' && r != '-' && r != '_' && r != '=' && r != '~' && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
	for i, w := range words {
		inv := &shell.Invocation{Name: shell.Program(w)}
		for _, a := range words[i+1 : min(len(words), i+1+maxScriptWords)] {
			inv.Args = append(inv.Args, shell.Word{Text: a})
		}
		if sub := ownCommand(inv); sub != "" {
			return refuseCommand(sub)
		}
	}
	return nil
}
