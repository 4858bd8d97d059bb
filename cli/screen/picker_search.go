package screen

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// beginSearch searches the files for what was typed as a filter.
func (m *Picker) beginSearch() {
	text := strings.TrimSpace(string(m.field))
	if text == "" {
		return
	}
	m.beginFinding(Ask{What: AskSearch, Text: text})
}

func (m *Picker) beginFinding(a Ask) {
	m.mode, m.finding, m.query, m.found, m.message, m.planAt, m.field, m.entered = searching, a.What, a.Text, nil, nil, 0, nil, false
	m.ask(a)
}

// foundLines are those of what was found that are shown: of files, those whose paths have each word that was typed.
func (m *Picker) foundLines() []FoundLine {
	words := strings.Fields(strings.ToLower(string(m.field)))
	if m.found == nil || m.finding != AskFiles || len(words) == 0 {
		return m.foundAll()
	}
	var out []FoundLine
next:
	for _, f := range m.found.Lines {
		for _, w := range words {
			if !strings.Contains(strings.ToLower(f.Path), w) {
				continue next
			}
		}
		out = append(out, f)
	}
	return out
}

func (m *Picker) foundAll() []FoundLine {
	if m.found == nil {
		return nil
	}
	return m.found.Lines
}

func (m *Picker) takeFound(a Answer) {
	if m.mode != searching || a.Ask.What != m.finding || a.Ask.Text != m.query {
		return // of a search that was left
	}
	if m.found = a.Found; m.found == nil {
		m.failed(a.Err)
		return
	}
	if look := m.look(); m.finding == AskFiles && len(m.field) == 0 && look != nil && m.file < len(look.Files) { // it begins at the row's file
		m.planAt = max(slices.IndexFunc(m.found.Lines, func(f FoundLine) bool { return f.Raw == look.Files[m.file].Raw }), 0)
	}
	if m.entered {
		m.foundKey("enter")
	}
}

// foundKey is a key while lines that were found, or files, are shown.
func (m *Picker) foundKey(k string) {
	if m.finding == AskFiles && m.filesKey(k) {
		m.entered = false
		return
	}
	if k == "esc" || k == "q" {
		m.mode, m.message = browsing, nil
		return
	}
	if m.found == nil {
		m.entered = k == "enter" && m.finding == AskFiles // who types a path quickly is not to wait for the list
		return
	}
	lines := m.foundLines()
	if len(lines) == 0 {
		return
	}
	f := lines[max(min(m.planAt, len(lines)-1), 0)]
	switch {
	case k == "enter" && m.finding == AskFiles:
		r, _ := m.selected()
		m.beginFinding(Ask{What: AskBlame, Text: f.Raw, ID: r.ID})
	case k == "enter" && m.finding == AskBlame && f.CameID == "": // no row wrote it
	case k == "enter":
		m.goTo(f.CameID, f.Raw)
	case k == "w" && f.WentID != "":
		m.goTo(f.WentID, f.Raw)
	default:
		m.planAt = min(m.scrolled(k, m.planAt), len(lines)-1)
	}
}

// filesKey is a key that types a part of a path.
func (m *Picker) filesKey(k string) bool {
	switch r, n := utf8.DecodeRuneInString(k); {
	case k == "backspace" && len(m.field) > 0:
		m.field = m.field[:len(m.field)-1]
	case k == "ctrl-u":
		m.field = nil
	case n == len(k) && r != utf8.RuneError && r >= ' ':
		m.typed(k)
	default:
		return false
	}
	m.planAt = 0
	return true
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
	lines := m.foundLines()
	text := fmt.Sprintf("  %d lines with %s", len(lines), m.query)
	switch {
	case m.finding == AskFiles:
		text = fmt.Sprintf("  %d of %d files, now or in a checkpoint", len(lines), len(m.found.Lines))
	case m.finding == AskBlame && len(lines) == 0:
		text = "  The file is empty."
	case m.finding == AskBlame:
		text = "  " + lines[0].Path + ", " + m.found.At + ": who wrote each line"
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
		switch m.finding {
		case AskFiles:
			return Line{{cursor, Bold}, {f.Path, Plain}}
		case AskBlame:
			came := f.Came
			if i > 0 && lines[i-1].Came == came && lines[i-1].CameID == f.CameID {
				came = ""
			}
			room := max(w/3, 12)
			return Line{{cursor, Bold}, {cell(came, room, false) + " ", Cyan}, {fmt.Sprintf("%5d ", f.Line), Dim}, {f.Text, Plain}}
		}
		place := fmt.Sprintf(":%d", f.Line)
		room := max(w/3-len(place), 8)
		return Line{{cursor, Bold}, {cell(clipLeft(f.Path, room)+place, room+len(place), false) + " ", Plain}, {strings.TrimSpace(f.Text), status}}
	})...)
}

// foundFoot says in which rows the line under the cursor came and went.
func (m *Picker) foundFoot() Line {
	lines := m.foundLines()
	if m.finding == AskFiles && m.found != nil {
		return m.fieldLine("path: ", "  enter shows who wrote its lines, esc leaves")
	}
	if len(lines) == 0 {
		return keysLine("esc", "leave")
	}
	f := lines[max(min(m.planAt, len(lines)-1), 0)]
	l := Line{{"enter ", Bold}, {"came with " + Clip(f.Came, max(m.w/3, 20)), Plain}}
	if f.WentID != "" {
		l = append(l, Span{"  w ", Bold}, Span{"went with " + Clip(f.Went, max(m.w/3, 20)), Plain})
	}
	return append(append(l, Span{"  ", Plain}), keysLine("esc", "leave")...)
}
