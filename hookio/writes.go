package hookio

import "strings"

// target is a path that a command changes.
type target struct {
	word        word
	removesTree bool // with everything below it
	moves       bool
}

// removes reports whether the program deletes its operands.
func (inv *invocation) removes() bool {
	switch inv.name {
	case "rm", "unlink", "rmdir", "shred", "trash", "rimraf", "trash-put", "remove-item", "ri", "rd", "del", "erase":
		return true
	}
	return false
}

// changes reports whether the program changes its operands.
func (inv *invocation) changes() bool {
	switch inv.name {
	case "mv", "truncate", "chmod", "chown", "tee", "touch":
		return true
	case "sed", "perl", "ruby":
		return inv.inPlace()
	}
	return inv.removes()
}

// writes lists the operands that a command changes.
func (inv *invocation) writes() []target {
	operands, into := inv.operands()
	var out []target
	add := func(words []word, removesTree, moves bool) {
		for _, w := range words {
			out = append(out, target{w, removesTree, moves})
		}
	}
	switch inv.name {
	case "rm", "remove-item", "ri", "rd", "del", "erase", "trash", "trash-put", "rimraf":
		recursive := inv.name != "rm" || inv.hasFlag('r', "--recursive") || inv.hasFlag('R')
		add(operands, recursive, false)
	case "unlink", "rmdir", "shred", "truncate", "touch", "mkdir", "tee", "chmod", "chown", "chgrp", "chattr", "mkfifo", "clear-content", "set-content", "add-content", "out-file", "new-item", "ed", "ex", "vim", "vi", "nano":
		add(operands, false, false)
	case "mv", "move-item", "rename", "rename-item":
		if into == nil && len(operands) > 1 {
			last := operands[len(operands)-1]
			operands, into = operands[:len(operands)-1], &last
		}
		add(operands, true, true)
	case "cp", "install", "rsync", "scp", "ln", "copy-item":
		if into == nil && len(operands) > 1 {
			into = &operands[len(operands)-1]
		}
	case "sed", "perl", "ruby":
		if inv.inPlace() {
			add(operands, false, false)
		}
	case "dd":
		for _, w := range inv.args {
			if rest, ok := strings.CutPrefix(w.text, "of="); ok {
				add([]word{{text: rest, dynamic: w.dynamic}}, false, false)
			}
		}
	case "tar", "bsdtar", "unzip":
		for i, w := range inv.args {
			if (w.text == "-C" || w.text == "-d" || w.text == "--directory") && i+1 < len(inv.args) && (inv.name == "unzip" || inv.destroys() != "") {
				add(inv.args[i+1:i+2], false, false)
			}
		}
	}
	if into != nil {
		add([]word{*into}, false, false)
	}
	return out
}

// operands are the arguments that are no options; into is the value of
// -t or --target-directory, which cp, mv and install have.
func (inv *invocation) operands() (operands []word, into *word) {
	for i := 0; i < len(inv.args); i++ {
		switch a := inv.args[i]; {
		case a.text == "--":
			return append(operands, inv.args[i+1:]...), into
		case a.text == "-t" || a.text == "--target-directory":
			if i+1 < len(inv.args) && (inv.name == "cp" || inv.name == "mv" || inv.name == "install" || inv.name == "ln") {
				i++
				into = &inv.args[i]
			}
		case strings.HasPrefix(a.text, "--target-directory="):
			into = &word{text: strings.TrimPrefix(a.text, "--target-directory="), dynamic: a.dynamic}
		case strings.HasPrefix(a.text, "-") && a.text != "-":
		default:
			operands = append(operands, a)
		}
	}
	return operands, into
}
