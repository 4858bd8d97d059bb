package hookio

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

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
