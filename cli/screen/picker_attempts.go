package screen

import (
	"slices"
)

// Tried is an attempt in the text of the attempts.
type Tried struct {
	Line int    // of the text: it begins there
	ID   string // of the checkpoint that it ended with, "@" for the files as they are; "": that is gone
}

// attemptKey is a key while the attempts at a prompt are shown. Where there are several, two of them can be chosen, and
// are compared.
func (m *Picker) attemptKey(k string) {
	if len(m.tried) < 2 || slices.Contains([]string{"q", "esc", "a", "enter", "?"}, k) {
		m.pageKey(k)
		return
	}
	last := len(m.tried) - 1
	if k != " " {
		m.planAt, m.message = min(m.scrolled(k, m.planAt), last), nil
		return
	}
	m.planAt = min(m.planAt, last)
	switch i := slices.Index(m.ends, m.planAt); {
	case m.tried[m.planAt].ID == "":
		m.message = Text(Yellow, "the checkpoint that it ended with was removed")
		return
	case i >= 0:
		m.ends = slices.Delete(m.ends, i, i+1)
		return
	}
	if m.ends = append(m.ends, m.planAt); len(m.ends) < 2 {
		m.message = Text(Plain, "space on another one compares the two")
		return
	}
	slices.Sort(m.ends)
	m.marks = []string{m.tried[m.ends[0]].ID, m.tried[m.ends[1]].ID}
	if m.marks[0] == "@" { // what the files are is the end of a comparison
		slices.Reverse(m.marks)
	}
	m.mode, m.focus = browsing, diffPane
	m.moved()
}

// attemptsView are the attempts, each with a box.
func (m *Picker) attemptsView(w, h int) []string {
	lines := slices.Clone(m.logLines())
	if len(m.tried) < 2 {
		return m.page(lines, w, h)
	}
	at, end := min(m.planAt, len(m.tried)-1), len(lines)
	if at+1 < len(m.tried) {
		end = m.tried[at+1].Line
	}
	for i, t := range m.tried {
		cursor, box := "  ", "[ ]"
		if i == at {
			cursor = "> "
		}
		if slices.Contains(m.ends, i) {
			box = "[x]"
		}
		lines[t.Line] = append(Line{{cursor, Bold}, {box, Plain}}, lines[t.Line]...)
	}
	return m.window(lines, max(end-h, 0), w, h, m.tried[at].Line)
}
