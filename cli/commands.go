package cli

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/command/remote"
	"github.com/rewind-cli/rewind/cli/command/restore"
	"github.com/rewind-cli/rewind/cli/command/setup"
	"github.com/rewind-cli/rewind/cli/command/show"
	"github.com/rewind-cli/rewind/cli/command/store"
	"github.com/rewind-cli/rewind/cli/hook"
	"github.com/rewind-cli/rewind/cli/page"
	"github.com/rewind-cli/rewind/cli/picker"
)

// entry makes one command. Only the one that was asked for is made.
type entry struct {
	name   string
	make   func() *app.Command
	hidden bool
	// now is what replaces an older name: "status --check". Where it is a command and one flag, the flag runs this entry.
	// Older names go on working, with their flags, JSON and exit codes.
	now string
}

// entries is the table; groups has the order of the overview. It is a function, since
// help and completion read the table that they are in.
func entries() []entry {
	return []entry{
		{name: "init", make: setup.NewInit},
		{name: "save", make: store.NewSave},
		{name: "run", make: restore.NewRun},
		{name: "watch", make: setup.NewWatch},
		{name: "list", make: show.NewList},
		{name: "show", make: show.NewShow},
		{name: "diff", make: show.NewDiff},
		{name: "restore", make: restore.NewRestore},
		{name: "undo", make: restore.NewUndo},
		{name: "redo", make: restore.NewRedo},
		{name: "revert", make: restore.NewRevert},
		{name: "history", make: show.NewHistory},
		{name: "grep", make: show.NewGrep},
		{name: "blame", make: show.NewBlame},
		{name: "back", make: restore.NewBack},
		{name: "sessions", make: show.NewSessions},
		{name: "export", make: store.NewExport},
		{name: "checkout", make: restore.NewCheckout},
		{name: "bisect", make: restore.NewBisect},
		{name: "import", make: store.NewImport},
		{name: "pin", make: store.NewPin},
		{name: "remote", make: remote.NewRemote},
		{name: "push", make: remote.NewPush},
		{name: "pull", make: remote.NewPull},
		{name: "clone", make: remote.NewClone},
		{name: "share", make: remote.NewShare},
		{name: "gc", make: store.NewGC},
		{name: "forget", make: store.NewForget},
		{name: "verify", make: store.NewVerify},
		{name: "stores", make: store.NewStores},
		{name: "rescue", make: store.NewRescue},
		{name: "status", make: setup.NewStatus},
		{name: "config", make: setup.NewConfig},
		{name: "hook", make: hook.NewHook},
		{name: "completion", make: newCompletion},
		{name: "help", make: newHelp},
		{name: "ui", make: page.NewUI},
		{name: "man", make: newMan, hidden: true},
		{name: "pick", make: picker.NewPick, hidden: true},

		{name: "attempts", make: show.NewAttempts, hidden: true, now: "list --attempts"},
		{name: "cat", make: show.NewCat, hidden: true, now: "show CKPT:PATH"},
		{name: "compare", make: show.NewCompare, hidden: true, now: "diff --base"},
		{name: "deinit", make: store.NewDeinit, hidden: true, now: "stores rm ."},
		{name: "log", make: show.NewLog, hidden: true, now: "list --ops"},
		{name: "ls", make: show.NewLs, hidden: true, now: "show CKPT --files"},
		{name: "redo-restore", make: restore.NewRedoRestore, hidden: true, now: "redo"},
		{name: "rename", make: store.NewRename, hidden: true, now: "pin CKPT --name NAME"},
		{name: "repair", make: store.NewRepair, hidden: true, now: "verify --repair"},
		{name: "stats", make: setup.NewStats, hidden: true, now: "status -v"},
		{name: "undo-restore", make: restore.NewUndoRestore, hidden: true, now: "undo"},
		{name: "unpin", make: store.NewUnpin, hidden: true, now: "pin --remove"},
		{name: "validate", make: setup.NewValidate, hidden: true, now: "status --check"},
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

// synonym is the command that another program's word (jump) means here; any other name is itself.
func synonym(name string) string {
	if name == "jump" {
		return "restore"
	}
	return name
}

func lookup(name string) *app.Command {
	name = synonym(name)
	for _, e := range entries() {
		if e.name == name {
			return e.make()
		}
	}
	return nil
}

// group is a part of the overview: commands that a person looks for together.
type group struct {
	title    string
	commands []string
}

// groups are all of them, in the order of the overview and of rewind(1).
func groups() []group {
	return []group{
		{"Start", []string{"init", "status", "config", "import"}},
		{"Take checkpoints", []string{"save", "run", "watch"}},
		{"Look", []string{"list", "show", "diff", "history", "blame", "grep", "bisect", "sessions", "ui"}},
		{"Go back", []string{"undo", "redo", "restore", "revert", "back", "rescue"}},
		{"Keep", []string{"pin", "checkout", "export"}},
		{"Other machines", []string{"remote", "push", "pull", "clone", "share"}},
		{"The store", []string{"gc", "forget", "verify", "stores"}},
		{"For programs and shells", []string{"hook", "completion", "help"}},
	}
}

// grouped calls visit for each group, with those of its commands that there are.
// A command of no group comes last, so that it is never missed.
func grouped(visit func(title string, commands []*app.Command)) {
	made := map[string]*app.Command{}
	for _, e := range entries() {
		if !e.hidden {
			made[e.name] = e.make()
		}
	}
	for _, g := range groups() {
		var commands []*app.Command
		for _, name := range g.commands {
			if c := made[name]; c != nil {
				commands = append(commands, c)
				delete(made, name)
			}
		}
		visit(g.title, commands)
	}
	var rest []*app.Command
	for _, c := range made {
		rest = append(rest, c)
	}
	slices.SortFunc(rest, func(a, b *app.Command) int { return strings.Compare(a.Name, b.Name) })
	if len(rest) > 0 {
		visit("Others", rest)
	}
}
