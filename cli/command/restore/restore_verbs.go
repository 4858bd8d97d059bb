package restore

import (
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/engine/restore"
)

func NewRestore() *app.Command {
	return restoreCommand(report.RestoreCheckpoint, restore.Restore, &app.Command{
		Name:  "restore",
		Usage: "<ckpt> [--patch] [--copy] " + gitUsage + RestoreUsage + " [-- path…]",
		Short: "restore the project to a checkpoint",
		Long: "Takes a safety checkpoint, then makes the project match the checkpoint: files that\n" +
			"differ are replaced, missing files are created, and files added later are deleted.\n" +
			"Ignored files, and anything else the checkpoint did not capture, are left alone.\n" +
			app.AboutPaths + "\njump is the same command.",
		Examples: []app.Example{
			{Line: "rewind restore last", Does: "back to the newest checkpoint"},
			{Line: "rewind restore 3 --dry-run", Does: "what would happen"},
			{Line: "rewind restore v1 -- src/main.go", Does: "one file; directories and globs work too"},
			{Line: "rewind restore -p 3 -- src/main.go", Does: "parts of a file: asks hunk by hunk"},
			{Line: "rewind restore '@{10m}' --code-only", Does: "the files as they were ten minutes ago"},
			{Line: "rewind restore prompt~1 --resume", Does: "back to before the last prompt, and open the conversation there"},
		},
		Paths: true,
	})
}

func NewUndo() *app.Command {
	return restoreCommand(report.UndoWords, restore.Undo, &app.Command{
		Name:  "undo",
		Usage: "[N | --to N] " + gitUsage + RestoreUsage + " [-- path…]",
		Short: "go one step back",
		Long: "Goes one step back through what changed the project: to the newest checkpoint that\n" +
			"differs, or to before the last restore, revert or back. The conversation goes back with\n" +
			"the files where it had moved with them, or where the checkpoint has one; --code-only\n" +
			"leaves it where it is. Run again, it goes further back; rewind redo goes forward.\n" +
			"N goes that many steps as one operation; with fewer than N, nothing is changed. --to\n" +
			"goes to before the operation that rewind list --ops gives that number: all operations\n" +
			"since are taken back, or none. An operation is taken back only on the paths that it\n" +
			"changed; if one of them was changed since, undo refuses.\n" +
			app.AboutPaths,
		Examples: []app.Example{
			{Line: "rewind undo", Does: "one step back"},
			{Line: "rewind undo 3", Does: "three steps back at once"},
			{Line: "rewind undo --dry-run", Does: "what would happen"},
			{Line: "rewind undo --to 3", Does: "to before operation 3 of rewind list --ops"},
			{Line: "rewind redo", Does: "forward again"},
		},
		Paths: true,
	})
}

func NewRedo() *app.Command {
	return restoreCommand(report.RedoWords, restore.Redo, &app.Command{
		Name:  "redo",
		Usage: "[N] " + RestoreUsage,
		Short: "go forward again after undo",
		Long: "Takes the last undo back, or the last N of them, each with all the steps that it went. A\n" +
			"new restore or revert ends what can be redone. What was edited since stays; if that is\n" +
			"a path that the undo changed, redo refuses.",
		Examples: []app.Example{
			{Line: "rewind redo", Does: "take the last undo back"},
			{Line: "rewind redo 2", Does: "take the last two back"},
			{Line: "rewind list --ops", Does: "the operations"},
		},
	})
}

// NewUndoRestore and NewRedoRestore are older names: they go through the operations alone.
func NewUndoRestore() *app.Command {
	return restoreCommand(report.RestoreWords{
		Done:     "Undid the %v: %a as before it.",
		Would:    "Would undo the %v: %f as before it.",
		TakeBack: "rewind redo",
		Onward:   "Go forward again",
		TakesTo:  true,
	}, restore.UndoRestore, &app.Command{
		Name:  "undo-restore",
		Usage: "[--to N] " + RestoreUsage,
		Short: "undo the last operation",
		Long: "Undoes the last restore, revert or undo, also where work came after it; rewind undo does\n" +
			"the same where nothing did. Touches only the paths that the operation changed, and\n" +
			"refuses if one of them was changed since. Can be repeated for each operation before it.",
		Examples: []app.Example{
			{Line: "rewind undo-restore", Does: "undo the last restore"},
			{Line: "rewind undo-restore --to 3 --dry-run", Does: "what undoing everything since operation 3 would do"},
		},
	})
}

func NewRedoRestore() *app.Command {
	return restoreCommand(report.RestoreWords{
		Done:     "Redid the %v: %a as after it.",
		Would:    "Would redo the %v: %f as after it.",
		TakeBack: "rewind undo",
	}, restore.RedoRestore, &app.Command{
		Name:  "redo-restore",
		Usage: RestoreUsage,
		Short: "redo an operation that undo-restore undid",
		Long: "Redoes what undo-restore undid, as long as no new restore was made. rewind redo does\n" +
			"the same.",
		Examples: []app.Example{{Line: "rewind redo-restore", Does: "redo the last operation that was undone"}},
	})
}
