package register

import (
	"bytes"
	"os"

	"github.com/tailscale/hujson"
)

// Generation counts the changes of what is registered. A growth of a client has the one that brought it.
const Generation = 1

// growth is a hook that this version registers and earlier ones did not, or for fewer tools.
type growth struct {
	generation int
	event      string
	// before is the matcher that earlier versions registered, "" where they did not register the event.
	before string
}

// Completion is what Complete has to say of a file.
type Completion struct {
	Content []byte   // that it is to have
	Added   []string // for people: the events, with the tools where there is a matcher
}

// Complete is what files[i] is to have where an earlier version registered the program there: with what was added
// to the registration after the generation from, and nothing else changed. nil: there is nothing to do. What a person took out, or wrote in
// another way, stays so: only a hook that is still as an earlier version wrote it is completed, and only where all
// hooks of ours in the file run this very program. Its parameters are those of Edit.
func (c *Client) Complete(files []SettingsFile, i int, program Program, from int) (*Completion, error) {
	f := files[i]
	if !f.Ours || f.Content == nil {
		return nil, nil
	}
	if c.extension != nil {
		return c.completeWhole(f.Content, program, from), nil
	}
	form := c.formOf(f)
	_, root, err := parseSettings(f.Content)
	if err != nil {
		return nil, err
	}
	line := c.CommandLine(program.Path)
	entries := entriesIn(root, form)
	for _, e := range entries {
		if e.Older || e.Command != line {
			return nil, nil
		}
	}
	if len(entries) == 0 {
		return nil, nil
	}
	clean, err := strip(f.Content, form)
	if err != nil {
		return nil, err
	}
	here, err := c.hooksFor(files, i, clean)
	if err != nil {
		return nil, err
	}
	done := Completion{Content: f.Content}
	for _, g := range c.grown {
		if g.generation <= from {
			continue
		}
		for _, h := range here {
			if h.event != g.event || g.before != "" && !covers(h.matcher, g.before) {
				continue
			}
			next, err := grow(done.Content, g, h, line, form)
			if err != nil {
				return nil, err
			}
			if next != nil {
				done.Content, done.Added = next, append(done.Added, h.text())
			}
		}
	}
	if done.Added == nil {
		return nil, nil
	}
	return &done, nil
}

func (h registration) text() string {
	if h.matcher == "" {
		return h.event
	}
	return h.event + " for " + h.matcher
}

// grow brings one hook up to date; nil where it is not as an earlier version wrote it.
func grow(b []byte, g growth, h registration, line string, form form) ([]byte, error) {
	_, root, err := parseSettings(b)
	if err != nil {
		return nil, err
	}
	var old *handler
	there := false
	walkHandlers(root, form, func(at handler) {
		if at.entry.Event != h.event {
			return
		}
		there = true
		if old == nil && g.before != "" && at.entry.Matcher == g.before {
			old = &at
		}
	})
	switch {
	case g.before == "" && !there:
		return add(b, h, line, form)
	case old == nil:
		return nil, nil
	case !old.whole: // the group is the person's too
		b = stripOne(b, root, form, *old)
		return add(b, h, line, form)
	}
	literal := matcherOf(root, form, *old)
	if literal == nil {
		return nil, nil
	}
	return bytes.Join([][]byte{b[:literal.StartOffset], []byte(quoted(h.matcher).literal), b[literal.EndOffset:]}, nil), nil
}

// matcherOf is the matcher of a hook in the file.
func matcherOf(root hujson.Value, form form, h handler) *hujson.Value {
	events, _ := form.eventsIn(root)
	groups, _ := containerOf(events.items[h.event].value)
	fields, _ := containerOf(groups.items[h.group].value)
	m, ok := fields.member("matcher")
	if !ok {
		return nil
	}
	return &m.value
}

// completeWhole: a file that an earlier version made is made anew.
func (c *Client) completeWhole(old []byte, program Program, from int) *Completion {
	p, ours := wholeProgram(old)
	if !ours || p.Path != program.Path || p.Version == program.Version || c.Made(old) || from >= Generation {
		return nil
	}
	return &Completion{Content: c.wholeText(program), Added: []string{"what this version adds to the file"}}
}

// Grows reports whether there is anything that Complete may find.
func (c *Client) Grows() bool { return c.grown != nil || c.extension != nil }

// Untouchable says why a settings file is not one that may be changed without being asked, "" where it may:
// one that is read-only was made so by the person or by what manages it.
func Untouchable(file string) string {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return err.Error()
	case !info.Mode().IsRegular():
		return "is no regular file"
	case info.Mode().Perm()&0o200 == 0:
		return "is read-only"
	case !owned(info):
		return "belongs to another user"
	}
	return ""
}
