package shell

import "strings"

// target is a path that a command changes.
type target struct {
	Word        Word
	RemovesTree bool // with everything below it
	Moves       bool
}

// removes reports whether the program deletes its operands.
func (inv *Invocation) Removes() bool {
	switch inv.Name {
	case "rm", "unlink", "rmdir", "shred", "trash", "rimraf", "trash-put", "remove-item", "ri", "rd", "del", "erase":
		return true
	}
	return false
}

// changes reports whether the program changes its operands.
func (inv *Invocation) Changes() bool {
	switch inv.Name {
	case "mv", "truncate", "chmod", "chown", "tee", "touch":
		return true
	case "sed", "perl", "ruby":
		return inv.inPlace()
	}
	return inv.Removes()
}

// writes lists the operands that a command changes.
func (inv *Invocation) Writes() []target {
	operands, into := inv.operands()
	var out []target
	add := func(words []Word, removesTree, moves bool) {
		for _, w := range words {
			out = append(out, target{w, removesTree, moves})
		}
	}
	switch inv.Name {
	case "rm", "remove-item", "ri", "rd", "del", "erase", "trash", "trash-put", "rimraf":
		recursive := inv.Name != "rm" || inv.HasFlag('r', "--recursive") || inv.HasFlag('R')
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
		for _, w := range inv.Args {
			if rest, ok := strings.CutPrefix(w.Text, "of="); ok {
				add([]Word{{Text: rest, Dynamic: w.Dynamic}}, false, false)
			}
		}
	case "tar", "bsdtar", "unzip":
		for i, w := range inv.Args {
			if (w.Text == "-C" || w.Text == "-d" || w.Text == "--directory") && i+1 < len(inv.Args) && (inv.Name == "unzip" || inv.destroys() != "") {
				add(inv.Args[i+1:i+2], false, false)
			}
		}
	}
	if into != nil {
		add([]Word{*into}, false, false)
	}
	return out
}

// operands are the arguments that are no options; into is the value of
// -t or --target-directory, which cp, mv and install have.
func (inv *Invocation) operands() (operands []Word, into *Word) {
	for i := 0; i < len(inv.Args); i++ {
		switch a := inv.Args[i]; {
		case a.Text == "--":
			return append(operands, inv.Args[i+1:]...), into
		case a.Text == "-t" || a.Text == "--target-directory":
			if i+1 < len(inv.Args) && (inv.Name == "cp" || inv.Name == "mv" || inv.Name == "install" || inv.Name == "ln") {
				i++
				into = &inv.Args[i]
			}
		case strings.HasPrefix(a.Text, "--target-directory="):
			into = &Word{Text: strings.TrimPrefix(a.Text, "--target-directory="), Dynamic: a.Dynamic}
		case strings.HasPrefix(a.Text, "-") && a.Text != "-":
		default:
			operands = append(operands, a)
		}
	}
	return operands, into
}
