package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// command is one entry of the table: what a person may type, and what then runs.
type command struct {
	name     string
	usage    string // arguments after the name
	short    string // one line, for the overview
	long     string // paragraphs of the command's own help
	examples []example
	exits    []int // the codes it can end with, beside 0, 1, 2, 4 and 130

	minArgs, maxArgs int // before --; maxArgs -1: any number
	// stray is the hint for an argument too many; nil: the usage.
	stray    func(arg string) string
	paths    bool
	onePath  bool // one argument or path is all that it takes
	verbatim bool // the first argument ends the flags: what follows are a command's own words
	flags    func(*pflag.FlagSet)
	run      func(context.Context, *call) error
}

type example struct{ line, does string }

// entry makes one command. Only the one that was asked for is made.
type entry struct {
	name   string
	make   func() *command
	hidden bool
	// now is what replaces an older name: "status --check". Where it is a command and one flag, the flag runs this entry.
	// Older names go on working, with their flags, JSON and exit codes.
	now string
}

// entries is the table; groups.go has the order of the overview. It is a function, since
// help and completion read the table that they are in.
func entries() []entry {
	return []entry{
		{name: "init", make: newInit},
		{name: "save", make: newSave},
		{name: "run", make: newRun},
		{name: "watch", make: newWatch},
		{name: "list", make: newList},
		{name: "show", make: newShow},
		{name: "diff", make: newDiff},
		{name: "restore", make: newRestore},
		{name: "undo", make: newUndo},
		{name: "redo", make: newRedo},
		{name: "revert", make: newRevert},
		{name: "history", make: newHistory},
		{name: "grep", make: newGrep},
		{name: "blame", make: newBlame},
		{name: "back", make: newBack},
		{name: "sessions", make: newSessions},
		{name: "export", make: newExport},
		{name: "checkout", make: newCheckout},
		{name: "bisect", make: newBisect},
		{name: "import", make: newImport},
		{name: "pin", make: newPin},
		{name: "gc", make: newGC},
		{name: "forget", make: newForget},
		{name: "verify", make: newVerify},
		{name: "stores", make: newStores},
		{name: "status", make: newStatus},
		{name: "config", make: newConfig},
		{name: "hook", make: newHook},
		{name: "completion", make: newCompletion},
		{name: "help", make: newHelp},
		{name: "ui", make: newUI},
		{name: "man", make: newMan, hidden: true},
		{name: "pick", make: newPick, hidden: true},

		{name: "attempts", make: newAttempts, hidden: true, now: "list --attempts"},
		{name: "cat", make: newCat, hidden: true, now: "show CKPT:PATH"},
		{name: "compare", make: newCompare, hidden: true, now: "diff --base"},
		{name: "deinit", make: newDeinit, hidden: true, now: "stores rm ."},
		{name: "log", make: newLog, hidden: true, now: "list --ops"},
		{name: "ls", make: newLs, hidden: true, now: "show CKPT --files"},
		{name: "redo-restore", make: newRedoRestore, hidden: true, now: "redo"},
		{name: "rename", make: newRename, hidden: true, now: "pin CKPT --name NAME"},
		{name: "repair", make: newRepair, hidden: true, now: "verify --repair"},
		{name: "stats", make: newStats, hidden: true, now: "status -v"},
		{name: "undo-restore", make: newUndoRestore, hidden: true, now: "undo"},
		{name: "unpin", make: newUnpin, hidden: true, now: "pin --remove"},
		{name: "validate", make: newValidate, hidden: true, now: "status --check"},
	}
}

// variant is the command that a flag of another one runs: validate for status --check. The flag is taken out of args.
func variant(name string, args []string) (string, []string) {
	for _, e := range entries() {
		command, flag, ok := strings.Cut(e.now, " --")
		if !ok || command != name {
			continue
		}
		end := slices.Index(args, "--")
		if end < 0 {
			end = len(args)
		}
		i := slices.IndexFunc(args[:end], func(a string) bool { return a == "--"+flag || strings.HasPrefix(a, "--"+flag+"=") })
		switch {
		case i < 0:
		case args[i] == "--"+flag:
			return e.name, slices.Delete(slices.Clone(args), i, i+1)
		case name == "diff": // --base=CKPT is compare's own flag, too
			return e.name, args
		}
	}
	return name, args
}

// typed is how a person types what variant made of a command: list --ops.
func typed(command, variant string) string {
	for _, e := range entries() {
		if e.name == variant && command != variant {
			return e.now
		}
	}
	return command
}

// synonyms of commands.
func synonym(name string) string {
	if name == "jump" {
		return "restore"
	}
	return name
}

func lookup(name string) *command {
	name = synonym(name)
	for _, e := range entries() {
		if e.name == name {
			return e.make()
		}
	}
	return nil
}

// nearest is the name that was probably meant, "" where none is near.
func nearest(name string, names []string) string {
	best, bestDist := "", 0
	for _, n := range names {
		d := editDistance(strings.ToLower(name), strings.ToLower(n))
		if d <= max(1, min(len(name), len(n))/3) && (best == "" || d < bestDist) {
			best, bestDist = n, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours.
func editDistance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
