package cli

import (
	"strings"

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
	if near := nearest(name, commandNames()); near != "" {
		hint = "rewind " + near
	}
	if words, ok := meant()[strings.ToLower(name)]; ok {
		hint = strings.TrimSpace("rewind " + words)
	}
	return &usageError{msg: "unknown command " + quote(name), hint: hint}
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
	return nearest(name, names)
}
