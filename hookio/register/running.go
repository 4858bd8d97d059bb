package register

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// Running is a hook of ours that an agent runs for an event and, where only some tools are meant, for one of them.
type Running struct {
	Event, Tool string
	// handler is what the file has, but for its time-out: the text of a settings file's handler without blanks, the
	// content of an extension, the name of a plugin or package.
	handler string
	timeout float64
}

// Text names it for people.
func (r Running) Text() string {
	switch {
	case r.Event == "":
		return "the extension"
	case r.Tool == "":
		return r.Event
	}
	return r.Event + " for " + r.Tool
}

// keeps reports whether a hook still runs what one before it ran: with no less time.
func (r Running) keeps(before Running) bool {
	return r.Event == before.Event && r.Tool == before.Tool && r.handler == before.handler && r.timeout >= before.timeout
}

// Watched are all files that decide whether the agent runs our hooks.
func (c *Client) Watched(w Where) []string {
	files := c.otherFiles(w)
	for _, f := range c.Files(w) {
		files = append(files, f.Path)
	}
	return files
}

// Running lists what of ours the agent runs with the files as w reads them.
func (c *Client) Running(w Where) (running []Running) {
	files := c.Files(w)
	for i := range files {
		files[i].Content, _ = w.read(files[i].Path) // what cannot be read the agent does not read either
	}
	found, findings := c.Inspect(files)
	if source := c.Packaged(w); source != "" {
		running = append(running, Running{handler: source})
	}
	hidden := map[string]bool{} // a file, or file and event
	for _, f := range append(findings, c.Check(w, found)...) {
		switch f.Code {
		case HooksDisabled, ManagedOnly:
			return nil
		case Shadowed:
			hidden[f.File+"\x00"+f.Event] = true
		case Ignored:
			hidden[f.File] = true
		}
	}
	plugin, disabled := c.merged(files)
	if plugin != "" {
		running = append(running, Running{handler: plugin})
	}
	for _, f := range files {
		for _, e := range c.running(w, f) {
			if !hidden[f.Path] && !hidden[f.Path+"\x00"+e.Event] && !slices.Contains(disabled, e.command) {
				running = append(running, e.Running)
			}
		}
	}
	return running
}

// Lost is what of before does not run after.
func Lost(before, after []Running) (lost []Running) {
	for _, b := range before {
		if !slices.ContainsFunc(after, func(a Running) bool { return a.keeps(b) }) {
			lost = append(lost, b)
		}
	}
	return lost
}

type runningLine struct {
	Running
	command string
}

// running lists the hooks of one file, by what is to be registered.
func (c *Client) running(w Where, f SettingsFile) (running []runningLine) {
	if c.extension != nil {
		if _, ours := wholeProgram(f.Content); ours && c.runsEntry(w, FoundEntry{File: f.Path}) {
			running = append(running, runningLine{Running: Running{handler: string(f.Content)}})
		}
		return running
	}
	_, root, err := parseSettings(f.Content)
	if err != nil {
		return nil
	}
	at, _ := c.formOf(f).eventsIn(root)
	walkHandlers(root, c.formOf(f), func(h handler) {
		if last, _ := at.member(h.entry.Event); last.start != at.items[h.event].start { // of two members of one name
			return
		}
		if h.entry.Older || !c.runsEntry(w, FoundEntry{h.entry, f.Path}) {
			return
		}
		for _, registered := range c.hooks {
			if registered.event != h.entry.Event {
				continue
			}
			for tool := range strings.SplitSeq(registered.matcher, "|") {
				if covers(h.entry.Matcher, tool) {
					timeout, _ := strconv.ParseFloat(h.entry.Timeout, 64) // none is the agent's own
					running = append(running, runningLine{Running{h.entry.Event, tool, handlerText(h.value), timeout}, h.entry.Command})
				}
			}
		}
	})
	return running
}

func (c *Client) runsEntry(w Where, e FoundEntry) bool { return c.runs == nil || c.runs(w, e) }

// handlerText is a handler without its time-out.
func handlerText(v hujson.Value) string {
	v = v.Clone()
	if o, ok := v.Value.(*hujson.Object); ok {
		o.Members = slices.DeleteFunc(o.Members, func(m hujson.ObjectMember) bool { return strings.HasPrefix(literal(m.Name), "timeout") })
	}
	v.Minimize()
	return v.String()
}

// merged are settings of which a later file's counts: the plugin of ours that is enabled, "" for none; and of all files the command lines that are
// listed as disabled.
func (c *Client) merged(files []SettingsFile) (plugin string, disabled []string) {
	enabled := map[string]bool{}
	for _, f := range files {
		_, root, err := parseSettings(f.Content)
		if err != nil || c.extension != nil {
			continue
		}
		top, _ := containerOf(root)
		if m, ok := top.member("enabledPlugins"); ok {
			plugins, _ := containerOf(m.value)
			for _, it := range plugins.items {
				if strings.HasPrefix(it.name, "rewind@") {
					enabled[it.name] = it.value.Value.Kind() == 't'
				}
			}
		}
		if v, ok := memberAt(root, c.disabled); ok {
			list, _ := containerOf(v)
			for _, it := range list.items {
				disabled = append(disabled, literal(it.value))
			}
		}
	}
	for name, on := range enabled {
		if on {
			plugin = name
		}
	}
	return plugin, disabled
}

// memberAt is the value of a member; a dot in the name goes into an object.
func memberAt(v hujson.Value, name string) (hujson.Value, bool) {
	if name == "" {
		return v, false
	}
	for part := range strings.SplitSeq(name, ".") {
		at, _ := containerOf(v)
		m, ok := at.member(part)
		if !ok {
			return v, false
		}
		v = m.value
	}
	return v, true
}
