package shell

import (
	"slices"
	"strings"
)

// target is a path that a command changes.
type target struct {
	Word        Word
	RemovesTree bool // with everything below it
	Moves       bool
}

// effect is what a program does to its operands.
type effect uint8

const (
	removes  effect = 1 << iota // deletes them
	trees                       // deletes directories with all that is in them
	rewrites                    // changes what is in them
	affects                     // changes their names or what is known of them
)

func (inv *Invocation) effect() effect {
	switch inv.Name {
	case "rm":
		if inv.HasFlag('r', "--recursive") || inv.HasFlag('R') {
			return removes | trees
		}
		return removes
	case "unlink", "rmdir", "shred":
		return removes
	case "remove-item", "ri", "rd", "del", "erase", "trash", "trash-put", "rimraf":
		return removes | trees
	case "truncate", "tee":
		return rewrites
	case "sed", "perl", "ruby":
		if inv.inPlace() {
			return rewrites
		}
	case "mv", "chmod", "chown", "touch":
		return affects
	}
	return 0
}

// Removes reports whether the program deletes its operands.
func (inv *Invocation) Removes() bool { return inv.effect()&removes != 0 }

// RemovesTrees reports whether the program deletes directories with all that is in them.
func (inv *Invocation) RemovesTrees() bool { return inv.effect()&trees != 0 }

// Rewrites reports whether the program changes what is in its operands.
func (inv *Invocation) Rewrites() bool { return inv.effect()&rewrites != 0 }

// Changes reports whether the program changes its operands.
func (inv *Invocation) Changes() bool { return inv.effect() != 0 }

// Writes lists the operands that a command changes.
func (inv *Invocation) Writes() []target {
	operands, into := inv.operands()
	var out []target
	add := func(words []Word, removesTree, moves bool) {
		for _, w := range words {
			out = append(out, target{w, removesTree, moves})
		}
	}
	switch inv.Name {
	case "touch", "mkdir", "chmod", "chown", "chgrp", "chattr", "mkfifo", "clear-content", "set-content", "add-content", "out-file", "new-item", "ed", "ex", "vim", "vi", "nano", "sponge", "strip", "upx":
		add(operands, false, false)
	case "patch":
		add(operands[:min(1, len(operands))], false, false)
	case "awk", "gawk", "mawk", "yq", "json":
		if inv.HasWord("inplace") || inv.Name == "yq" && inv.HasFlag('i', "--inplace") || inv.Name == "json" && inv.HasFlag('I') {
			add(operands, false, false)
		}
	case "git":
		dir, sub, args := inv.Git()
		switch sub {
		case "checkout", "restore", "rm", "mv":
			g := &Invocation{Args: args}
			operands, _ = g.operands()
			for i := range operands {
				operands[i].Text, operands[i].Dynamic = Absolute(dir, operands[i].Text), operands[i].Dynamic || dir == ""
			}
			add(operands, false, false)
		}
	case "mv", "move-item", "rename", "rename-item":
		operands, into = inv.Copies()
		add(operands, true, true)
	case "cp", "install", "rsync", "scp", "ln", "copy-item":
		_, into = inv.Copies()
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
	if inv.Removes() || inv.Rewrites() {
		add(operands, inv.RemovesTrees(), false)
	}
	if into != nil {
		add([]Word{*into}, false, false)
	}
	if out == nil && !slices.Contains(readers, inv.Name) {
		add(inv.outputs(), false, false)
	}
	return out
}

// outputs are the files that options name for what a program writes, as those of compilers and curl do.
func (inv *Invocation) outputs() (files []Word) {
	for i, a := range inv.Args {
		option, value, joined := strings.Cut(a.Text, "=")
		switch long := strings.HasPrefix(option, "--out"); {
		case option == "--":
			return files
		case long && joined:
			files = append(files, Word{Text: value, Dynamic: a.Dynamic})
		case strings.HasPrefix(option, "-o") && len(option) > 2:
			files = append(files, Word{Text: a.Text[2:], Dynamic: a.Dynamic})
		case i+1 == len(inv.Args):
		case long, option == "-o", option == "-O", strings.EqualFold(option, "-outfile"),
			strings.HasPrefix(option, "-") && strings.HasSuffix(option, "o") && (len(option) == 3 || inv.Name == "curl"): // as -so
			files = append(files, inv.Args[i+1])
		}
	}
	return files
}

// Copies reads the operands of a program that copies, links or moves: the sources, and the target, nil for none.
func (inv *Invocation) Copies() (from []Word, to *Word) {
	from, to = inv.operands()
	if to == nil && len(from) > 1 {
		last := from[len(from)-1]
		from, to = from[:len(from)-1], &last
	}
	return from, to
}

// Printed is what a program writes to standard output, where the command line says it: echo, printf, and cat of
// files and here-documents. read gives a file's content, nil where it is not known.
func (inv *Invocation) Printed(read func(Word) []byte) (text []byte, known bool) {
	args := inv.Args
	for _, a := range args {
		if a.Dynamic || a.Pattern != "" && inv.Name != "echo" {
			return nil, false
		}
	}
	switch inv.Name {
	case "", ":", "true":
		return []byte{}, true
	case "echo":
		end := "\n"
		if len(args) > 0 && args[0].Text == "-n" {
			args, end = args[1:], ""
		}
		for i, a := range args {
			if i > 0 {
				text = append(text, ' ')
			}
			text = append(text, a.Text...)
		}
		return append(text, end...), !strings.Contains(string(text), `\`) && (len(args) == 0 || !strings.HasPrefix(args[0].Text, "-"))
	case "printf":
		switch {
		case len(args) == 2 && (args[0].Text == "%s" || args[0].Text == `%s\n`):
			return []byte(args[1].Text + strings.ReplaceAll(args[0].Text[2:], `\n`, "\n")), true
		case len(args) == 1 && !strings.ContainsAny(strings.ReplaceAll(args[0].Text, `\n`, ""), `%\`):
			return []byte(strings.ReplaceAll(args[0].Text, `\n`, "\n")), true
		}
	case "cat":
		for _, a := range args {
			content := read(a)
			if content == nil {
				return nil, false
			}
			text = append(text, content...)
		}
		for _, r := range inv.Redirects {
			switch {
			case r.Op == "<<" && len(args) == 0:
				text = []byte(r.Body)
				known = r.Target.quoted || !strings.ContainsAny(r.Body, "$`\\")
			case r.Op == "<<<" && len(args) == 0:
				text, known = []byte(r.Target.Text+"\n"), !r.Target.Dynamic
			case r.Op == "<" && len(args) == 0:
				text = read(r.Target)
				known = text != nil
			}
		}
		return text, known || len(args) > 0
	}
	return nil, false
}

// OwnerLoses reports whether chmod takes a permission, 'r' or 'x', from a file's owner, and the files.
func (inv *Invocation) OwnerLoses(permission byte) (files []Word, loses bool) {
	mode := ""
	for _, a := range inv.Args {
		switch {
		case mode != "":
			files = append(files, a)
		case strings.HasPrefix(a.Text, "--") || strings.Trim(a.Text, "-Rvcf") == "":
		default:
			mode = a.Text
		}
	}
	if AllDigits(mode) {
		bit := byte(4)
		if permission == 'x' {
			bit = 1
		}
		mode = "00" + mode
		return files, (mode[len(mode)-3]-'0')&bit == 0
	}
	for clause := range strings.SplitSeq(mode, ",") {
		at := strings.IndexAny(clause, "+-=")
		if at < 0 || at > 0 && !strings.ContainsAny(clause[:at], "ua") {
			continue
		}
		has := strings.IndexByte(clause[at:], permission) > 0
		loses = clause[at] == '-' && has || clause[at] == '=' && !has || loses && !has
	}
	return files, loses
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
