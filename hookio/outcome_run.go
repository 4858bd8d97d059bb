package hookio

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// run plays one program of a command line.
func (o *outcome) run(inv *shell.Invocation) {
	if o.g.Registered == nil {
		return
	}
	for _, r := range inv.Redirects {
		switch r.Op {
		case ">", ">|", "&>", "<>", ">&", ">>", "&>>":
			o.each(inv.Dir, r.Target, func(file string) { o.set(file, o.printed(inv, file, strings.HasSuffix(r.Op, ">>")), false) })
		}
	}
	switch inv.Name {
	case "mkdir", "chown", "chgrp", "touch":
	case "chmod":
		if files, loses := inv.OwnerLoses('r'); loses {
			o.eachOf(inv.Dir, files, func(file string) { o.gone(file, true, inv.HasFlag('R', "--recursive")) })
		}
		if files, loses := inv.OwnerLoses('x'); loses {
			o.eachOf(inv.Dir, files, func(file string) {
				if shell.Program(file) == "rewind" {
					o.remove(file)
				}
			})
		}
	case "apply_patch", "applypatch":
		for _, r := range inv.Redirects {
			o.patch(r.Body, inv.Dir)
		}
		for _, a := range inv.Args {
			o.patch(a.Text, inv.Dir)
		}
	case "sed", "perl", "ruby":
		files, apply := inv.InPlace()
		o.eachOf(inv.Dir, files, func(file string) {
			before := o.content(file)
			o.set(file, func() []byte {
				if text := before(); apply != nil && text != nil {
					return []byte(apply(string(text)))
				}
				return nil
			}, false)
		})
		if len(files) == 0 {
			o.interpreter(inv)
		}
	case "python", "python3", "python2", "node", "nodejs", "deno", "bun", "php", "lua":
		o.interpreter(inv)
	case "cp", "install", "rsync", "scp", "ln", "copy-item", "mv", "move-item", "rename", "rename-item":
		o.copies(inv)
	case "find", "fd", "fdfind":
		if inv.HasWord("-delete") {
			o.found(inv.Dir, shell.FindPlaces(inv.Args), inv.Args)
		}
	default:
		o.patched(inv)
		o.unpacked(inv)
		for _, w := range inv.Writes() {
			o.each(inv.Dir, w.Word, func(file string) { o.gone(file, inv.Removes(), w.RemovesTree) })
		}
	}
	if inv.ByFind != nil && inv.Removes() {
		o.found(inv.Dir, inv.ByFind, inv.FindNames)
	}
	if inv.ByXargs && inv.Changes() {
		o.eachOf(inv.Dir, inv.Piped, func(file string) { o.gone(file, inv.Removes(), inv.HasFlag('r', "--recursive")) })
	}
}

// patched plays patch and git apply, with the text that they are given.
func (o *outcome) patched(inv *shell.Invocation) {
	var files []shell.Word
	dir := inv.Dir
	switch inv.Name {
	case "patch":
	case "git":
		sub := ""
		if dir, sub, files = inv.Git(); sub != "apply" {
			return
		}
	default:
		return
	}
	for _, r := range inv.Redirects {
		switch r.Op {
		case "<":
			files = append(files, r.Target)
		case "<<", "<<-":
			o.patch(r.Body, dir)
		}
	}
	o.eachOf(dir, files, func(file string) { o.patch(string(o.content(file)()), dir) })
}

// unpacked plays what replaces files that its line does not name: git, of a repository outside the project (one that
// holds the project's own settings holds the hooks as well), and archives that are unpacked beside the settings.
func (o *outcome) unpacked(inv *shell.Invocation) {
	dirs := []shell.Word{{Text: inv.Dir}}
	var members []shell.Word // what the line names of an archive, among other arguments
	beside := true
	switch inv.Name {
	case "git":
		dir, sub, args := inv.Git()
		g := &shell.Invocation{Args: args}
		switch {
		case sub == "checkout" || sub == "switch":
			beside = g.HasFlag('b') || g.HasFlag('B') || g.HasFlag('c', "--create", "--orphan")
		case sub == "restore":
			beside = g.HasFlag('S', "--staged") && !g.HasFlag('W', "--worktree")
		case sub == "reset":
			beside = !g.HasFlag(0, "--hard", "--merge", "--keep")
		case sub == "clean":
			beside = g.HasFlag('n', "--dry-run")
		case sub == "stash":
			beside = len(args) > 0 && !strings.HasPrefix(args[0].Text, "-") && args[0].Text != "push" && args[0].Text != "save"
		}
		if beside {
			return
		}
		dirs[0].Text = dir
		if at := slices.IndexFunc(args, func(a shell.Word) bool { return a.Text == "--" }); at >= 0 && sub != "stash" && at+1 < len(args) {
			dirs = slices.Clone(args[at+1:])
			for i := range dirs {
				dirs[i].Text = shell.Absolute(dir, dirs[i].Text)
			}
		}
	case "tar", "bsdtar", "unzip":
		if !inv.Unpacks() {
			return
		}
		if !inv.HasFlag('X', "--exclude", "--exclude-from") && (inv.Name != "unzip" || !inv.HasFlag('x')) {
			members = inv.Args
		}
		for i, a := range inv.Args[:max(0, len(inv.Args)-1)] {
			if a.Text == "-C" || a.Text == "--directory" || a.Text == "-d" && inv.Name == "unzip" {
				dirs = append(dirs[:0], inv.Args[i+1])
			}
		}
	default:
		return
	}
	o.eachOf(inv.Dir, dirs, func(dir string) {
		for _, f := range o.below(dir) {
			named := slices.ContainsFunc(members, func(a shell.Word) bool {
				member := shell.Absolute(dir, a.Text)
				return strings.HasPrefix(member, dir+"/") && inside(splitAbs(f.file), splitAbs(member))
			})
			if named || beside && !strings.Contains(f.rest, "/") && shell.Program(f.file) != "rewind" || !beside && !inside(splitAbs(f.file), splitAbs(o.g.Root)) {
				o.set(f.file, unknown, false)
			}
		}
	})
}

// printed is a file's content once a program has written its standard output there.
func (o *outcome) printed(inv *shell.Invocation, file string, appends bool) func() []byte {
	before := o.content(file)
	return func() []byte {
		text, known := inv.Printed(func(w shell.Word) []byte {
			if files := o.paths(inv.Dir, w); len(files) == 1 {
				return o.content(files[0])()
			}
			return nil
		})
		switch {
		case !known:
			return nil
		case appends:
			return append(slices.Clone(before()), text...)
		}
		return text
	}
}

// copies plays programs that put one file in another's place.
func (o *outcome) copies(inv *shell.Invocation) {
	from, to := inv.Copies()
	if to == nil || inv.Name != "ln" && inv.HasFlag('n', "--no-clobber", "--dry-run") {
		return
	}
	moves := inv.Name == "mv" || strings.HasPrefix(inv.Name, "move") || strings.HasPrefix(inv.Name, "rename")
	o.each(inv.Dir, *to, func(target string) {
		o.mirrored(inv, from, target)
		for _, w := range from {
			source := inv.Dir
			if inv.Name == "ln" && inv.HasFlag('s', "--symbolic") { // relative to the link
				source = target[:max(0, strings.LastIndexByte(target, '/'))]
			}
			o.each(source, w, func(source string) { o.put(source, target, moves) })
		}
	})
}

// mirrored takes the registered files away that rsync --delete does not find in the one directory that it copies.
func (o *outcome) mirrored(inv *shell.Invocation, from []shell.Word, target string) {
	if inv.Name != "rsync" || len(from) != 1 || from[0].Dynamic || from[0].Pattern != "" || strings.Contains(from[0].Text, ":") || !strings.HasSuffix(strings.TrimSuffix(from[0].Text, "."), "/") {
		return
	}
	deletes := false
	for _, a := range inv.Args {
		switch {
		case strings.HasPrefix(a.Text, "--del"):
			deletes = true
		case strings.HasPrefix(a.Text, "--exclude"), strings.HasPrefix(a.Text, "--include"), strings.HasPrefix(a.Text, "--fi"), strings.HasPrefix(a.Text, "-f"), strings.HasPrefix(a.Text, "-F"), a.Text == "-C":
			return // what it leaves alone is not known
		}
	}
	for _, f := range o.below(target) {
		if deletes && o.content(shell.Absolute(inv.Dir, from[0].Text)+"/"+f.rest)() == nil {
			o.remove(f.file)
		}
	}
}

// put copies or moves a file, or a tree, to a file or into a directory.
func (o *outcome) put(source, target string, moves bool) {
	content, base := o.content(source), source[strings.LastIndexByte(source, '/')+1:]
	if within := target + "/" + base; len(o.g.Registered.Named(within, true)) > 0 {
		target = within
	}
	for _, f := range o.below(target) {
		for _, rest := range []string{f.rest, strings.TrimPrefix(f.rest, base+"/")} {
			if made := o.content(source + "/" + rest); made() != nil {
				o.set(f.file, made, false)
				break
			}
		}
	}
	o.set(target, content, false)
	if moves {
		o.gone(source, true, true)
	}
}

// found takes the registered files away that find removes below its places: of those whose names it restricts, what matches.
func (o *outcome) found(cwd string, places, args []shell.Word) {
	var names []string
	for i, a := range args {
		if (a.Text == "-name" || a.Text == "-iname") && i+1 < len(args) {
			names = append(names, args[i+1].Text)
		}
	}
	o.eachOf(cwd, places, func(dir string) {
		for _, f := range o.below(dir) {
			base := f.rest[strings.LastIndexByte(f.rest, '/')+1:]
			if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return globPart(n, base) }) {
				o.remove(f.file)
			}
		}
	})
}
