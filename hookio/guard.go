package hookio

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// Protected is a directory that tool calls may read but not change: a store, or
// the account's own directory.
type Protected struct {
	Dir string // absolute
	// Survives says that what it holds has a mirror elsewhere: removing a
	// directory around it is then not refused, only what aims at it.
	Survives bool
}

// Guarded is what Guard needs to know of a project.
type Guarded struct {
	Root      string // absolute
	Protected []Protected
	Home      string // for ~ and $HOME; may be ""
	// Resolve follows the links in the part of an absolute path that exists, in the last
	// component only where last is set; "" where it cannot. nil: links are not followed.
	Resolve func(path string, last bool) string
	// Registered are the files by which agents run our hooks; nil: they are not guarded.
	Registered Registered
}

// Refusal is why a tool call is blocked. Reason is one sentence for the agent.
type Refusal struct{ Reason string }

// Guard refuses a tool call before it runs where it would write into a
// protected directory, remove it, or run rewind's own commands that change
// checkpoints or put files back. nil lets it through; so does everything that
// only reads, and what the text does not show: this catches mistakes, it does not confine a hostile agent.
func Guard(e *Event, g Guarded) *Refusal {
	if e.Kind != PreTool {
		return nil
	}
	t := &e.Tool
	switch t.Class {
	case Read, Subagent, NoTool:
		return nil
	case Shell:
		return g.script(t.Command, e.CommandDir())
	case MCP, OtherTool:
		if !soundsLikeWriting(t.Name) {
			return g.script(t.Command, e.CommandDir())
		}
	}
	for _, f := range t.Files {
		if p := g.place(g.file(e.Cwd, f), false, true); p != nil {
			return refuseWrite(p.Dir)
		}
	}
	after := outcome{g: g}
	after.edit(t, e.Cwd)
	if r := after.refusal(); r != nil || t.Class == Edit {
		return r
	}
	return g.script(t.Command, e.CommandDir())
}

// file is the path that a tool other than a shell is given. Clients read ~ at its beginning as a shell does.
func (g Guarded) file(cwd, given string) string {
	file := shell.Absolute(cwd, given)
	if rest, ok := strings.CutPrefix(file, path.Join(strings.ReplaceAll(cwd, `\`, "/"), "~")+"/"); ok && g.Home != "" {
		return path.Join(g.Home, rest)
	}
	return file
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
	return &Refusal{"rewind: " + show(dir) + " holds this project's checkpoints and must not be changed by tools; leave it alone, or ask the user to do it"}
}

func refuseRemove(what, dir string) *Refusal {
	return &Refusal{"rewind: " + show(what) + " would remove this project's checkpoints in " + show(dir) + "; leave them out, or ask the user to do it"}
}

func refuseRewrite(what, dir string) *Refusal {
	return &Refusal{"rewind: " + show(what) + " would change this project's checkpoints in " + show(dir) + "; leave them out (find . -path ./.agent -prune -o …), or ask the user to do it"}
}

func refuseCommand(sub string) *Refusal {
	return &Refusal{"rewind: 'rewind " + show(sub) + "' is for the user, not for tools; 'rewind list', 'show', 'diff' and 'save' are allowed"}
}

// show makes a text from outside harmless in a message.
func show(s string) string { return oneLine(shell.Clip(s)) }

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

func (g Guarded) script(script, cwd string) *Refusal {
	if script == "" || len(g.Protected) == 0 {
		return nil
	}
	variables := map[string]string{"REWIND_PROJECT_ROOT": g.Root}
	for _, a := range adapters {
		for _, name := range a.projectVariables {
			variables[name] = g.Root
		}
	}
	if g.Home != "" {
		variables["HOME"] = g.Home
	}
	var refusal *Refusal
	after := outcome{g: g}
	files := 0
	var visit func(inv *shell.Invocation)
	visit = func(inv *shell.Invocation) {
		if refusal != nil {
			return
		}
		refusal = g.invocation(inv)
		after.run(inv)
		if text := after.scriptFile(inv); text != "" && files < maxScriptFiles {
			files++
			shell.Walk(text, inv.Dir, maps.Clone(variables), visit)
		}
	}
	shell.Walk(script, cwd, variables, visit)
	if refusal == nil {
		refusal = after.refusal()
	}
	if refusal == nil && after.suppose(script) {
		refusal = after.refusal()
	}
	return refusal
}

func (g Guarded) invocation(inv *shell.Invocation) *Refusal {
	if sub := ownCommand(inv); sub != "" {
		return refuseCommand(sub)
	}
	for _, r := range inv.Redirects {
		switch r.Op {
		case ">", ">>", ">|", "&>", "&>>", "<>", ">&":
			if p := g.word(inv.Dir, r.Target, false); p != nil {
				return refuseWrite(p.Dir)
			}
		}
	}
	if r := switchesOff(inv); r != nil {
		return r
	}
	if r := g.whole(inv); r != nil {
		return r
	}
	for _, w := range inv.Writes() {
		if p := g.target(inv.Dir, w.Word, w.RemovesTree, !inv.Removes() && !w.Moves); p != nil && !(w.Moves && g.covers(inv.Dir, w.Word)) {
			if w.RemovesTree {
				return refuseRemove(inv.Name, p.Dir)
			}
			return refuseWrite(p.Dir)
		}
	}
	return nil
}

// covers reports whether a word names the project's root or what is above it:
// a project may be moved as a whole.
func (g Guarded) covers(cwd string, w shell.Word) bool {
	parts, root := splitAbs(shell.Absolute(cwd, w.Text)), splitAbs(g.Root)
	return len(parts) > 0 && len(parts) <= len(root) && samePath(root[:len(parts)], parts)
}

// whole judges commands that act on a whole tree without naming it.
func (g Guarded) whole(inv *shell.Invocation) *Refusal {
	if inv.ByFind != nil && inv.Rewrites() {
		if p := g.mortal().found(inv.Dir, inv.FindNames, inv.FindAt, false); p != nil {
			return refuseRewrite("find -exec "+inv.Name, p.Dir)
		}
	}
	if inv.ByXargs && inv.Rewrites() {
		if p := g.mortal().listed(inv); p != nil {
			return refuseRewrite("xargs "+inv.Name, p.Dir)
		}
	}
	switch inv.Name {
	case "git":
		dir, sub, args := inv.Git()
		return g.git(dir, sub, &shell.Invocation{Args: args, Dir: dir})
	case "find", "fd", "fdfind":
		for i, a := range inv.Args {
			if a.Text == "-delete" {
				if p := g.found(inv.Dir, inv.Args, i, false); p != nil {
					return refuseRemove("find -delete", p.Dir)
				}
				return nil
			}
		}
	case "python", "python3", "python2", "node", "nodejs", "deno", "bun", "perl", "ruby", "php", "lua":
		return g.interpreter(inv)
	}
	if inv.ByFind != nil && inv.Removes() {
		if p := g.found(inv.Dir, inv.FindNames, inv.FindAt, inv.RemovesTrees()); p != nil {
			return refuseRemove("find -exec "+inv.Name, p.Dir)
		}
	}
	if inv.ByXargs && inv.Removes() {
		if p := g.listed(inv); p != nil {
			return refuseRemove("xargs "+inv.Name, p.Dir)
		}
	}
	if inv.Name == "rsync" && !inv.HasFlag('n', "--dry-run") && slices.ContainsFunc(inv.Args, func(a shell.Word) bool { return strings.HasPrefix(a.Text, "--del") }) {
		if _, to := inv.Copies(); to != nil && !spared(inv.Args) {
			if p := g.word(inv.Dir, *to, true); p != nil {
				return refuseRemove("rsync --delete", p.Dir)
			}
		}
	}
	if inv.ByXargs && inv.Changes() {
		for _, w := range inv.Piped {
			if p := g.word(inv.Dir, w, false); p != nil {
				return refuseWrite(p.Dir)
			}
		}
		for _, r := range inv.Redirects { // here-strings and here-documents
			if r.Op != "<<<" && r.Body == "" {
				continue
			}
			text := r.Body
			if r.Op == "<<<" {
				text = r.Target.Text
			}
			for i, word := range strings.Fields(text) {
				if i == maxHereWords {
					break
				}
				if p := g.target(inv.Dir, shell.Word{Text: word, Dynamic: r.Target.Dynamic}, inv.HasFlag('r', "--recursive"), !inv.Removes()); p != nil {
					return refuseWrite(p.Dir)
				}
			}
		}
	}
	return nil
}

// maxHereWords bounds the words of a here-document that xargs is given.
const maxHereWords = 200

// found judges what find does with the argument number at, given the files that it finds; trees says that a directory
// goes with all that is below it.
func (g Guarded) found(cwd string, args []shell.Word, at int, trees bool) *Protected {
	for _, w := range shell.FindPlaces(args) {
		p := g.word(cwd, w, true)
		if p == nil {
			continue
		}
		store, place := splitAbs(p.Dir), splitAbs(shell.Absolute(cwd, w.Text))
		if w.Pattern != "" || !inside(store, place) || len(store) == len(place) {
			return p
		}
		// A file of the store as they are named there, and the directories on the way to it.
		names := append(slices.Clone(store[len(place):]), "objects", "log-00000001.pack")
		for i := range names {
			dir := i < len(names)-1
			if (trees || !dir) && shell.FindReaches(args, at, w.Text, strings.Join(names[:i+1], "/"), dir) {
				return p
			}
		}
	}
	return nil
}

// mortal is g where no mirror is counted on: a program that writes in place may write the mirror's bytes, too.
func (g Guarded) mortal() Guarded {
	g.Protected = slices.Clone(g.Protected)
	for i := range g.Protected {
		g.Protected[i].Survives = false
	}
	return g
}

// listed judges what xargs does with what ls or find named.
func (g Guarded) listed(inv *shell.Invocation) *Protected {
	words := inv.Piped
	if len(words) == 0 || spared(words) {
		return nil
	}
	end := len(words)
	for i, w := range words {
		switch w.Text {
		case "grep", "egrep", "head", "tail", "awk", "sed": // what is left out is not known, but for -v
			if w.Text != "grep" && w.Text != "egrep" || i+1 == len(words) || !strings.HasPrefix(words[i+1].Text, "-") || !strings.Contains(words[i+1].Text, "v") {
				return nil
			}
			end = min(end, i)
		}
	}
	switch args := words[1:end]; words[0].Text {
	case "ls":
		list := &shell.Invocation{Args: args}
		if list.HasFlag('a') || list.HasFlag('A', "--all", "--almost-all") {
			if p := g.word(inv.Dir, shell.Word{Text: ".*", Pattern: ".*"}, inv.RemovesTrees()); p != nil && inv.RemovesTrees() && !slices.ContainsFunc(args, func(a shell.Word) bool { return !strings.HasPrefix(a.Text, "-") }) {
				return p
			}
		}
	case "find":
		return g.found(inv.Dir, args, len(args), inv.RemovesTrees())
	}
	return nil
}

// spared reports whether words name the store's directory, as what leaves it out does.
func spared(words []shell.Word) bool {
	return slices.ContainsFunc(words, func(w shell.Word) bool { return strings.Contains(w.Text, ".agent") })
}

func (g Guarded) git(dir, sub string, inv *shell.Invocation) *Refusal {
	switch sub {
	case "clean":
		if !inv.HasFlag('x') && !inv.HasFlag('X') || inv.HasFlag('n', "--dry-run") {
			return nil
		}
		var paths []shell.Word
		for i := 0; i < len(inv.Args); i++ {
			a := inv.Args[i].Text
			if a == "-e" || a == "--exclude" {
				i++
			}
			if i < len(inv.Args) && strings.Contains(inv.Args[i].Text, ".agent") && (strings.HasPrefix(a, "-e") || strings.HasPrefix(a, "--exclude")) {
				return nil // it spares the store
			}
			if !strings.HasPrefix(a, "-") {
				paths = append(paths, inv.Args[i])
			}
		}
		if len(paths) == 0 {
			paths = []shell.Word{{Text: "."}}
		}
		for _, w := range paths {
			if p := g.word(dir, w, true); p != nil {
				return refuseRemove("git clean -x", p.Dir)
			}
		}
	case "stash":
		return g.stash(dir, inv)
	}
	return nil
}

// stash refuses git stash --all over the store, mirror or not: the store
// comes back from that by itself, and then git stash pop cannot put down the
// files that it holds.
func (g Guarded) stash(dir string, inv *shell.Invocation) *Refusal {
	args, save := inv.Args, false
	if len(args) > 0 {
		switch first := args[0].Text; {
		case first == "push" || first == "save":
			args, save = args[1:], first == "save"
		case !strings.HasPrefix(first, "-"):
			return nil // list, pop and the like
		}
	}
	all, paths := stashArgs(args)
	if save {
		paths = nil // those are the message
	}
	if !all {
		return nil
	}
	for i := range g.Protected {
		p := &g.Protected[i]
		store, root := splitAbs(p.Dir), splitAbs(g.Root)
		if !inside(store, root) || !inside(splitAbs(dir), root) && !inside(root, splitAbs(dir)) {
			continue
		}
		// Without paths it takes the whole repository, wherever in it the command runs.
		taken := len(paths) == 0
		for _, w := range paths {
			taken = taken || w.Text == ":/" || g.word(dir, w, false) != nil || inside(store, splitAbs(shell.Absolute(dir, w.Text)))
		}
		if taken {
			return &Refusal{"rewind: git stash --all would put this project's checkpoints in " + show(p.Dir) +
				" into the stash, and git stash pop would then fail; use git stash -u, which takes untracked files and leaves ignored ones"}
		}
	}
	return nil
}

// stashArgs reads the arguments of git stash push: whether ignored files are
// taken too, and the paths that it is restricted to.
func stashArgs(args []shell.Word) (all bool, paths []shell.Word) {
	for i := 0; i < len(args); i++ {
		switch a := args[i].Text; {
		case a == "--":
			return all, append(paths, args[i+1:]...)
		case a == "-m" || a == "--message" || a == "--pathspec-from-file":
			i++
		case strings.HasPrefix(a, "--"):
			all = all || a == "--all" || a == "--al" // git takes the beginning of a long option
		case strings.HasPrefix(a, "-") && len(a) > 1:
			short, _, message := strings.Cut(a[1:], "m") // the rest of the word is the message
			all = all || strings.Contains(short, "a")
			if message && strings.HasSuffix(a, "m") {
				i++
			}
		default:
			paths = append(paths, args[i])
		}
	}
	return all, paths
}

// interpreter looks at scripts given with -c or -e, and in here-documents.
func (g Guarded) interpreter(inv *shell.Invocation) *Refusal {
	for _, text := range inv.Texts() {
		if r := inScript(text); r != nil {
			return r
		}
		for i := range g.Protected {
			p := &g.Protected[i]
			around := path.Base(path.Dir(p.Dir))
			if !p.Survives && inside(splitAbs(p.Dir), splitAbs(g.Root)) && (strings.Contains(text, "'"+around+"'") || strings.Contains(text, `"`+around+`"`)) &&
				slices.ContainsFunc([]string{"rmtree", "rmSync", "rm_r", "remove_tree"}, func(verb string) bool { return strings.Contains(text, verb) }) {
				return refuseRemove(inv.Name, p.Dir)
			}
			if strings.Contains(text, p.Dir) || strings.Contains(text, tail(p.Dir)) {
				if slices.ContainsFunc(writingVerbs, func(verb string) bool { return strings.Contains(text, verb) }) {
					return refuseWrite(p.Dir)
				}
			}
		}
	}
	return nil
}

// writingVerbs are what scripts in other languages change files with.
var writingVerbs = []string{"rmtree", "unlink", "remove", "write", "rename", "move", "rmdir", "rmSync", "rm(", "truncate", "delete", "'w'", `"w"`, "'wb'", `"wb"`, "'a'", `"a"`, "'r+'", `"r+"`, "rm_r", "copy"}

// tail is a path's last two components.
func tail(dir string) string {
	parts := splitAbs(dir)
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// ownValues are the flags of rewind's commands that take the next word as their value,
// whatever it looks like.
var ownValues = []string{"--root", "--session", "--mode", "--text", "--keep", "--max-age", "--max-size", "--adopt", "--tier", "--agent", "--plugin", "--to", "--limit", "--run", "--good", "--bad", "--git"}

// isShortDryRun reports -n, alone or among other short flags without values, as in -yn.
func isShortDryRun(a string) bool {
	return len(a) > 1 && a[0] == '-' && strings.Contains(a, "n") && strings.Trim(a[1:], "nyqv") == ""
}

// ownCommand returns the subcommand where inv runs rewind and that is not for
// tools, else "".
func ownCommand(inv *shell.Invocation) string {
	if inv.Name != "rewind" && inv.Name != "smart-checkpoint" {
		return ""
	}
	var words []string
	var dryRun, takenBack bool // --dry-run=false
	args := inv.Args
	if inv.ByXargs && len(inv.Piped) > 0 { // what echo or printf hands on
		args = append(slices.Clone(args), inv.Piped[1:]...)
	}
	for i := 0; i < len(args); i++ {
		a := args[i].Text
		if a == "--" {
			break // what follows are paths
		}
		switch {
		case slices.Contains(ownValues, a):
			i++
		case a == "--help" || a == "-h":
			return ""
		case a == "--dry-run" || isShortDryRun(a):
			dryRun = true
		case strings.HasPrefix(a, "--dry-run=") || strings.HasPrefix(a, "-") && strings.Contains(a, "n=") && !strings.HasPrefix(a, "--"):
			takenBack = true
		case !strings.HasPrefix(a, "-"):
			words = append(words, a)
		}
	}
	if len(words) == 0 || dryRun && !takenBack {
		return ""
	}
	switch sub := words[0]; sub {
	case "config":
		// One word more is the setting to show, two are its value.
		if len(words) > 2 || inv.ByXargs || inv.HasFlag(0, "--", "--tier", "--unset", "--register-hooks", "--unregister-hooks", "--plugin") || inv.HasWord("--") ||
			slices.ContainsFunc(args, func(a shell.Word) bool { return a.Dynamic }) {
			return sub
		}
	case "restore", "jump", "chat", "undo", "redo", "undo-restore", "redo-restore", "revert", "back", "gc", "forget", "repair", "unpin", "rename", "deinit", "ui", "import":
		return sub
	case "run":
		// Its undo takes what others did meanwhile too; the command itself is looked at as any other.
		own := inv.Args[:len(inv.Args)-len(shell.Inner(inv.Args))]
		if slices.ContainsFunc(own, func(a shell.Word) bool {
			return strings.HasPrefix(a.Text, "--yes") || len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.Contains(a.Text, "y")
		}) {
			return "run --yes"
		}
	case "init":
		if inv.HasFlag(0, "--adopt", "--trust", "--force") {
			return sub
		}
	case "stores":
		if len(words) > 1 && words[1] == "rm" {
			return "stores rm"
		}
	case "hook":
		// An agent that plays the person's in-session commands.
		if len(words) > 1 && words[1] != string(Generic) {
			return sub
		}
	}
	return ""
}
