package hookio

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// InSessionCommand is a command that the person types into the agent, as
// /rewind:NAME, and that a hook answers without a turn of the model.
type InSessionCommand struct {
	Name        string
	Hint        string // its arguments, for the agent's completion
	Description string
	// Changes says that it puts something back: it must not end with the hook.
	Changes bool

	flags  []string // those that it takes here, each without a value or with one in the same word
	valued []string // those that need a value, in the same word or the next
	paths  bool     // takes paths after --
	most   int      // most arguments
	Older  bool     // an older name: it is answered, but not offered
}

// InSessionCommands is the table of them. It leaves out flags that aim at another
// project, open another program or rewrite the conversation that is running.
func InSessionCommands() []InSessionCommand {
	restore := []string{"--code-only", "--context-only", "--mode", "--dry-run", "-n", "--force", "--yes", "-y"}
	return []InSessionCommand{
		{Name: "list", Hint: "[n]", Description: "List the checkpoints of this project", flags: []string{"--all", "--oneline", "--limit"}, most: 1},
		{Name: "restore", Hint: "<checkpoint> [--code-only] [-- path…]", Description: "Restore code and conversation to a checkpoint: its number, its name, or prompt~1", Changes: true, flags: restore, paths: true, most: 1},
		{Name: "undo", Hint: "[n] [--dry-run]", Description: "Go one step back, or n: to the newest checkpoint that differs, or to before the last restore or revert", Changes: true, flags: restore, paths: true, most: 1},
		{Name: "redo", Hint: "[n]", Description: "Go forward again after undo", Changes: true, flags: []string{"--dry-run", "-n", "--force", "--yes", "-y"}, most: 1},
		{Name: "undo-restore", Older: true, Description: "Undo the last restore or undo", Changes: true, flags: []string{"--dry-run", "-n", "--force", "--yes", "-y"}},
		{Name: "redo-restore", Older: true, Description: "Redo what undo-restore undid", Changes: true, flags: []string{"--dry-run", "-n", "--force", "--yes", "-y"}},
		{Name: "revert", Hint: "prompt~1 [--session=ID] [--dry-run]", Description: "Take back one turn's work, a checkpoint's, or another session's, and keep the rest of the files and the conversation", Changes: true,
			flags: []string{"--include-shared", "--dry-run", "-n", "--yes", "-y"}, valued: []string{"--session", "--since", "--tool", "--conflicts"}, paths: true, most: 1},
		{Name: "back", Hint: "[n] [--both]", Description: "Fork the conversation to before the nth-last prompt", Changes: true, flags: []string{"--both", "--dry-run", "-n", "--force", "--yes", "-y"}, most: 1},
		{Name: "status", Description: "Show whether checkpoints are being taken, and the last one"},
	}
}

const inSessionPrefix = "/rewind:"

// ParseInSession recognises one of those commands at the very beginning of a
// prompt, and nothing else. args are the words after it: a word may be quoted,
// nothing in it is expanded.
func ParseInSession(prompt string) (c InSessionCommand, args []string, ok bool) {
	rest, ok := strings.CutPrefix(prompt, inSessionPrefix)
	if !ok {
		return c, nil, false
	}
	name := rest
	if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
		name = rest[:i]
	}
	table := InSessionCommands()
	i := slices.IndexFunc(table, func(c InSessionCommand) bool { return c.Name == name })
	if i < 0 {
		return c, nil, false
	}
	return table[i], splitWords(rest[len(name):]), true
}

// Words are the words of the command line of rewind that answers the command.
// problem says what is wrong with the arguments, "" for nothing.
func (c InSessionCommand) Words(args []string) (words []string, problem string) {
	words = []string{c.Name}
	operands := 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, valued := strings.Cut(a, "=")
		switch {
		case strings.ContainsRune(a, 0):
			return nil, "an argument contains a NUL byte"
		case a == "--" && c.paths:
			return append(words, args[i:]...), ""
		case a == "--":
			return nil, inSessionPrefix + c.Name + " takes no paths"
		case slices.Contains(c.valued, name):
			if !valued && i+1 < len(args) {
				i++
				value = args[i]
			}
			if value == "" || value[0] == '-' || strings.ContainsRune(value, 0) {
				return nil, name + " needs a value: " + name + "=…"
			}
			a = name + "=" + value
		case a != "" && a[0] == '-' && !slices.Contains(c.flags, name):
			return nil, show(name) + " is not for " + inSessionPrefix + c.Name + ": use it in a terminal"
		case a != "" && a[0] == '-' && name == "--limit" && (!valued || !shell.AllDigits(value)):
			return nil, "--limit needs a number: --limit=50"
		case a != "" && a[0] == '-' && name == "--mode" && !valued:
			return nil, "--mode needs both, code or context: --mode=code"
		case a != "" && a[0] == '-':
		default:
			if operands++; operands > c.most {
				return nil, inSessionPrefix + c.Name + " has too many arguments: " + show(a)
			}
			if c.Name == "list" {
				if !shell.AllDigits(a) {
					return nil, show(a) + " is not a number of checkpoints"
				}
				a = "--limit=" + a
			}
		}
		words = append(words, a)
	}
	return words, ""
}

// splitWords splits a text at white space, but not inside quotes. A quote that
// is not closed is a character like others.
func splitWords(s string) []string {
	var words []string
	var word strings.Builder
	begun := false
	flush := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for i := 0; i < len(s); i++ {
		switch b := s[i]; b {
		case ' ', '\t', '\r', '\n', '\v', '\f':
			flush()
		case '\'', '"':
			begun = true
			if end := strings.IndexByte(s[i+1:], b); end >= 0 {
				word.WriteString(s[i+1 : i+1+end])
				i += end + 1
				continue
			}
			word.WriteByte(b)
		default:
			begun = true
			word.WriteByte(b)
		}
	}
	flush()
	return words
}

// TypedInSession says how a command line of rewind is typed into the agent;
// one that cannot be is returned as it is.
func TypedInSession(line string) string {
	words := splitWords(line)
	if len(words) < 2 || words[0] != "rewind" {
		return line
	}
	c, _, ok := ParseInSession(inSessionPrefix + words[1])
	if !ok {
		return line
	}
	if _, problem := c.Words(words[2:]); problem != "" {
		return line
	}
	return inSessionPrefix + strings.TrimPrefix(line, "rewind ")
}

// InSession answers an in-session command: the prompt is blocked before any
// model turn, and the person sees text in its place.
func InSession(text string) Response {
	return Response{Stdout: encode(map[string]any{
		"decision": "block",
		"reason":   printable(text),
		"hookSpecificOutput": map[string]any{
			"hookEventName":          "UserPromptSubmit",
			"suppressOriginalPrompt": true,
		},
	})}
}

// ByPerson reports whether a prompt was typed or sent by somebody, and not made
// by the agent's own machinery (a timer, a finished task).
func (e *Event) ByPerson() bool {
	return e.Source == "" || e.Source == "user" || e.Source == "sdk" || e.Source == "typed"
}
