package register

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// CommandLine is the line to register: the same for every event, in shell form,
// which works with every version of every agent. exe is the program's absolute
// path.
func (c *Client) CommandLine(exe string) string {
	line := shell.Quote(exe) + " hook " + string(c.Agent)
	if c.stopsWithout {
		line = "[ ! -x " + shell.Quote(exe) + guardEnd + line
	}
	return line
}

// guardEnd ends the part of a line that asks whether the program is there.
const guardEnd = " ] || "

// Unguarded is a registered line without the question whether its program is there.
func Unguarded(line string) string {
	if _, run, ok := strings.Cut(line, guardEnd); ok && strings.HasPrefix(line, "[ ! -x ") {
		return run
	}
	return line
}

// Seconds is the time-out that is registered. A capture continues detached
// after 2 s; the rest is for a machine under load.
const Seconds = "10"

// form is how an agent's files have its hooks. The zero form is that of most:
// in a "hooks" object each event has a list of groups, and each group a matcher
// and a list of handlers.
type form struct {
	// topLevel: the events are at the top level of the file. Set for each file.
	topLevel bool
	// flat: each event has a list of handlers, which have the matcher themselves.
	flat bool
	// handler is a handler, without a matcher, that runs a line; nil: with the
	// members type, command and timeout in seconds.
	handler func(line string) jsonNode
	// timeout is that of an event's hook, as the agent counts it; nil: Seconds.
	timeout func(event string) string
	// version is the value of a member "version" that the file must have, "" for
	// none. It is added behind a "hooks" object that we make, where it is missing.
	version string
}

// handle is the handler that runs a line at an event.
func (f form) handle(line, event string) jsonNode {
	if f.handler != nil {
		return f.handler(line)
	}
	timeout := Seconds
	if f.timeout != nil {
		timeout = f.timeout(event)
	}
	return object("type", quoted("command"), "command", quoted(line), "timeout", jsonNode{literal: timeout})
}

// addAll adds the hooks to a file that has none of ours.
func addAll(b []byte, line string, hooks []registration, form form) ([]byte, error) {
	if len(hooks) == 0 {
		return b, nil
	}
	o, root, err := parseSettings(b)
	if err != nil {
		return nil, err
	}
	if o == nil { // a file of our own; the line end tells it from one that was empty
		whole := events(hooks, line, form)
		if !form.topLevel {
			whole = object("hooks", whole)
			if form.version != "" {
				whole.names, whole.values = append(whole.names, versionMember), append(whole.values, jsonNode{literal: form.version})
			}
		}
		text := whole.render(layout{style: styleOf(nil, container{}), multi: true})
		if b == nil {
			return []byte(text + "\n"), nil
		}
		return append(bytes.Clone(b), text...), nil
	}
	top, _ := containerOf(root)
	if _, ok := top.member("hooks"); !ok && !form.topLevel {
		b = appendItem(b, top, styleOf(b, top), true, named("hooks", events(hooks, line, form)))
		return addVersion(b, form)
	}
	for _, h := range hooks {
		if b, err = add(b, h, line, form); err != nil {
			return nil, err
		}
	}
	return b, nil
}

const versionMember = "version"

// addVersion adds the version behind the "hooks" object that was added last.
func addVersion(b []byte, form form) ([]byte, error) {
	_, root, err := parseSettings(b)
	if err != nil {
		return nil, err
	}
	top, _ := containerOf(root)
	if _, ok := top.member(versionMember); ok || form.version == "" {
		return b, nil
	}
	return appendItem(b, top, styleOf(b, top), true, named(versionMember, jsonNode{literal: form.version})), nil
}

// add adds one hook to a file that has the object of events.
func add(b []byte, h registration, line string, form form) ([]byte, error) {
	_, root, err := parseSettings(b)
	if err != nil {
		return nil, err
	}
	top, _ := containerOf(root)
	events, ok := form.eventsIn(root)
	if !ok {
		return nil, &ShapeError{"hooks", "an object"}
	}
	member, _ := top.member("hooks")
	multi := form.topLevel || bytes.IndexByte(member.before, '\n') >= 0
	s := styleOf(b, top)
	event, ok := events.member(h.event)
	if !ok {
		return appendItem(b, events, s, multi, named(h.event, array(hook(h, line, form)))), nil
	}
	if !isList(event.value) {
		return nil, &ShapeError{h.event, "a list"}
	}
	list, _ := containerOf(event.value)
	return appendItem(b, list, s, bytes.IndexByte(event.before, '\n') >= 0, hook(h, line, form).render), nil
}

// events is the object of events with our hooks.
func events(hooks []registration, line string, form form) jsonNode {
	var n jsonNode
	for _, h := range hooks {
		if i := slices.Index(n.names, h.event); i >= 0 {
			n.values[i].values = append(n.values[i].values, hook(h, line, form))
			continue
		}
		n.names = append(n.names, h.event)
		n.values = append(n.values, array(hook(h, line, form)))
	}
	return n
}

// hook is an item of an event's list: a group with one handler, or a handler.
func hook(h registration, line string, form form) jsonNode {
	n := form.handle(line, h.event)
	if !form.flat {
		n = object("hooks", array(n))
	}
	if h.matcher != "" {
		n.names, n.values = append([]string{"matcher"}, n.names...), append([]jsonNode{quoted(h.matcher)}, n.values...)
	}
	return n
}

// strip takes all our hooks out, the last one first, so that each step undoes
// one step of addAll.
func strip(b []byte, form form) ([]byte, error) {
	for {
		_, root, err := parseSettings(b)
		if err != nil {
			return nil, err
		}
		var last *handler
		walkHandlers(root, form, func(h handler) { last = &h })
		if last == nil {
			return b, nil
		}
		b = stripOne(b, root, form, *last)
		if b == nil {
			return nil, nil
		}
	}
}

// stripOne removes one hook, with its group and event and the objects around
// them where they are empty then and were made for it.
func stripOne(b []byte, root hujson.Value, form form, h handler) []byte {
	type place struct {
		c container
		i int
	}
	top, _ := containerOf(root)
	var path []place // outermost first
	if !form.topLevel {
		member, _ := top.member("hooks")
		path = append(path, place{top, slices.IndexFunc(top.items, func(it item) bool { return it.start == member.start })})
	}
	events, _ := form.eventsIn(root)
	path = append(path, place{events, h.event})
	groups, _ := containerOf(events.items[h.event].value)
	path = append(path, place{groups, h.group})
	if !h.whole {
		fields, _ := containerOf(groups.items[h.group].value)
		list, _ := fields.member("hooks")
		hooks, _ := containerOf(list.value)
		out, _ := removeItem(b, hooks, h.index) // others stay, so it is not alone
		return out
	}
	for i := len(path) - 1; i >= 0; i-- {
		if i == 0 && !form.topLevel && versionFollows(b, top, path[i].i, form) {
			out, _ := removeItem(b, top, path[i].i+1) // with it gone, the rest is as it was added
			return out
		}
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

// versionFollows reports whether the version that we add comes behind the i-th
// item of a file: people write it in front.
func versionFollows(b []byte, top container, i int, form form) bool {
	if form.version == "" || i+2 != len(top.items) || top.items[i+1].name != versionMember {
		return false
	}
	value := top.items[i+1].value
	return string(b[value.StartOffset:value.EndOffset]) == form.version
}
