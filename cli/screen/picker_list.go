package screen

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/rewind-cli/rewind/engine/graph"
)

// listView is the list with the graph beside it.
func (m *Picker) listView(w, h int) []string {
	m.top = max(min(m.top, m.cursor), m.cursor-h+1, 0)
	if m.top > 0 {
		m.top = max(min(m.top, len(m.shown)-h), 0)
	}
	n := max(min(h, len(m.shown)-m.top), 0)
	graph := m.graphCells(n, w)
	out := make([]string, 0, h)
	for i := range n {
		at := m.top + i
		out = append(out, m.rowLine(at, graph[i], w))
	}
	for len(out) < h {
		var l Line
		if len(out) == 0 {
			switch {
			case !m.loaded:
				l = Text(Dim, "  reading the checkpoints…")
			case m.filter != "":
				l = Text(Dim, "  no checkpoint matches; esc shows all")
			default:
				l = Text(Dim, "  no checkpoints yet; take one with rewind save")
			}
		}
		out = append(out, m.p.fit(l, w, Plain))
	}
	return out
}

// graphCells is the graph of the rows on the screen: lines where all rows are shown, and else the
// rows' own marks.
func (m *Picker) graphCells(n, w int) []Line {
	room := max(min(w/5, mostLanes+mostTracks), 1)
	node := func(row int) (string, Style) {
		r := &m.rows.List[row]
		switch {
		case r.Is == IsNow:
			return "@", Bold
		case r.Is == IsOperation:
			return m.rule("◆", "*"), Plain
		case r.Prompt && !m.ascii:
			return "●", Plain
		case r.Prompt:
			return "O", Plain
		case r.Dim:
			return m.rule("·", "."), Plain
		}
		return m.rule("○", "o"), Plain
	}
	g := m.rows.Graph
	if g == nil {
		g = &graph.Graph{}
	}
	if m.filter == "" {
		return drawGraph(g, m.top, n, m.ascii, room, node)
	}
	out := make([]Line, n)
	for i := range out {
		s, style := node(m.shown[m.top+i])
		out[i] = Text(style, s)
	}
	return out
}

// rowLine is one row: cursor, mark, graph, number, age, why, text, what it changed.
func (m *Picker) rowLine(at int, graph Line, w int) string {
	r := &m.rows.List[m.shown[at]]
	under, cursor := Plain, Span{" ", Plain}
	if at == m.cursor {
		cursor = Span{">", Bold}
		if m.focus == listPane || m.layout().shape != single {
			under = Reverse
		}
	}
	mark := Span{" ", Plain}
	if slices.Contains(m.marks, r.ID) {
		mark = Span{"+", both(Bold, Yellow)}
	}
	number := r.N
	if r.Pinned {
		number += "*"
	}
	l := append(Line{cursor, mark}, graph...)
	l = append(l, Span{" " + cell(number, m.widths.n, true), Yellow}, Span{" " + cell(r.Age, m.widths.age, true) + " ", Dim})
	used := displaywidth.String(l.String())
	why, note := m.widths.why, m.widths.note
	if w < 60 {
		why = min(why, 6)
	}
	if w-used-why-1-note-1 < 20 { // too narrow for all: what it changed goes first, then why
		note = 0
	}
	if w-used-why-1 < 16 {
		why = 0
	}
	if why > 0 {
		l = append(l, Span{cell(r.Why, why, false) + " ", Cyan})
		used += why + 1
	}
	room := w - used
	if r.Note == "" {
		note = 0
	}
	if note > 0 {
		room -= note + 1
	}
	style := Plain
	switch {
	case r.Is == IsNow:
		style = Bold
	case r.Dim:
		style = Dim
	}
	text := r.Text
	if why == 0 && text == "" {
		text = r.Why
	}
	text = cell(text, max(room, 0), false)
	l = append(l, m.matches(text, style)...)
	if note > 0 {
		l = append(append(l, Span{" ", Plain}), noteSpans(cell(r.Note, note, true))...)
	}
	return m.p.fit(l, w, under)
}

// noteSpans gives each count of what a row changed its colour: + added, ~ changed, - deleted; all else is dim.
func noteSpans(note string) (l Line) {
	for word := range strings.SplitAfterSeq(note, " ") {
		style := Dim
		if number, rest, _ := strings.Cut(word, " "); len(number) > 1 && rest == "" && strings.Trim(number[1:], "0123456789") == "" {
			switch number[0] {
			case '+':
				style = Green
			case '~':
				style = Yellow
			case '-':
				style = Red
			}
		}
		if last := len(l) - 1; last >= 0 && l[last].Style == style {
			l[last].Text += word
		} else {
			l = append(l, Span{word, style})
		}
	}
	return l
}
