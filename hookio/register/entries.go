package register

import (
	"strings"

	"github.com/tailscale/hujson"

	"rewind/hookio/shell"
)

// Entry is one hook of ours in a settings file.
type Entry struct {
	Event   string
	Matcher string
	Command string // with the arguments of exec form behind it
	Timeout string // as it is written, "" for none
	Older   bool   // of the tool that went before: smart-checkpoint
}

// Entries lists our hooks, and those of smart-checkpoint, in a settings file
// with a "hooks" object. Errors: *NotJSONError.
func Entries(settings []byte) ([]Entry, error) {
	_, root, err := parseSettings(settings)
	if err != nil {
		return nil, err
	}
	return entriesIn(root, true), nil
}

// EntriesDroid lists them in Droid's hooks.json, which has the events at its
// top level.
func EntriesDroid(hooks []byte) ([]Entry, error) {
	_, root, err := parseSettings(hooks)
	if err != nil {
		return nil, err
	}
	return entriesIn(root, false), nil
}

func entriesIn(root hujson.Value, wrapped bool) (out []Entry) {
	walkHandlers(root, wrapped, func(h handler) { out = append(out, h.entry) })
	return out
}

// handler is one hook of ours and where it is.
type handler struct {
	entry        Entry
	event, group int // positions in their containers
	index        int
	whole        bool // all hooks of the group are ours
}

// walkHandlers visits our hooks in file order. Parts of another shape are
// passed over.
func walkHandlers(root hujson.Value, wrapped bool, visit func(handler)) {
	top, _ := containerOf(root)
	if wrapped {
		member, ok := top.member("hooks")
		if !ok {
			return
		}
		if _, isObject := member.value.Value.(*hujson.Object); !isObject {
			return
		}
		top, _ = containerOf(member.value)
	}
	for e, event := range top.items {
		if _, isArray := event.value.Value.(*hujson.Array); !isArray {
			continue
		}
		groups, _ := containerOf(event.value)
		for g, item := range groups.items {
			fields, _ := containerOf(item.value)
			list, ok := fields.member("hooks")
			if _, isArray := list.value.Value.(*hujson.Array); !ok || !isArray {
				continue
			}
			hooks, _ := containerOf(list.value)
			var found []handler
			for i, hook := range hooks.items {
				if entry, ours := ourEntry(hook.value); ours {
					entry.Event = event.name
					if m, ok := fields.member("matcher"); ok {
						entry.Matcher = literal(m.value)
					}
					found = append(found, handler{entry: entry, event: e, group: g, index: i})
				}
			}
			for _, f := range found {
				f.whole = len(found) == len(hooks.items)
				visit(f)
			}
		}
	}
}

func literal(v hujson.Value) string {
	if l, ok := v.Value.(hujson.Literal); ok {
		return l.String()
	}
	return ""
}

// ourEntry recognises a hook that runs "…/rewind hook …", or smart-checkpoint.
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
		case "timeout":
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
	case len(args) > 0 && args[0] == "hook" && shell.Program(e.Command) == "rewind":
	case runsHook(all):
	default:
		return Entry{}, false
	}
	e.Command = all
	return e, true
}

// runsHook reports whether a command line runs "rewind hook".
func runsHook(line string) (found bool) {
	if !strings.Contains(line, "rewind") || !strings.Contains(line, "hook") {
		return false
	}
	if strings.Contains(line, "/rewind hook ") { // also below a directory with blanks that nobody quoted
		return true
	}
	shell.Walk(line, "", nil, func(inv *shell.Invocation) {
		found = found || inv.Name == "rewind" && len(inv.Args) > 0 && inv.Args[0].Text == "hook"
	})
	return found
}
