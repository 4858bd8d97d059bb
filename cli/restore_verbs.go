package cli

import (
	"context"

	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/engine/project"
)

// confirmAbove is how many deletions make restore ask at a terminal.
const confirmAbove = 20

// restoreVerb is what differs between the commands of the family.
type restoreVerb struct {
	takesCheckpoint bool
	takesSteps      bool   // a number, how many
	takesTo         bool   // --to, an operation's number
	done            string // "Restored to %s."
	would           string // on a dry run
	takeBack        string // the command that undoes it
	do              func(context.Context, *project.Project, engine.RestoreOptions) (*engine.Restored, error)
}

// restoreCheckpoint is the verb of restore and of the picker.
var restoreCheckpoint = restoreVerb{
	takesCheckpoint: true,
	done:            "Restored to %s.",
	would:           "Would restore to %s.",
	takeBack:        "rewind undo-restore",
	do:              engine.Restore,
}

func newRestore() *command {
	c := restoreCommand(restoreCheckpoint)
	c.name = "restore"
	c.usage = "<ckpt> [--patch] [--copy] " + restoreUsage + " [--glob] [-- path…]"
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
	c := restoreCommand(restoreVerb{
		takesSteps: true,
		done:       "Restored to %s.",
		would:      "Would restore to %s.",
		takeBack:   "rewind redo",
		do:         engine.Undo,
	})
	c.name = "undo"
	c.usage = "[N] " + restoreUsage + " [--glob] [-- path…]"
	c.short = "restore the newest checkpoint that differs"
	c.long = "Restores the newest checkpoint that differs from the working tree, and forks the\n" +
		"conversation if it has one; --code-only leaves that out. Run again, it goes further back\n" +
		"from there; a save or an edit starts over. N goes that many steps as one operation, which\n" +
		"rewind redo takes back as a whole; with fewer than N, nothing is changed.\n" +
		aboutPaths
	c.examples = []example{
		{"rewind undo", "undo the last change"},
		{"rewind undo 3", "three steps back at once"},
		{"rewind undo --dry-run", "what would happen"},
		{"rewind redo", "take the last undo back"},
	}
	return c
}

func newRedo() *command {
	c := restoreCommand(restoreVerb{
		takesSteps: true,
		done:       "Redone: back at %s.",
		would:      "Would redo: back to %s.",
		takeBack:   "rewind redo-restore",
		do:         engine.Redo,
	})
	c.name = "redo"
	c.usage = "[N] " + restoreUsage
	c.short = "take the last undo back"
	c.long = "Takes the last undo back, or the last N of them, each with all the steps that it went; as\n" +
		"undo-restore does it, but it stops at a restore. What was edited since stays; if that is\n" +
		"a path that the undo changed, it refuses. The same undo after it goes to the\n" +
		"same place again."
	c.examples = []example{
		{"rewind redo", "take the last undo back"},
		{"rewind redo 2", "take the last two back"},
		{"rewind log", "the operations"},
	}
	c.paths = false
	return c
}

func newUndoRestore() *command {
	c := restoreCommand(restoreVerb{
		done:     "Undid the %[2]s: back at %[1]s.",
		would:    "Would undo the %[2]s: back to %[1]s.",
		takeBack: "rewind redo-restore",
		takesTo:  true,
		do:       engine.UndoRestore,
	})
	c.name = "undo-restore"
	c.usage = "[--to N] " + restoreUsage
	c.short = "undo the last restore"
	c.long = "Undoes the last restore or undo. Touches only the paths that it changed, and refuses if\n" +
		"one of them was changed since. Can be repeated for each operation before it. --to undoes\n" +
		"all that are not undone yet, up to and with the operation that rewind log gives that\n" +
		"number: all of them or none."
	c.examples = []example{
		{"rewind undo-restore", "undo the last restore"},
		{"rewind undo-restore --to 3 --dry-run", "what undoing everything since operation 3 would do"},
		{"rewind log", "the operations it goes through"},
	}
	c.paths = false
	return c
}

func newRedoRestore() *command {
	c := restoreCommand(restoreVerb{
		done:     "Redid the %[2]s: now at %[1]s.",
		would:    "Would redo the %[2]s: to %[1]s.",
		takeBack: "rewind undo-restore",
		do:       engine.RedoRestore,
	})
	c.name = "redo-restore"
	c.usage = restoreUsage
	c.short = "redo a restore that undo-restore undid"
	c.long = "Redoes what undo-restore undid, as long as no new restore was made."
	c.examples = []example{{"rewind redo-restore", "redo the last restore that was undone"}}
	c.paths = false
	return c
}
