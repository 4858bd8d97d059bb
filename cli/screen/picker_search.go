package screen

import (
	"fmt"
	"strings"
)

// beginSearch searches the files for what was typed as a filter.
func (m *Picker) beginSearch() {
	text := strings.TrimSpace(string(m.field))
	if text == "" {
		return
	}
	m.mode, m.query, m.found, m.message, m.planAt = searching, text, nil, nil, 0
	m.ask(Ask{What: AskSearch, Text: text})
}

func (m *Picker) takeFound(a Answer) {
	if m.mode != searching || a.Ask.Text != m.query {
		return // of a search that was left
	}
	if m.found = a.Found; m.found == nil {
		m.failed(a.Err)
	}
}

// foundKey is a key while lines that were found are shown.
func (m *Picker) foundKey(k string) {
	if k == "esc" || k == "q" {
		m.mode, m.message = browsing, nil
		return
	}
	if m.found == nil || len(m.found.Lines) == 0 {
		return
	}
	f := m.found.Lines[max(min(m.planAt, len(m.found.Lines)-1), 0)]
	switch k {
	case "enter":
		m.goTo(f.CameID, f.Raw)
	case "w":
		if f.WentID != "" {
			m.goTo(f.WentID, f.Raw)
		}
	default:
		m.planAt = min(m.scrolled(k, m.planAt), len(m.found.Lines)-1)
	}
}

// goTo goes to a row, which the filter or the scope can leave out, and to a file of what it changed.
func (m *Picker) goTo(id, raw string) {
	if id == "" {
		id = "@"
	}
	m.mode, m.filter, m.marks, m.now, m.focus, m.goal, m.seek = browsing, "", nil, false, listPane, id, raw
	m.refilter()
	m.reach(false)
	if m.goal != "" && (m.scope != WithSafety || m.rows.More) {
		m.scope = WithSafety
		m.ask(Ask{What: AskAll, Scope: m.scope})
	} else {
		m.reach(true)
	}
}

// reach puts the cursor on the row that is to be gone to. last: no other rows will come.
func (m *Picker) reach(last bool) {
	if m.goal == "" {
		return
	}
	if i := m.shownAt(m.goal); i >= 0 {
		m.cursor, m.goal = i, ""
		m.moved()
		m.showFile()
	} else if last {
		m.goal, m.seek = "", ""
		m.message = Text(Plain, "that checkpoint is not in the timeline")
	}
}

// showFile shows the file that was gone to, once what its row changed is known.
func (m *Picker) showFile() {
	l := m.look()
	if m.seek == "" || m.goal != "" || l == nil {
		return
	}
	for i, f := range l.Files {
		if f.Raw == m.seek {
			m.file, m.offset[diffPane] = i, f.At
		}
	}
	m.seek = ""
}

// foundView is the lines that were found, with the row in which each came.
func (m *Picker) foundView(w, h int) []string {
	if m.found == nil {
		return m.page([]Line{nil, Text(Dim, "  searching…")}, w, h)
	}
	lines := m.found.Lines
	text := fmt.Sprintf("  %d lines with %s", len(lines), m.query)
	switch {
	case m.found.More:
		text = fmt.Sprintf("  The first %d lines with %s", len(lines), m.query)
	case len(lines) == 0:
		text = "  No line of any checkpoint has " + m.query
	case len(lines) == 1:
		text = "  1 line with " + m.query
	}
	head := m.p.fit(Text(Bold, text), w, Plain)
	h--
	at := max(min(m.planAt, len(lines)-1), 0)
	return append([]string{head}, m.windowOf(len(lines), max(at-h+1, 0), w, h, at, func(i int) Line {
		f, cursor, status := lines[i], "  ", Green
		if i == at {
			cursor = "> "
		}
		if f.Went != "" {
			status = Red
		}
		place := fmt.Sprintf(":%d", f.Line)
		room := max(w/3-len(place), 8)
		return Line{{cursor, Bold}, {cell(clipLeft(f.Path, room)+place, room+len(place), false) + " ", Plain}, {strings.TrimSpace(f.Text), status}}
	})...)
}

// foundFoot says in which rows the line under the cursor came and went.
func (m *Picker) foundFoot() Line {
	if m.found == nil || len(m.found.Lines) == 0 {
		return keysLine("esc", "leave")
	}
	f := m.found.Lines[max(min(m.planAt, len(m.found.Lines)-1), 0)]
	l := Line{{"enter ", Bold}, {"came with " + Clip(f.Came, max(m.w/3, 20)), Plain}}
	if f.WentID != "" {
		l = append(l, Span{"  w ", Bold}, Span{"went with " + Clip(f.Went, max(m.w/3, 20)), Plain})
	}
	return append(append(l, Span{"  ", Plain}), keysLine("esc", "leave")...)
}
