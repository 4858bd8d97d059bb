package cli

// interrupted is what a person wants to know who pressed Ctrl-C: what a command has changed by then, and
// what is kept of its work. "" for a command that changes nothing, or that has said it itself.
func interruptedText(command string) (text, hint string) {
	switch command {
	case "save", "init", "run":
		return "no checkpoint was taken", "what was read so far is stored: the next rewind save uses it, or rewind gc removes it"
	case "restore", "undo", "redo", "undo-restore", "redo-restore", "back":
		return "the project is as it was", "rewind log shows what was done before"
	case "gc":
		return "nothing that is kept was changed", "rewind gc goes on with what is left to remove"
	case "forget":
		return "what was not taken out yet is still there", "run the same rewind forget again"
	case "repair":
		return "what was not repaired yet is as it was", "rewind repair again"
	case "export", "diff", "verify", "list", "show", "stats", "grep", "history":
		return "nothing was changed", ""
	}
	return "", ""
}

// interruptedError is a call that Ctrl-C ended.
type interruptedError struct {
	command string
	err     error
}

func (e *interruptedError) Error() string { return "interrupted" }
func (e *interruptedError) Unwrap() error { return e.err }

func (e *interruptedError) failure() failure {
	f := failure{code: exitInterrupted, message: "interrupted", document: true}
	text, hint := interruptedText(e.command)
	if text != "" {
		f.message += ": " + text
	}
	f.hint = hint
	return f
}
