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
	verbs := []string{"write", "edit", "create", "delete", "remove", "move", "rename", "replace", "insert", "patch", "update", "append", "save", "put", "copy"}
	return slices.ContainsFunc(verbs, func(verb string) bool { return strings.Contains(tool, verb) })
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
