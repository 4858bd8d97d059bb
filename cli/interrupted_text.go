package cli

import (
	"errors"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/treeio"
)

// interruptedText says in a few words what an interrupted command has changed, and what remains of its work. "" for a
// command that changes nothing, or that prints this itself.
func interruptedText(command string, err error) string {
	var (
		noFirst *save.NoFirstError
		part    *port.UnfinishedError
		own     interface{ Interrupted() string }
	)
	switch {
	case errors.As(err, &noFirst):
		return "the store was created, but no checkpoint was taken; rewind init takes it"
	case errors.As(err, &part):
		return "the project is as it was; the same command completes the checkout, or remove " + app.ShellQuote(part.Dir)
	case errors.As(err, new(*treeio.BegunError)):
		return "what was changed in git is not put back yet; rewind undo puts it back"
	case errors.As(err, &own):
		return own.Interrupted()
	}
	switch command {
	case "save":
		return "no checkpoint was taken; the next rewind save uses what was read so far"
	case "run":
		return "no checkpoint was taken, and the command was not run"
	case "init":
		return "no store was made"
	case "restore", "undo", "redo", "undo-restore", "redo-restore", "back", "revert":
		return "the project is as it was"
	case "import":
		return "nothing was imported; the same rewind import uses what was read so far"
	case "gc":
		return "nothing that is kept was changed; rewind gc removes the rest"
	case "forget":
		return "what was not removed yet is still there; the same rewind forget removes it"
	case "push":
		return "what was not sent yet goes with the next push"
	case "pull":
		return "what has come so far is here; the next pull fetches the rest"
	case "remote":
		return "what remote gc did not remove yet goes with the next one"
	case "rescue":
		return "what has come back so far is there; rewind undo in that directory shows the rest"
	case "share":
		return "nothing was shared; rewind share --list shows what is left of it, if anything is"
	case "clone":
		return "nothing was made"
	case "repair":
		return "what was not repaired yet is as it was; rewind verify --repair does the rest"
	case "export", "ui", "diff", "verify", "list", "show", "stats", "grep", "history", "checkout", "bisect", "status", "log", "sessions", "ls", "cat", "validate", "blame", "attempts", "compare":
		return "nothing was changed"
	}
	return ""
}
