package cli

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/spf13/pflag"
)

// meant says what to type for words of other programs that are no command here:
// those of git, jj, restic and the agents' own undo.
func meant() map[string]string {
	return map[string]string{
		"add": "save", "checkpoint": "save", "commit": "save", "create": "save", "snapshot": "save", "backup": "save",
		"checkpoints": "list", "ls-files": "show last --files", "snapshots": "list", "timeline": "list",
		"annotate": "blame", "cherry-pick": "revert", "search": "grep", "find": "grep",
		"fork": "back", "conversation": "sessions", "resume": "restore last --context-only --resume",
		"reset": "restore", "rollback": "restore", "rewind": "restore",
		"delete": "gc --checkpoint", "drop": "gc --checkpoint", "remove": "gc --checkpoint", "rm": "gc --checkpoint",
		"prune": "gc", "clean": "gc", "purge": "forget",
		"tag": "pin last --name", "name": "pin last --name", "mark": "pin", "label": "pin last --name",
		"check": "verify", "fsck": "verify", "doctor": "status --check", "health": "status --check",
		"install": "config --register-hooks", "register": "config --register-hooks", "hooks": "config --register-hooks",
		"uninstall": "config --unregister-hooks", "setup": "init", "settings": "config", "set": "config",
		"info": "status", "version": "--version", "web": "ui", "page": "ui", "browse": "ui", "tui": "",
		"archive": "export", "dump": "show", "exec": "run", "execute": "run",
	}
}

// unknownCommand is the error for a word that is no command: its hint names the
// command that was probably meant.
func unknownCommand(name string) error {
	hint := "rewind help"
	if near := app.Nearest(name, commandNames()); near != "" {
		hint = "rewind " + near
	}
	others := meant()
	words, ok := others[strings.ToLower(name)]
	if !ok && hint == "rewind help" {
		words, ok = others[app.Nearest(name, slices.Sorted(maps.Keys(others)))]
	}
	if ok {
		hint = strings.TrimSpace("rewind " + words)
	}
	return &app.UsageError{Msg: "unknown command " + app.Quote(name), Hint: hint}
}

func commandNames() []string {
	names := []string{"jump"}
	for _, e := range entries() {
		if !e.hidden {
			names = append(names, e.name)
		}
	}
	return names
}

// flagText is what is wrong with a flag, in words: pflag's texts name types and functions of Go.
func flagText(err error) string {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return "unknown flag: -" + unknown.GetSpecifiedName()
	case errors.As(err, &missing) && missing.GetSpecifiedShortnames() != "":
		return "-" + missing.GetSpecifiedName() + " needs a value"
	case errors.As(err, &missing):
		return "--" + missing.GetSpecifiedName() + " needs a value"
	case errors.As(err, &invalid):
		takes := "another value"
		switch invalid.GetFlag().Value.Type() {
		case "int", "uint", "int64", "uint64":
			takes = "a whole number"
		case "bool":
			takes = "true or false"
		case "duration":
			takes = "a time such as 30s or 5m"
		}
		return "--" + invalid.GetFlag().Name + " takes " + takes + ", not " + app.Quote(invalid.GetValue())
	}
	return strings.TrimPrefix(err.Error(), "pflag: ")
}

// nearestFlag is the long flag that was probably meant by an unknown one, "" where none is near.
func nearestFlag(message string, flags *pflag.FlagSet) string {
	name, ok := strings.CutPrefix(message, "unknown flag: --")
	if !ok {
		return ""
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return app.Nearest(name, names)
}
