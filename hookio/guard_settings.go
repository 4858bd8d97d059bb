package hookio

import (
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// Registered are the files by which agents run our hooks: the settings and extensions of all agents, what else
// decides there whether hooks run, and the program itself. The guard plays a tool call on them and asks what is lost.
type Registered interface {
	// Files lists their absolute paths.
	Files() []string
	// Named gives those that a path leads to, by whatever name. last says that a link in the path's last component is followed, as
	// what writes does and what removes does not.
	Named(path string, last bool) []string
	// Read is the content of any regular file, nil where there is none or it is too large.
	Read(path string) []byte
	// Lost says what of ours would no longer run if these files had these contents, nil standing for a file that is
	// gone; "" for nothing.
	Lost(after map[string][]byte) string
}

// outcome is what a tool call makes of registered files, and of others that it may copy from, as far as its text tells.
type outcome struct {
	g      Guarded
	after  map[string]func() []byte // what was written or removed: read late, since most calls touch none of these files
	ours   map[string][]byte        // of the registered ones, the content; nil: gone, or not known
	unseen []string                 // registered files whose content is not known
}

// maxOutcome bounds the files of one tool call that are followed.
const maxOutcome = 256

// unknown is a content that the call's text does not tell, or that is not there.
func unknown() []byte { return nil }

func constant(content []byte) func() []byte { return func() []byte { return content } }

// set gives a file a content; gone says that the name is removed.
func (o *outcome) set(path string, content func() []byte, gone bool) {
	if path == "" || len(o.after) >= maxOutcome {
		return
	}
	if o.after == nil {
		o.after, o.ours = map[string]func() []byte{}, map[string][]byte{}
	}
	o.after[path] = content
	for _, file := range o.g.Registered.Named(path, !gone) {
		o.ours[file] = content()
		o.unseen = slices.DeleteFunc(o.unseen, func(f string) bool { return f == file })
		if o.ours[file] == nil && !gone {
			o.unseen = append(o.unseen, file)
		}
	}
}

func (o *outcome) remove(path string) { o.set(path, unknown, true) }

// content is that of a file at this point of the call.
func (o *outcome) content(path string) func() []byte {
	if content, ok := o.after[path]; ok {
		return content
	}
	if len(o.ours) > 0 {
		for _, file := range o.g.Registered.Named(path, true) {
			if content, ok := o.ours[file]; ok {
				return constant(content)
			}
		}
	}
	return func() []byte { return o.g.Registered.Read(path) }
}

// refusal is the answer to the call as a whole: what one command takes away another may put back.
func (o *outcome) refusal() *Refusal {
	if len(o.ours) == 0 {
		return nil
	}
	lost := o.g.Registered.Lost(o.ours)
	switch {
	case lost == "":
		return nil
	case len(o.unseen) > 0:
		return &Refusal{"rewind: what this makes of " + show(tail(o.unseen[0])) + " cannot be checked before it runs, and saving checkpoints depends on that file (" + oneLine(lost) +
			"); change it with the edit tool, whose text can be checked, or ask the user to do it"}
	}
	return &Refusal{"rewind: this would switch off what saves checkpoints: " + oneLine(lost) + "; leave that in, or ask the user to do it"}
}

// offSwitches are the settings of clients that keep all hooks from running.
var offSwitches = [...]string{"disableAllHooks", "allowManagedHooksOnly"}

// suppose takes a script that writes a settings file in a way that cannot be followed, and that speaks of a switch, to
// turn that on there.
func (o *outcome) suppose(script string) (any bool) {
	for _, name := range offSwitches {
		if strings.Contains(script, name) {
			for _, file := range o.unseen {
				o.ours[file], any = []byte(`{"`+name+`": true}`), true
			}
		}
	}
	return any
}

// edit plays a call of a tool that is no shell.
func (o *outcome) edit(t *Tool, cwd string) {
	if o.g.Registered == nil {
		return
	}
	if t.Patch != "" {
		o.patch(t.Patch, cwd)
		return
	}
	files := make([]string, len(t.Files))
	for i, f := range t.Files {
		files[i] = o.g.file(cwd, f)
	}
	name := strings.ToLower(t.Name)
	says := func(verbs ...string) bool {
		return slices.ContainsFunc(verbs, func(verb string) bool { return strings.Contains(name, verb) })
	}
	if says("move", "rename", "copy") && len(files) == 2 {
		o.put(files[0], files[1], !says("copy"))
		return
	}
	for _, file := range files {
		switch {
		case t.Rewrite != nil:
			o.rewrite(file, t.Rewrite)
		case says("delete", "remove"):
			o.gone(file, true, true)
		default:
			o.set(file, unknown, false)
		}
	}
}

// rewrite plays an edit's own words. Where a text to be replaced is there more than once, and the edit does not ask for
// all, tools differ: then both outcomes have to keep the hooks.
func (o *outcome) rewrite(file string, r *Rewrite) {
	if r.content != nil {
		o.set(file, constant([]byte(*r.content)), false)
		return
	}
	before := o.content(file)
	played := func(all bool) func() []byte {
		return func() []byte {
			text := strings.TrimSuffix(strings.ReplaceAll(string(before()), "\r\n", "\n"), "\n") + "\n"
			if made, ok := r.apply(text, all); ok && r.found(text, all) {
				return []byte(made)
			}
			return nil
		}
	}
	if o.set(file, played(false), false); o.refusal() == nil {
		o.set(file, played(true), false)
	}
}

func (o *outcome) patch(text, cwd string) {
	for _, c := range readPatch(text).changes {
		file := shell.Absolute(cwd, c.file)
		switch {
		case c.gone:
			o.remove(file)
			continue
		case c.rewrite.known():
			o.rewrite(file, &c.rewrite)
		}
		if c.to != "" {
			o.put(file, shell.Absolute(cwd, c.to), true)
		}
	}
}

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

func (o *outcome) each(cwd string, w shell.Word, do func(file string)) {
	for _, file := range o.paths(cwd, w) {
		do(file)
	}
}

func (o *outcome) eachOf(cwd string, words []shell.Word, do func(file string)) {
	for _, w := range words {
		o.each(cwd, w, do)
	}
}

// paths are the files that a word names; of a pattern the registered ones that match it.
func (o *outcome) paths(cwd string, w shell.Word) (files []string) {
	switch {
	case w.Dynamic || cwd == "" && !isAbs(w.Text): // of $DIR/.claude/settings.json the end is known
		for _, file := range o.g.Registered.Files() {
			if strings.HasSuffix("/"+strings.TrimPrefix(w.Text, "./"), "/"+tail(file)) || path.Base(file) == shell.Found(w.Text) {
				files = append(files, file)
			}
		}
		return files
	case w.Pattern == "":
		return []string{shell.Absolute(cwd, w.Text)}
	}
	for _, pattern := range expandBraces(w.Pattern) {
		full := splitAbs(pattern)
		if full == nil {
			full = splitAbs(escapeGlob(cwd) + "/" + pattern)
		}
		for _, file := range o.g.Registered.Files() {
			// The file, or a directory around it, for what removes trees.
			if parts := splitAbs(file); len(full) > 0 && len(full) <= len(parts) && slices.EqualFunc(full, parts[:len(full)], globPart) {
				files = append(files, "/"+strings.Join(parts[:len(full)], "/"))
			}
		}
	}
	return files
}

// gone takes a file away, or leaves open what becomes of it; tree says that a directory goes with all that is below.
func (o *outcome) gone(path string, removed, tree bool) {
	o.set(path, unknown, removed)
	if tree {
		for _, f := range o.below(path) {
			o.remove(f.file)
		}
	}
}

// registeredFile is one in a directory, and its path from there.
type registeredFile struct{ file, rest string }

// below are the registered files in a directory, as the paths are written and as their links lead.
func (o *outcome) below(dir string) (found []registeredFile) {
	written, real := splitAbs(dir), []string(nil)
	if o.g.Resolve != nil {
		real = splitAbs(o.g.Resolve(dir, false))
	}
	for _, file := range o.g.Registered.Files() {
		parts := splitAbs(file)
		if len(written) < len(parts) && inside(parts, written) {
			found = append(found, registeredFile{file, strings.Join(parts[len(written):], "/")})
		} else if real != nil {
			if parts = splitAbs(o.g.Resolve(file, true)); len(real) < len(parts) && inside(parts, real) {
				found = append(found, registeredFile{file, strings.Join(parts[len(real):], "/")})
			}
		}
	}
	return found
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

// switches are commands of agents' own programs that keep hooks from running: the program, and words that are all in its line.
var switches = [...][]string{
	{"claude", "plugin", "disable", "rewind"}, {"claude", "plugin", "uninstall", "rewind"}, {"claude", "plugin", "remove", "rewind"},
	{"droid", "plugin", "disable", "rewind"}, {"droid", "plugin", "uninstall", "rewind"},
	{"claude", "config", "set", "disableAllHooks", "true"}, {"gemini", "hooks", "disable"}, {"qwen", "hooks", "disable"}, {"codex", "features", "disable", "hooks"},
	{"pi", "remove", "rewind"}, {"pi", "uninstall", "rewind"},
}

// switchesOff refuses such a command.
func switchesOff(inv *shell.Invocation) *Refusal {
	for _, s := range switches {
		if inv.Name == s[0] && !slices.ContainsFunc(s[1:], func(word string) bool {
			return !slices.ContainsFunc(inv.Args, func(a shell.Word) bool { return strings.Contains(a.Text, word) })
		}) {
			return &Refusal{"rewind: '" + strings.Join(s, " ") + "' would switch off what saves checkpoints; ask the user to do it"}
		}
	}
	return nil
}
