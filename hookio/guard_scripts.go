package hookio

import (
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// Bounds of the files of commands that a shell is given: how many of one tool call are read, and how long they may be.
const (
	maxScriptFiles = 8
	maxScriptBytes = 16 << 10
)

// scriptFile is the text of the file that a shell runs here, "" where that is not known, or where it has branches or
// functions: such a script need not do all that its text says.
func (o *outcome) scriptFile(inv *shell.Invocation) string {
	file := inv.Script()
	if file == nil || file.Dynamic || file.Pattern != "" || o.g.Registered == nil {
		return ""
	}
	path := shell.Absolute(inv.Dir, file.Text)
	if path == "" {
		return ""
	}
	text := string(o.content(path)())
	if len(text) > maxScriptBytes || strings.Contains(text, "()") {
		return ""
	}
	for line := range strings.Lines(text) {
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "#") {
				break
			}
			switch strings.TrimSuffix(word, ";") {
			case "if", "case", "for", "while", "until", "select", "function", "exit", "return":
				return ""
			}
		}
	}
	return text
}

// interpreter looks for registered files that a script in another language speaks of and may write.
func (o *outcome) interpreter(inv *shell.Invocation) {
	for _, text := range inv.Texts() {
		if !slices.ContainsFunc(writingVerbs, func(verb string) bool { return strings.Contains(text, verb) }) {
			continue
		}
		for _, file := range o.g.Registered.Files() {
			parts := splitAbs(file)
			if len(parts) < 2 || !strings.Contains(text, parts[len(parts)-1]) {
				continue
			}
			if strings.Contains(text, parts[len(parts)-2]) || slices.Contains(o.g.Registered.Named(shell.Absolute(inv.Dir, parts[len(parts)-1]), true), file) {
				o.set(file, unknown, false)
			}
		}
	}
}

// interpreter looks at scripts given with -c or -e, and in here-documents.
func (g Guarded) interpreter(inv *shell.Invocation) *Refusal {
	for _, text := range inv.Texts() {
		if r := inScript(text); r != nil {
			return r
		}
		for i := range g.Protected {
			p := &g.Protected[i]
			around := path.Base(path.Dir(p.Dir))
			if !p.Survives && inside(splitAbs(p.Dir), splitAbs(g.Root)) && (strings.Contains(text, "'"+around+"'") || strings.Contains(text, `"`+around+`"`)) &&
				slices.ContainsFunc([]string{"rmtree", "rmSync", "rm_r", "remove_tree"}, func(verb string) bool { return strings.Contains(text, verb) }) {
				return refuseRemove(inv.Name, p.Dir)
			}
			if strings.Contains(text, p.Dir) || strings.Contains(text, tail(p.Dir)) {
				if slices.ContainsFunc(writingVerbs, func(verb string) bool { return strings.Contains(text, verb) }) {
					return refuseWrite(p.Dir)
				}
			}
		}
	}
	return nil
}

// writingVerbs are what scripts in other languages change files with.
var writingVerbs = []string{"rmtree", "unlink", "remove", "write", "rename", "move", "rmdir", "rmSync", "rm(", "truncate", "delete", "'w'", `"w"`, "'wb'", `"wb"`, "'a'", `"a"`, "'r+'", `"r+"`, "rm_r", "copy"}

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
