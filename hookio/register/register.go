package register

import (
	"bytes"
	"slices"

	"github.com/tailscale/hujson"

	"rewind/hookio"
)

// CommandLine is the line to register: the same for every event, in shell form,
// which works with every version of every agent. exe is the program's absolute
// path.
func CommandLine(exe string, agent hookio.Agent) string {
	return hookio.Quote(exe) + " hook " + string(agent)
}

// hookSeconds is the time-out that is registered. A capture goes on detached
// after 2 s; the rest is for a machine under load.
const hookSeconds = "10"

// registration is one group of hooks to be registered.
type registration struct{ event, matcher string }

// The same events for every tier: the tier decides at run time. Only events
// that every version knows, since older clients drop the whole file for one
// unknown name. Matchers are lists of exact names, or one regular expression:
// mixed, the names would match parts of other names.
var claudeHooks = []registration{
	{"SessionStart", ""},
	{"UserPromptSubmit", ""},
	{"PreToolUse", "Edit|Write|MultiEdit|NotebookEdit|Bash|PowerShell"},
	{"PreToolUse", "mcp__.*"},
	{"PostToolUse", "Bash|PowerShell"},
	{"Stop", ""},
	{"SubagentStop", ""},
	{"SessionEnd", ""},
}

var droidHooks = []registration{
	{"SessionStart", ""},
	{"UserPromptSubmit", ""},
	{"PreToolUse", "Edit|Create|ApplyPatch|Execute"},
	{"PreToolUse", "mcp__.*"},
	{"PostToolUse", "Execute"},
	{"Stop", ""},
	{"SubagentStop", ""},
	{"SessionEnd", ""},
}

// RegisterClaude returns settings.json with our hooks in it: unchanged where
// they are there already, in place of smart-checkpoint's where those are. nil
// stands for a missing file. Errors: *NotJSONError, *ShapeError.
func RegisterClaude(settings []byte, command string) ([]byte, error) {
	return register(settings, command, claudeHooks)
}

// UnregisterClaude takes them out again: what RegisterClaude made of a file
// becomes, to the byte, what it was before. nil means that the file is to be
// removed. Errors: *NotJSONError.
func UnregisterClaude(settings []byte) ([]byte, error) { return strip(settings, true) }

func register(settings []byte, command string, hooks []registration) ([]byte, error) {
	clean, err := strip(settings, true)
	if err != nil {
		return nil, err
	}
	out, err := addAll(clean, command, hooks, true)
	if err != nil || sameEntries(settings, out, true) {
		return settings, err
	}
	return out, nil
}

func sameEntries(a, b []byte, wrapped bool) bool {
	_, ra, errA := parseSettings(a)
	_, rb, errB := parseSettings(b)
	return errA == nil && errB == nil && slices.Equal(entriesIn(ra, wrapped), entriesIn(rb, wrapped))
}

// RegisterDroid does the same for Droid's two files. For one event hooks.json
// hides settings.json: so an event that hooks.json has is added there, any
// other to settings.json, and never the first entry for an event to hooks.json.
func RegisterDroid(hooks, settings []byte, command string) (newHooks, newSettings []byte, err error) {
	cleanHooks, cleanSettings, err := UnregisterDroid(hooks, settings)
	if err != nil {
		return nil, nil, err
	}
	_, root, err := parseSettings(cleanHooks)
	if err != nil {
		return nil, nil, err
	}
	var there, here []registration
	top, _ := containerOf(root)
	for _, h := range droidHooks {
		if _, ok := top.member(h.event); ok {
			there = append(there, h)
		} else {
			here = append(here, h)
		}
	}
	if newHooks, err = addAll(cleanHooks, command, there, false); err != nil {
		return nil, nil, err
	}
	if newSettings, err = addAll(cleanSettings, command, here, true); err != nil {
		return nil, nil, err
	}
	if sameEntries(hooks, newHooks, false) && sameEntries(settings, newSettings, true) {
		return hooks, settings, nil
	}
	return newHooks, newSettings, nil
}

// UnregisterDroid is to RegisterDroid what UnregisterClaude is to
// RegisterClaude.
func UnregisterDroid(hooks, settings []byte) (newHooks, newSettings []byte, err error) {
	if newHooks, err = strip(hooks, false); err != nil {
		return nil, nil, err
	}
	newSettings, err = strip(settings, true)
	return newHooks, newSettings, err
}

// addAll adds the groups to a file that has none of ours.
func addAll(b []byte, command string, hooks []registration, wrapped bool) ([]byte, error) {
	if len(hooks) == 0 {
		return b, nil
	}
	o, root, err := parseSettings(b)
	if err != nil {
		return nil, err
	}
	if o == nil { // a file of our own; the line end tells it from one that was empty
		groups := wrap(hooks, command, wrapped).render(layout{style: styleOf(nil, container{}), multi: true})
		if b == nil {
			return []byte(groups + "\n"), nil
		}
		return append(bytes.Clone(b), groups...), nil
	}
	top, _ := containerOf(root)
	if wrapped {
		if _, ok := top.member("hooks"); !ok {
			return appendItem(b, top, styleOf(b, top), true, named("hooks", events(hooks, command))), nil
		}
	}
	for _, h := range hooks {
		if b, err = add(b, h, command, wrapped); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// add adds one group to a file that has the object of events.
func add(b []byte, h registration, command string, wrapped bool) ([]byte, error) {
	_, root, err := parseSettings(b)
	if err != nil {
		return nil, err
	}
	top, _ := containerOf(root)
	at, multi := top, true
	if wrapped {
		member, _ := top.member("hooks")
		if _, isObject := member.value.Value.(*hujson.Object); !isObject {
			return nil, &ShapeError{"hooks", "an object"}
		}
		at, _ = containerOf(member.value)
		multi = bytes.IndexByte(member.before, '\n') >= 0
	}
	s := styleOf(b, top)
	event, ok := at.member(h.event)
	if !ok {
		return appendItem(b, at, s, multi, named(h.event, array(group(h, command)))), nil
	}
	if _, isArray := event.value.Value.(*hujson.Array); !isArray {
		return nil, &ShapeError{h.event, "a list"}
	}
	list, _ := containerOf(event.value)
	return appendItem(b, list, s, bytes.IndexByte(event.before, '\n') >= 0, group(h, command).render), nil
}

func wrap(hooks []registration, command string, wrapped bool) node {
	if wrapped {
		return object("hooks", events(hooks, command))
	}
	return events(hooks, command)
}

// events is the object of events with our groups.
func events(hooks []registration, command string) node {
	var n node
	for _, h := range hooks {
		if i := slices.Index(n.names, h.event); i >= 0 {
			n.values[i].values = append(n.values[i].values, group(h, command))
			continue
		}
		n.names = append(n.names, h.event)
		n.values = append(n.values, array(group(h, command)))
	}
	return n
}

func group(h registration, command string) node {
	hooks := array(object("type", quoted("command"), "command", quoted(command), "timeout", node{literal: hookSeconds}))
	if h.matcher == "" {
		return object("hooks", hooks)
	}
	return object("matcher", quoted(h.matcher), "hooks", hooks)
}

// strip takes all our hooks out, the last one first, so that each step undoes
// one step of addAll.
func strip(b []byte, wrapped bool) ([]byte, error) {
	for {
		_, root, err := parseSettings(b)
		if err != nil {
			return nil, err
		}
		var last *handler
		walkHandlers(root, wrapped, func(h handler) { last = &h })
		if last == nil {
			return b, nil
		}
		b = stripOne(b, root, wrapped, *last)
		if b == nil {
			return nil, nil
		}
	}
}

// stripOne removes one hook, with its group and event and the objects around
// them where they are empty then and were made for it.
func stripOne(b []byte, root hujson.Value, wrapped bool, h handler) []byte {
	type place struct {
		c container
		i int
	}
	top, _ := containerOf(root)
	var path []place // outermost first
	at := top
	if wrapped {
		member, _ := top.member("hooks")
		for i := range top.items {
			if top.items[i].start == member.start {
				path = append(path, place{top, i})
			}
		}
		at, _ = containerOf(member.value)
	}
	path = append(path, place{at, h.event})
	groups, _ := containerOf(at.items[h.event].value)
	path = append(path, place{groups, h.group})
	if !h.whole {
		fields, _ := containerOf(groups.items[h.group].value)
		list, _ := fields.member("hooks")
		hooks, _ := containerOf(list.value)
		out, _ := removeItem(b, hooks, h.index) // others stay, so it is not alone
		return out
	}
	for i := len(path) - 1; i >= 0; i-- {
		if out, alone := removeItem(b, path[i].c, path[i].i); !alone {
			return out
		}
	}
	// The whole file was made for it. A line end alone means that it was missing.
	before, after := b[:root.StartOffset], b[root.EndOffset:]
	if len(before) == 0 && (string(after) == "\n" || string(after) == "\r\n") {
		return nil
	}
	return append(append([]byte{}, before...), after...) // not nil: the file was there
}
