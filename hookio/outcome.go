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
