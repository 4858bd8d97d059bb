package register

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/shell"
)

// Entry is one hook of ours in a settings file.
type Entry struct {
	Event   string
	Matcher string
	Command string // with the arguments of exec form behind it
	Timeout string // as it is written, "" for none
	Older   bool   // of the tool that went before: smart-checkpoint
}

func entriesIn(root hujson.Value, form form) (out []Entry) {
	walkHandlers(root, form, func(h handler) { out = append(out, h.entry) })
	return out
}

// handler is one hook of ours and where it is.
type handler struct {
	entry        Entry
	event, group int // positions in their containers
	index        int
	value        hujson.Value // of the handler itself
	whole        bool         // all hooks of the group are ours, or there are no groups
}

// eventsIn is the object that has the events: the file's own, or its member "hooks". ok is false where that is missing, or
// something else than an object.
func (f form) eventsIn(root hujson.Value) (events container, ok bool) {
	events, _ = containerOf(root)
	if f.topLevel {
		return events, true
	}
	member, ok := events.member("hooks")
	if !ok || member.value.Value.Kind() != '{' {
		return container{}, false
	}
	return containerOf(member.value)
}

func isList(v hujson.Value) bool { return v.Value != nil && v.Value.Kind() == '[' }

// walkHandlers visits our hooks in file order. Parts of another shape are
// passed over.
func walkHandlers(root hujson.Value, form form, visit func(handler)) {
	events, _ := form.eventsIn(root)
	for e, event := range events.items {
		if !isList(event.value) {
			continue
		}
		groups, _ := containerOf(event.value)
		for g, item := range groups.items {
			for _, h := range handlersOf(item.value, form) {
				h.entry.Event, h.event, h.group = event.name, e, g
				visit(h)
			}
		}
	}
}

// handlersOf are our handlers in one item of an event's list.
func handlersOf(v hujson.Value, form form) (found []handler) {
	fields, _ := containerOf(v)
	matcher := ""
	if m, ok := fields.member("matcher"); ok {
		matcher = literal(m.value)
	}
	if form.flat {
		if entry, ours := ourEntry(v); ours {
			entry.Matcher = matcher
			found = append(found, handler{entry: entry, value: v, whole: true})
		}
		return found
	}
	list, _ := fields.member("hooks")
	if !isList(list.value) {
		return nil
	}
	hooks, _ := containerOf(list.value)
	for i, hook := range hooks.items {
		if entry, ours := ourEntry(hook.value); ours {
			entry.Matcher = matcher
			found = append(found, handler{entry: entry, index: i, value: hook.value})
		}
	}
	for i := range found {
		found[i].whole = len(found) == len(hooks.items)
	}
	return found
}

func literal(v hujson.Value) string {
	if l, ok := v.Value.(hujson.Literal); ok {
		return l.String()
	}
	return ""
}

// ourEntry recognises a hook of ours, or smart-checkpoint.
func ourEntry(v hujson.Value) (Entry, bool) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return Entry{}, false
	}
	var e Entry
	var args []string
	for _, m := range o.Members {
		switch literal(m.Name) {
		case "command", "bash":
			e.Command = literal(m.Value)
		case "timeout", "timeoutSec", "timeout_ms":
			e.Timeout = literal(m.Value)
		case "args":
			if a, isArray := m.Value.Value.(*hujson.Array); isArray {
				for _, x := range a.Elements {
					args = append(args, literal(x))
				}
			}
		}
	}
	all := strings.Join(append([]string{e.Command}, args...), " ")
	switch {
	case strings.Contains(all, "smart-checkpoint"):
		e.Older = true
	case isHook(e.Command, args):
	case runsHook(all):
	default:
		return Entry{}, false
	}
	e.Command = all
	return e, true
}

// runsHook reports whether a command line runs a hook of ours.
func runsHook(line string) (found bool) {
	if !strings.Contains(line, "hook") {
		return false
	}
	if strings.Contains(line, "/rewind hook ") { // also below a directory with blanks that nobody quoted
		return true
	}
	shell.Walk(line, "", nil, func(inv *shell.Invocation) {
		var args []string
		for _, a := range inv.Args {
			args = append(args, a.Text)
		}
		found = found || isHook(inv.Program.Text, args)
	})
	return found
}

// isHook reports whether a program with these arguments is a hook of ours: rewind, one whose name is rewind's with
// something behind it, as rewind-1.2 or rewind_linux_amd64, or this very program under whatever name.
func isHook(program string, args []string) bool {
	name := shell.Program(program)
	switch {
	case len(args) == 0 || args[0] != "hook":
		return false
	case name == "rewind":
		return true
	case len(args) == 1 || !slices.Contains(hookio.Agents(), hookio.Agent(args[1])):
		return false
	}
	behind, ours := strings.CutPrefix(name, "rewind")
	return ours && (behind[0] < 'a' || behind[0] > 'z') || isRunning(program)
}

// isRunning reports whether a path is that of this very program.
func isRunning(program string) bool {
	exe, err := os.Executable()
	if err != nil || !filepath.IsAbs(program) {
		return false
	}
	info, err := os.Stat(program)
	own, ownErr := os.Stat(exe)
	return err == nil && ownErr == nil && os.SameFile(info, own)
}
