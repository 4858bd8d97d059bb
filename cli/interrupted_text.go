package cli

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/engine"
)

// interrupted is what a person wants to know who pressed Ctrl-C: what a command has changed by then, and
// what is kept of its work. "" for a command that changes nothing, or that has said it itself.
func interruptedText(command string, err error) (text, hint string) {
	var (
		noFirst *engine.NoFirstError
		part    *engine.UnfinishedError
		notRun  *notRunError
	)
	switch {
	case errors.As(err, &noFirst):
		return "the store was created, but no checkpoint was taken", "rewind init takes it"
	case errors.As(err, &part):
		return "the project is as it was", "the same command completes the checkout; or remove " + shellQuote(part.Dir)
	case errors.As(err, &notRun):
		return "the command was not run", "the checkpoint " + notRun.saved + " is kept"
	}
	switch command {
	case "save":
		return "no checkpoint was taken", "what was read so far is stored: the next rewind save uses it, or rewind gc removes it"
	case "run":
		return "no checkpoint was taken, and the command was not run", "what was read so far is stored: the next rewind save uses it, or rewind gc removes it"
	case "init":
		return "no store was made", "the same rewind init again"
	case "restore", "undo", "redo", "undo-restore", "redo-restore", "back", "revert":
		return "the project is as it was", "rewind log shows what was done before"
	case "import":
		return "nothing was imported", "what was read so far is stored: the same rewind import uses it, or rewind gc removes it"
	case "gc":
		return "nothing that is kept was changed", "rewind gc goes on with what is left to remove"
	case "forget":
		return "what was not taken out yet is still there", "run the same rewind forget again"
	case "repair":
		return "what was not repaired yet is as it was", "rewind repair again"
	case "export", "ui", "diff", "verify", "list", "show", "stats", "grep", "history", "checkout", "bisect", "status", "log", "sessions", "ls", "cat", "validate", "blame", "attempts", "compare":
		return "nothing was changed", ""
	}
	return "", ""
}

// interruptedError is a call that Ctrl-C ended.
type interruptedError struct {
	command string
	cause   error // what the command ended with; may be nil
}

func (e *interruptedError) Error() string { return "interrupted" }
func (e *interruptedError) Unwrap() error { return context.Canceled }

func (e *interruptedError) failure() failure {
	f := failure{code: exitInterrupted, message: "interrupted", document: true}
	text, hint := interruptedText(e.command, e.cause)
	if text != "" {
		f.message += ": " + text
	}
	f.hint = hint
	return f
}
