package cli

import (
	"cmp"
	"context"

	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
)

// confirmAbove is how many deletions make restore ask at a terminal.
const confirmAbove = 20

// restoreVerb is what differs between the commands of the family.
type restoreVerb struct {
	takesCheckpoint bool
	takesSteps      bool   // a number, how many
	takesTo         bool   // --to, an operation's number
	done            string // "Restored%p to %s.", %p: the part of it, if it was only that
	would           string // on a dry run
	of              string // instead of done, where one operation was taken back or done again, %v: "Undid the %v: %a as before it.", %a: files are
	wouldOf         string // on a dry run, %f: files
	part            part
	attempt         *attempts.Attempt // that restore goes to the end of; nil for another checkpoint
	takeBack        string            // the command that undoes it
	onward          string            // instead of "Undo with", in front of it
	do              func(context.Context, *project.Project, restore.Options) (*restore.Restored, error)
}

// part is what the verb is given, where that is not all files: the names of paths, or other words; "" for all.
type part struct {
	text string
	many bool
}

// partOf says what of a checkpoint a command line asks for.
func partOf(paths []string, patch bool) part {
	if patch {
		return part{"the chosen parts", true}
	}
	return part{somePaths(paths, 3), len(paths) > 1}
}

func (p part) after(text string) string {
	if p.text == "" {
		return ""
	}
	return text + p.text
}

func (p part) subject() string { return cmp.Or(p.text, "files") }

func (p part) are() string {
	if p.text != "" && !p.many {
		return p.text + " is"
	}
	return p.subject() + " are"
}

// restoreCheckpoint is the verb of restore and of the picker.
var restoreCheckpoint = restoreVerb{
	takesCheckpoint: true,
	done:            "Restored%p to %s.",
	would:           "Would restore%p to %s.",
	takeBack:        "rewind undo",
	do:              restore.Restore,
}

// undoVerb and redoVerb are also those of the picker and the page.
var (
	undoVerb = restoreVerb{
		takesSteps: true,
		takesTo:    true,
		done:       "Restored%p to %s.",
		would:      "Would restore%p to %s.",
		of:         "Undid the %v: %a as before it.",
		wouldOf:    "Would undo the %v: %f as before it.",
		takeBack:   "rewind redo",
		onward:     "Go forward again",
		do:         restore.Undo,
	}
	redoVerb = restoreVerb{
		takesSteps: true,
		done:       "Redone: back at %s.",
		would:      "Would redo: back to %s.",
		of:         "Redid the %v: %a as after it.",
		wouldOf:    "Would redo the %v: %f as after it.",
		takeBack:   "rewind undo",
		do:         restore.Redo,
	}
)

func newRestore() *command {
	c := restoreCommand(restoreCheckpoint)
	c.name = "restore"
	c.usage = "<ckpt> [--patch] [--copy] " + restoreUsage + " [-- path…]"
	c.short = "restore the project to a checkpoint"
	c.long = "Takes a safety checkpoint, then makes the project match the checkpoint: files that\n" +
		"differ are replaced, missing files are created, and files added later are deleted.\n" +
		"Ignored files, and anything else the checkpoint did not capture, are left alone.\n" +
		aboutPaths + "\njump is the same command."
	c.examples = []example{
		{"rewind restore last", "back to the newest checkpoint"},
		{"rewind restore 3 --dry-run", "what would happen"},
		{"rewind restore v1 -- src/main.go", "one file; directories and globs work too"},
		{"rewind restore -p 3 -- src/main.go", "parts of a file: asks hunk by hunk"},
		{"rewind restore '@{10m}' --code-only", "the files as they were ten minutes ago"},
		{"rewind restore prompt~1 --resume", "back to before the last prompt, and open the conversation there"},
	}
	return c
}

func newUndo() *command {
	c := restoreCommand(undoVerb)
	c.name = "undo"
	c.usage = "[N | --to N] " + restoreUsage + " [-- path…]"
	c.short = "go one step back"
	c.long = "Goes one step back through what changed the project: to the newest checkpoint that\n" +
		"differs, or to before the last restore, revert or back. The conversation goes back with\n" +
		"the files where it had moved with them, or where the checkpoint has one; --code-only\n" +
		"leaves it where it is. Run again, it goes further back; rewind redo goes forward.\n" +
		"N goes that many steps as one operation; with fewer than N, nothing is changed. --to\n" +
		"goes to before the operation that rewind list --ops gives that number: all operations\n" +
		"since are taken back, or none. An operation is taken back only on the paths that it\n" +
		"changed; if one of them was changed since, undo refuses.\n" +
		aboutPaths
	c.examples = []example{
		{"rewind undo", "one step back"},
		{"rewind undo 3", "three steps back at once"},
		{"rewind undo --dry-run", "what would happen"},
		{"rewind undo --to 3", "to before operation 3 of rewind list --ops"},
		{"rewind redo", "forward again"},
	}
	return c
}

func newRedo() *command {
	c := restoreCommand(redoVerb)
	c.name = "redo"
	c.usage = "[N] " + restoreUsage
	c.short = "go forward again after undo"
	c.long = "Takes the last undo back, or the last N of them, each with all the steps that it went. A\n" +
		"new restore or revert ends what can be redone. What was edited since stays; if that is\n" +
		"a path that the undo changed, redo refuses."
	c.examples = []example{
		{"rewind redo", "take the last undo back"},
		{"rewind redo 2", "take the last two back"},
		{"rewind list --ops", "the operations"},
	}
	c.paths = false
	return c
}

// newUndoRestore and newRedoRestore are older names: they go through the operations alone.
func newUndoRestore() *command {
	c := restoreCommand(restoreVerb{
		done:     "Undid the %v: %a as before it.",
		would:    "Would undo the %v: %f as before it.",
		takeBack: "rewind redo",
		onward:   "Go forward again",
		takesTo:  true,
		do:       restore.UndoRestore,
	})
	c.name = "undo-restore"
	c.usage = "[--to N] " + restoreUsage
	c.short = "undo the last operation"
	c.long = "Undoes the last restore, revert or undo, also where work came after it; rewind undo does\n" +
		"the same where nothing did. Touches only the paths that the operation changed, and\n" +
		"refuses if one of them was changed since. Can be repeated for each operation before it."
	c.examples = []example{
		{"rewind undo-restore", "undo the last restore"},
		{"rewind undo-restore --to 3 --dry-run", "what undoing everything since operation 3 would do"},
	}
	c.paths = false
	return c
}

func newRedoRestore() *command {
	c := restoreCommand(restoreVerb{
		done:     "Redid the %v: %a as after it.",
		would:    "Would redo the %v: %f as after it.",
		takeBack: "rewind undo",
		do:       restore.RedoRestore,
	})
	c.name = "redo-restore"
	c.usage = restoreUsage
	c.short = "redo an operation that undo-restore undid"
	c.long = "Redoes what undo-restore undid, as long as no new restore was made. rewind redo does\n" +
		"the same."
	c.examples = []example{{"rewind redo-restore", "redo the last operation that was undone"}}
	c.paths = false
	return c
}
