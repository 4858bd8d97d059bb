package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"rewind/engine"
	"rewind/engine/project"
)

// picker is the state of the list that a person chooses a checkpoint from. It
// knows no terminal: keys go in, lines come out.
type picker struct {
	items  []project.Listed
	now    time.Time
	p      painter
	w, h   int
	filter string
	typing bool // a filter has been begun, so that q is a letter
	asking bool // enter was pressed: restore?

	shown    []int // items that match the filter
	cursor   int   // in shown
	top      int   // first of shown on the screen
	previews map[string]preview
}

// preview is what a restore would do, or why that is not known.
type preview struct {
	plan *engine.Restored
	err  error
}

// action is what a key asks for beyond a change of the picture.
type action int

const (
	stay action = iota
	quit
	interrupt
	restore
)

func newPicker(items []project.Listed, now time.Time, p painter) *picker {
	m := &picker{items: items, now: now, p: p, w: 80, h: 24, previews: map[string]preview{}}
	m.refilter()
	return m
}

// selected is the checkpoint under the cursor.
func (m *picker) selected() (project.Listed, bool) {
	if m.cursor < 0 || m.cursor >= len(m.shown) {
		return project.Listed{}, false
	}
	return m.items[m.shown[m.cursor]], true
}

// key takes one key, named as decodeKeys names them.
func (m *picker) key(k string) action {
	if k == "ctrl-c" {
		return interrupt
	}
	if m.asking {
		m.asking = false
		if k == "y" || k == "Y" {
			return restore
		}
		return stay
	}
	page := max(m.listHeight()-1, 1)
	switch k {
	case "up", "ctrl-p":
		m.cursor--
	case "down", "ctrl-n":
		m.cursor++
	case "pageup":
		m.cursor -= page
	case "pagedown":
		m.cursor += page
	case "home":
		m.cursor = 0
	case "end":
		m.cursor = len(m.shown) - 1
	case "enter":
		_, m.asking = m.selected()
	case "esc":
		if !m.typing {
			return quit
		}
		m.typing, m.filter = false, ""
		m.refilter()
	case "ctrl-u":
		m.filter = ""
		m.refilter()
	case "backspace":
		if m.filter == "" {
			m.typing = false
		}
		_, n := utf8.DecodeLastRuneInString(m.filter)
		m.filter = m.filter[:len(m.filter)-n]
		m.refilter()
	default:
		return m.letter(k)
	}
	m.cursor = max(min(m.cursor, len(m.shown)-1), 0)
	return stay
}

// letter takes a printable key: / or any letter begins a filter, q without one quits.
func (m *picker) letter(k string) action {
	r, n := utf8.DecodeRuneInString(k)
	switch {
	case n != len(k) || r < ' ' || unsafeRune(r) && r >= 0x80:
		return stay // a key without a meaning here
	case !m.typing && k == "q":
		return quit
	case !m.typing && k == "/":
		m.typing = true
		return stay
	}
	m.typing = true
	m.filter += k
	m.refilter()
	return stay
}

// refilter keeps the items in which every word of the filter occurs.
func (m *picker) refilter() {
	words := strings.Fields(strings.ToLower(m.filter))
	m.shown = m.shown[:0]
next:
	for i, l := range m.items {
		text := strings.ToLower(strings.Join([]string{l.ID.String(), l.Name, string(l.Kind), l.Tool, l.Description, l.Prompt}, " "))
		for _, w := range words {
			if !strings.Contains(text, w) {
				continue next
			}
		}
		m.shown = append(m.shown, i)
	}
	m.cursor, m.top = 0, 0
}

// previewHeight is how many lines show what a restore would do.
func (m *picker) previewHeight() int { return min(8, m.h/3) }

func (m *picker) listHeight() int { return max(m.h-m.previewHeight()-3, 1) }

// view is the picture: at most h lines of at most w columns.
func (m *picker) view() []string {
	height := m.listHeight()
	m.top = max(min(m.top, m.cursor), m.cursor-height+1)
	lines := []string{m.head()}
	t := table{width: m.w - 2, columns: []column{{title: "#", right: true}, {title: "AGE", right: true}, {title: "WHY", style: cyan},
		{title: "TEXT", flex: true}, {title: "CHANGES"}}}
	for _, i := range m.shown[m.top:min(m.top+height, len(m.shown))] {
		l := m.items[i]
		t.rows = append(t.rows, []string{utoa(uint64(l.N)), formatAge(m.now.Sub(l.Time)), reason(l), checkpointText(l), changeCounts(l.Added, l.Modified, l.Deleted)})
	}
	at := m.top
	first := true
	t.write(m.p, func(s string) {
		switch {
		case first:
			first = false
		case at == m.cursor:
			lines = append(lines, m.p.paint(bold, "> ")+s)
			at++
		default:
			lines = append(lines, "  "+s)
			at++
		}
	})
	for len(lines) < height+1 {
		lines = append(lines, "")
	}
	lines = append(lines, m.p.paint(dim, strings.Repeat("─", max(m.w, 1))))
	lines = append(lines, m.preview()...)
	for i := range lines {
		lines[i] = clipPainted(lines[i], m.w)
	}
	return lines[:min(len(lines), max(m.h, 1))]
}

func (m *picker) head() string {
	switch l, _ := m.selected(); {
	case m.asking:
		return m.p.paint(yellow, fmt.Sprintf("restore to %s? y/N", l.ID))
	case m.typing:
		return "filter: " + escape(m.filter) + fmt.Sprintf("  (%d of %d)", len(m.shown), len(m.items))
	}
	return m.p.paint(dim, "enter: restore, type to filter, q: quit")
}

// preview is what a restore of the selected checkpoint would do.
func (m *picker) preview() []string {
	l, ok := m.selected()
	if !ok {
		return []string{"no checkpoint matches"}
	}
	pv, ok := m.previews[l.ID.String()]
	switch {
	case !ok:
		return []string{"…"}
	case pv.err != nil:
		return []string{m.p.paint(red, "error: ") + escape(explain(pv.err).message)}
	}
	lines := []string{"Restore: " + restoredLine(pv.plan)}
	room := m.previewHeight() - 1
	for _, g := range []struct {
		word  string
		style style
		paths []string
	}{{"delete", red, pv.plan.Delete}, {"replace", yellow, pv.plan.Replace}, {"mode", yellow, pv.plan.Mode}, {"create", green, pv.plan.Create}} {
		for _, path := range g.paths {
			if room--; room < 0 {
				return lines
			}
			lines = append(lines, "  "+m.p.paint(g.style, pad(g.word, 8))+escape(path))
		}
	}
	return lines
}

// clipPainted is clip for a line that has colours: sequences take no columns.
func clipPainted(s string, width int) string {
	o := displaywidth.Options{ControlSequences: true}
	if o.String(s) <= width {
		return s
	}
	return o.TruncateString(s, width, "…") + "\x1b[0m"
}
