package hookio

import (
	"path"
	"strings"
)

// Protected is a directory that tool calls may read but not change: a store, or
// the account's own directory.
type Protected struct {
	Dir string // absolute
	// Survives says that what it holds has a second name elsewhere: removing a
	// directory around it is then not refused, only what aims at it.
	Survives bool
}

// Guarded is what Guard needs to know of a project.
type Guarded struct {
	Root      string // absolute
	Protected []Protected
	Home      string // for ~ and $HOME; may be ""
}

// Refusal is why a tool call is blocked. Reason is one sentence for the agent.
type Refusal struct{ Reason string }

// Guard refuses a tool call before it runs where it would write into a
// protected directory, remove it, or run rewind's own commands that change
// checkpoints or put files back. nil lets it through; so does everything that
// only reads, and what cannot be told from the text: this is a rail, not a wall.
func Guard(e *Event, g Guarded) *Refusal {
	if e.Kind != PreTool {
		return nil
	}
	t := &e.Tool
	switch t.Class {
	case Read, Subagent, NoTool:
		return nil
	case Shell:
		return g.script(t.Command, e.Cwd)
	case MCP, OtherTool:
		if !soundsLikeWriting(t.Name) {
			return g.script(t.Command, e.Cwd)
		}
	}
	for _, f := range t.Files {
		if p := g.hit(splitAbs(absolute(e.Cwd, f)), false); p != nil {
			return refuseWrite(p.Dir)
		}
	}
	if t.Class != Edit {
		return g.script(t.Command, e.Cwd)
	}
	return nil
}

func soundsLikeWriting(tool string) bool {
	tool = strings.ToLower(tool)
	for _, verb := range []string{"write", "edit", "create", "delete", "remove", "move", "rename", "replace", "insert", "patch", "update", "append", "save", "put", "copy"} {
		if strings.Contains(tool, verb) {
			return true
		}
	}
	return false
}

func refuseWrite(dir string) *Refusal {
	return &Refusal{"rewind: " + show(dir) + " holds this project's checkpoints and is not to be changed by tools; leave it alone, or ask the person to do it"}
}

func refuseRemove(what, dir string) *Refusal {
	return &Refusal{"rewind: " + show(what) + " would remove this project's checkpoints in " + show(dir) + "; leave them out, or ask the person to do it"}
}

func refuseCommand(sub string) *Refusal {
	return &Refusal{"rewind: 'rewind " + show(sub) + "' is for the person at the keyboard, not for tools; 'rewind list', 'show', 'diff' and 'save' are free to use"}
}

// show makes a text from outside harmless in a message.
func show(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, clip(s))
}

func (g Guarded) script(script, cwd string) *Refusal {
	if script == "" || len(g.Protected) == 0 {
		return nil
	}
	variables := map[string]string{"CLAUDE_PROJECT_DIR": g.Root, "FACTORY_PROJECT_DIR": g.Root, "REWIND_PROJECT_ROOT": g.Root}
	if g.Home != "" {
		variables["HOME"] = g.Home
	}
	var refusal *Refusal
	walkShell(script, cwd, variables, func(inv *invocation) {
		if refusal == nil {
			refusal = g.invocation(inv)
		}
	})
	return refusal
}

func (g Guarded) invocation(inv *invocation) *Refusal {
	if sub := ownCommand(inv); sub != "" {
		return refuseCommand(sub)
	}
	for _, r := range inv.redirects {
		switch r.op {
		case ">", ">>", ">|", "&>", "&>>", "<>", ">&":
			if p := g.word(inv.cwd, r.target, false); p != nil {
				return refuseWrite(p.Dir)
			}
		}
	}
	if r := g.whole(inv); r != nil {
		return r
	}
	for _, w := range inv.writes() {
		if p := g.word(inv.cwd, w.word, w.removesTree); p != nil && !(w.moves && g.covers(inv.cwd, w.word)) {
			if w.removesTree {
				return refuseRemove(inv.name, p.Dir)
			}
			return refuseWrite(p.Dir)
		}
	}
	return nil
}

// covers reports whether a word names the project's root or what is above it:
// a project may be moved as a whole.
func (g Guarded) covers(cwd string, w word) bool {
	parts, root := splitAbs(absolute(cwd, w.text)), splitAbs(g.Root)
	return len(parts) > 0 && len(parts) <= len(root) && samePath(root[:len(parts)], parts)
}

// whole judges commands that act on a whole tree without naming it.
func (g Guarded) whole(inv *invocation) *Refusal {
	switch inv.name {
	case "git":
		dir, sub, args := inv.git()
		return g.git(dir, sub, &invocation{args: args, cwd: dir})
	case "find", "fd", "fdfind":
		if inv.hasWord("-delete") {
			places, all := findPlaces(inv.args)
			return g.found(inv, "find -delete", places, all)
		}
	case "python", "python3", "python2", "node", "nodejs", "deno", "bun", "perl", "ruby", "php", "lua":
		return g.interpreter(inv)
	}
	if inv.byFind != nil && inv.removes() {
		if r := g.found(inv, "find -exec "+inv.name, inv.byFind, inv.findAll); r != nil {
			return r
		}
	}
	if inv.byXargs && inv.changes() {
		for _, w := range inv.piped {
			if p := g.word(inv.cwd, w, false); p != nil {
				return refuseWrite(p.Dir)
			}
		}
	}
	return nil
}

func (g Guarded) found(inv *invocation, what string, places []word, all bool) *Refusal {
	for _, w := range places {
		if p := g.word(inv.cwd, w, all); p != nil {
			return refuseRemove(what, p.Dir)
		}
	}
	return nil
}

func (g Guarded) git(dir, sub string, inv *invocation) *Refusal {
	switch sub {
	case "clean":
		if !inv.hasFlag('x') && !inv.hasFlag('X') || inv.hasFlag('n', "--dry-run") {
			return nil
		}
		var paths []word
		for i := 0; i < len(inv.args); i++ {
			a := inv.args[i].text
			if a == "-e" || a == "--exclude" {
				i++
			}
			if i < len(inv.args) && strings.Contains(inv.args[i].text, ".agent") && (strings.HasPrefix(a, "-e") || strings.HasPrefix(a, "--exclude")) {
				return nil // it spares the store
			}
			if !strings.HasPrefix(a, "-") {
				paths = append(paths, inv.args[i])
			}
		}
		if len(paths) == 0 {
			paths = []word{{text: "."}}
		}
		for _, w := range paths {
			if p := g.word(dir, w, true); p != nil {
				return refuseRemove("git clean -x", p.Dir)
			}
		}
	case "stash":
		if len(inv.args) > 0 {
			if first := inv.args[0].text; first != "push" && first != "save" && !strings.HasPrefix(first, "-") {
				return nil
			}
		}
		if !inv.hasFlag('a', "--all") {
			return nil
		}
		// The whole repository, wherever in it the command runs.
		for i := range g.Protected {
			if p := &g.Protected[i]; !p.Survives && inside(splitAbs(p.Dir), splitAbs(g.Root)) && (inside(splitAbs(dir), splitAbs(g.Root)) || inside(splitAbs(g.Root), splitAbs(dir))) {
				return refuseRemove("git stash -a", p.Dir)
			}
		}
	}
	return nil
}

// interpreter looks at scripts given with -c or -e, and in here-documents.
func (g Guarded) interpreter(inv *invocation) *Refusal {
	texts := make([]string, 0, 4)
	for _, a := range inv.args {
		texts = append(texts, a.text)
	}
	for _, r := range inv.redirects {
		texts = append(texts, r.body)
	}
	for _, text := range texts {
		for i := range g.Protected {
			p := &g.Protected[i]
			if strings.Contains(text, p.Dir) || strings.Contains(text, tail(p.Dir)) {
				for _, verb := range []string{"rmtree", "unlink", "remove", "write", "rename", "move", "rmdir", "rmSync", "rm(", "truncate", "delete", "'w'", `"w"`, "'wb'", `"wb"`, "'a'", `"a"`, "rm_r", "copy"} {
					if strings.Contains(text, verb) {
						return refuseWrite(p.Dir)
					}
				}
			}
		}
	}
	return nil
}

// tail is a directory's last two components.
func tail(dir string) string {
	parts := splitAbs(dir)
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// ownCommand returns the subcommand where inv runs rewind and that is not for
// tools, else "".
func ownCommand(inv *invocation) string {
	if inv.name != "rewind" && inv.name != "smart-checkpoint" {
		return ""
	}
	sub := ""
	for i := 0; i < len(inv.args); i++ {
		switch a := inv.args[i].text; {
		case a == "--root" || a == "--session":
			i++
		case a == "--help" || a == "-h" || a == "--dry-run":
			return ""
		case strings.HasPrefix(a, "-") && a != "--":
		case sub == "":
			sub = a
		}
	}
	switch sub {
	case "restore", "jump", "chat", "undo", "undo-restore", "redo-restore", "back", "gc", "config", "forget", "repair", "unpin", "rename":
		return sub
	case "init":
		if inv.hasFlag(0, "--adopt", "--trust", "--force") {
			return sub
		}
	}
	return ""
}

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

// word finds the protected directory that a word is or lies in; with tree also
// one that lies below it and does not survive that.
func (g Guarded) word(cwd string, w word, tree bool) *Protected {
	if w.dynamic {
		// Of $DIR/.agent/rewind/x the end is known.
		for i := range g.Protected {
			if p := &g.Protected[i]; strings.Contains(w.text, "\x00/"+tail(p.Dir)) || strings.HasPrefix(w.text, "\x00"+tail(p.Dir)) {
				return p
			}
		}
		return nil
	}
	if cwd == "" && !isAbs(w.text) { // after a cd to somewhere: the end is known here too
		for i := range g.Protected {
			if p := &g.Protected[i]; strings.HasPrefix(path.Clean(w.text), tail(p.Dir)) {
				return p
			}
		}
		return nil
	}
	if w.pattern == "" {
		return g.hit(splitAbs(absolute(cwd, w.text)), tree)
	}
	for _, pattern := range expandBraces(w.pattern) {
		full := pattern
		if !path.IsAbs(pattern) {
			full = escapeGlob(cwd) + "/" + pattern
		}
		if p := g.glob(strings.Split(strings.TrimPrefix(path.Clean(full), "/"), "/"), tree); p != nil {
			return p
		}
	}
	return nil
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

func (g Guarded) hit(parts []string, tree bool) *Protected {
	if parts == nil {
		return nil
	}
	for i := range g.Protected {
		p := &g.Protected[i]
		dir := splitAbs(p.Dir)
		if inside(parts, dir) || tree && !p.Survives && inside(dir, parts) {
			return p
		}
	}
	return nil
}

func (g Guarded) glob(pattern []string, tree bool) *Protected {
	for i := range g.Protected {
		p := &g.Protected[i]
		dir := splitAbs(p.Dir)
		n := min(len(pattern), len(dir))
		matched := true
		for k := 0; k < n && matched; k++ {
			matched = globPart(pattern[k], dir[k])
		}
		if matched && (len(pattern) >= len(dir) || tree && !p.Survives) {
			return p
		}
	}
	return nil
}

// globPart matches one component as a shell does: * and ? do not match a
// leading dot.
func globPart(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") && !strings.HasPrefix(pattern, `\.`) {
		return false
	}
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
	return ok && err == nil
}

// splitAbs splits an absolute path; nil for anything else, [""] never.
func splitAbs(p string) []string {
	p = strings.ReplaceAll(p, `\`, "/")
	if !isAbs(p) || strings.Contains(p, "://") {
		return nil
	}
	p = path.Clean(p)
	if p == "/" {
		return []string{}
	}
	return strings.Split(strings.TrimPrefix(p, "/"), "/")
}

// inside reports whether p is dir or below it. Letter case does not count: some
// file systems ignore it, and nobody has two stores that differ in it.
func inside(p, dir []string) bool {
	return p != nil && dir != nil && len(p) >= len(dir) && samePath(p[:len(dir)], dir)
}

func samePath(a, b []string) bool {
	for i := range b {
		if !strings.EqualFold(a[i], b[i]) {
			return false
		}
	}
	return true
}
