package screen

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// view is the picture: exactly h lines of exactly w columns.
func (m *Picker) view() []string {
	w, h := max(m.w, 1), max(m.h, 1)
	lines := []string{m.p.fit(m.head(), w, Plain)}
	var body []string
	switch room := h - 2; m.mode {
	case planning, working:
		body = m.page(m.planLines(w), w, room)
	case choosing:
		body = m.chooseView(w, room)
	case choosingHunks:
		body = m.hunksView(w, room)
	case helping:
		body = m.page(m.helpLines(w), w, room)
	case logging:
		body = m.page(m.logLines(), w, room)
	case attempting:
		body = m.attemptsView(w, room)
	case searching:
		body = m.foundView(w, room)
	default:
		body = m.panesView(max(room, 1))
	}
	lines = append(lines, body...)
	for len(lines) < h-1 {
		lines = append(lines, m.p.fit(nil, w, Plain))
	}
	feet := m.feet(w, h)
	if most := h - len(feet); len(lines) > most {
		lines = lines[:most]
	}
	for _, foot := range feet {
		lines = append(lines, m.p.fit(foot, w, Plain))
	}
	return lines
}

// mostFeet is how many lines a message may take, of a window that has several times as many.
const mostFeet = 3

// feet are the foot, where it is a message that is longer than a line in more of them.
func (m *Picker) feet(w, h int) []Line {
	foot := m.foot()
	if m.message == nil || h < 4*mostFeet || displaywidth.String(foot.String()) <= w {
		return []Line{foot}
	}
	feet := wrapped([]Line{foot}, w)
	return feet[:min(len(feet), mostFeet)]
}

// head is the first line: where this is, the scope, what is shown of it.
func (m *Picker) head() Line {
	l := Line{{"rewind", Bold}, {"  " + m.rows.Where, Plain}}
	switch m.scope {
	case WithSafety:
		l = append(l, Span{"  with safety checkpoints", Cyan})
	case InSession:
		l = append(l, Span{"  one session", Cyan})
	}
	if m.filter != "" && m.mode != filtering {
		l = append(l, Span{"  /" + m.filter, Yellow})
	}
	if len(m.marks) == 2 {
		l = append(l, Span{"  comparing " + m.numberOf(m.marks[0]) + " with " + m.numberOf(m.marks[1]), Yellow})
	}
	if m.layout().shape == single && m.focus != listPane && m.mode == browsing {
		l = append(l, Span{"  " + [...]string{filesPane: "files", diffPane: "diff", talkPane: "conversation"}[m.focus], Bold})
	}
	count := fmt.Sprintf("%d checkpoints", m.rows.Total)
	switch {
	case !m.loaded:
		count = "reading…"
	case m.filter != "":
		count = fmt.Sprintf("%d of %d", len(m.shown), len(m.rows.List))
	case m.rows.Total == 1:
		count = "1 checkpoint"
	}
	if gap := m.w - displaywidth.String(l.String()) - len(count); gap > 1 {
		l = append(l, Span{strings.Repeat(" ", gap), Plain}, Span{count, Dim})
	}
	return l
}

func (m *Picker) numberOf(id string) string {
	if r, ok := m.row(id); ok && r.N != "" {
		return r.N
	}
	return Clip(id, 8)
}

// foot is the last line: a field, a message, or the keys.
func (m *Picker) foot() Line {
	switch {
	case m.mode == filtering:
		after := fmt.Sprintf("  %d of %d", len(m.shown), len(m.rows.List))
		if len(m.field) > 0 {
			after += "; tab searches in the files, at all times"
		} else {
			after += "; tab then searches in the files for what you type"
		}
		return m.fieldLine("/", after)
	case m.mode == naming:
		return m.fieldLine("name of "+m.numberOf(m.target)+": ", "  enter names it, esc leaves")
	case m.mode == sharing:
		return m.fieldLine("the session as a page, to: ", "  enter writes it, esc leaves")
	case m.mode == working:
		return Text(Yellow, "working… ctrl-c stops it and changes nothing")
	case m.mode == planning && m.plan == nil:
		return Text(Dim, "looking at the files…")
	case m.mode == planning && m.message != nil:
		return append(m.message[:len(m.message):len(m.message)], Span{"  y does it, n leaves", Bold})
	case m.message != nil:
		return m.message
	case m.mode == planning:
		return m.planFoot()
	case m.mode == choosing && m.w < 60:
		return keysLine("space", "choose", m.rule("→", "l"), "hunks", "enter", "plan")
	case m.mode == choosing:
		return keysLine("space", "choose", "a", "all", m.rule("→", "l"), "hunks", "enter", "plan", "esc", "leave")
	case m.mode == choosingHunks && m.w < 60:
		return keysLine("space", "choose", "enter", "plan", m.rule("←", "h"), "files")
	case m.mode == choosingHunks:
		return keysLine(m.rule("↑↓", "j k"), "hunk", "space", "choose", "a", "all", "s", "split", "enter", "plan", m.rule("←", "h"), "files")
	case m.mode == searching:
		return m.foundFoot()
	case m.mode == attempting && len(m.tried) > 1:
		return keysLine(m.rule("↑↓", "j k"), "attempt", "space", "choose two to compare", "q", "leave")
	case m.mode == helping, m.mode == logging, m.mode == attempting:
		return keysLine("↑↓", "scroll", "q", "leave")
	case m.w < 60:
		return keysLine("enter", "plan", "tab", "look", "/", "filter", "?", "keys")
	case m.w < 155:
		return keysLine("enter", "plan", "v", "revert", "d", "diff", "f", "files", "u", "undo", "/", "filter", "?", "keys", "q", "leave")
	}
	return keysLine("enter", "plan", "b/c/t", "both, code, chat", "v", "revert", "d", "diff", "f", "files", "space", "mark", "u/U", "undo, redo", "o", "operations", "a", "attempts",
		"p", "pin", "n", "name", "s", "scope", "/", "filter", "?", "keys", "q", "leave")
}

// fieldLine is a line that is typed, with its end in sight.
func (m *Picker) fieldLine(before, after string) Line {
	text := string(m.field)
	for room := m.w - displaywidth.String(before) - 1; text != "" && displaywidth.String(text) > max(room, 1); {
		text = string([]rune(text)[1:])
	}
	style := Plain
	if m.kept && m.mode == filtering { // the next letter replaces it
		style = Reverse
	}
	return Line{{before, Yellow}, {text, style}, {" ", Reverse}, {after, Dim}}
}

// keysLine shows keys and what they do, in turn.
func keysLine(words ...string) Line {
	var l Line
	for i := 0; i+1 < len(words); i += 2 {
		if i > 0 {
			l = append(l, Span{"  ", Plain})
		}
		l = append(l, Span{words[i], Bold}, Span{" " + words[i+1], Dim})
	}
	return l
}

// panesView is the list and the panes beside it.
func (m *Picker) panesView(room int) []string {
	if look := m.look(); look != nil { // until it is known, it is as before
		m.quiet = len(look.Talk) == 0
	}
	l := arrange(m.w, room, m.focus, m.quiet)
	draw := func(p pane) []string { return m.pane(p, l.size[p].w, l.size[p].h) }
	titled := func(all ...pane) (out []string) {
		for _, p := range all {
			out = append(append(out, m.title(p, l.size[p].w)), draw(p)...)
		}
		return out
	}
	bar := m.p.Paint(Dim, m.rule("│", "|"))
	switch l.shape {
	case single:
		return draw(m.focus)
	case stacked:
		out := draw(listPane)
		if m.focus == talkPane {
			return append(append(out, m.title(talkPane, m.w)), draw(talkPane)...)
		}
		files, diff := l.size[filesPane].w, l.size[diffPane].w
		out = append(out, m.title(filesPane, files)+m.p.Paint(Dim, m.rule("┬", "+"))+m.title(diffPane, diff))
		return append(out, beside(bar, draw(filesPane), draw(diffPane))...)
	case side:
		right := titled(filesPane, diffPane)
		if l.size[talkPane].h > 0 {
			right = append(right, titled(talkPane)...)
		}
		return beside(bar, draw(listPane), right)
	}
	return beside(bar, draw(listPane), titled(filesPane, diffPane), titled(talkPane))
}

func (m *Picker) rule(box, ascii string) string {
	if m.ascii {
		return ascii
	}
	return box
}

// beside puts columns side by side; they are as high as the first.
func beside(bar string, columns ...[]string) []string {
	out := make([]string, len(columns[0]))
	for i := range out {
		var b strings.Builder
		for j, c := range columns {
			if j > 0 {
				b.WriteString(bar)
			}
			if i < len(c) {
				b.WriteString(c[i])
			}
		}
		out[i] = b.String()
	}
	return out
}

// title is a rule with what the pane below it shows.
func (m *Picker) title(p pane, w int) string {
	line, text := m.rule("─", "-"), ""
	look := m.look()
	switch p {
	case filesPane:
		text = "files"
		if look != nil && len(look.Files) > 0 {
			text = fmt.Sprintf("%d files", len(look.Files))
			if len(look.Files) == 1 {
				text = "1 file"
			} else if look.More {
				text = "more than " + text
			}
		}
	case diffPane:
		text = "diff"
		if look != nil && look.Title != "" {
			text = look.Title
		}
	case talkPane:
		text = "conversation"
	}
	style := Dim
	if m.focus == p {
		style = Bold
		if !m.p.On {
			text = "[" + text + "]"
		}
	}
	text = Clip(text, max(w-4, 0))
	rest := max(w-3-displaywidth.String(text), 0)
	return m.p.fit(Line{{line + " ", Dim}, {text, style}, {" " + strings.Repeat(line, rest), Dim}}, w, Plain)
}

// pane draws what is in a pane: h lines of w columns.
func (m *Picker) pane(p pane, w, h int) []string {
	if p == listPane {
		return m.listView(w, h)
	}
	look := m.look()
	if look == nil {
		m.lines[p] = 0
		return m.page([]Line{Text(Dim, "…")}, w, h)
	}
	var lines []Line
	mark := -1
	switch p {
	case filesPane:
		lines = m.fileLines(look, w)
		m.file = max(min(m.file, len(look.Files)-1), 0)
		m.offset[p] = max(min(m.offset[p], m.file), m.file-h+1)
		if m.focus == p && len(look.Files) > 0 {
			mark = m.file
		}
	case diffPane:
		lines = look.Diff
	case talkPane:
		lines = wrapped(look.Talk, w)
		m.talk = max(len(lines)-h, 0)
		if look.Here > 0 {
			m.talk = min(m.talk, len(wrapped(look.Talk[:look.Here], w)))
		}
	}
	m.lines[p] = len(lines)
	if len(lines) == 0 {
		lines = []Line{Text(Dim, [...]string{filesPane: "no file changed", diffPane: "", talkPane: "no conversation is held here"}[p])}
	}
	top := m.offset[p]
	if p == talkPane {
		top += m.talk
	}
	top = max(min(top, len(lines)-h), 0)
	if p != talkPane && p != filesPane {
		m.offset[p] = top
	}
	return m.window(lines, top, w, h, mark)
}

// window shows h lines from top on; marked is the line that the cursor is on, -1 for none.
func (m *Picker) window(lines []Line, top, w, h, marked int) []string {
	return m.windowOf(len(lines), top, w, h, marked, func(i int) Line { return lines[i] })
}

// windowOf is window for n lines that are made as they are shown.
func (m *Picker) windowOf(n, top, w, h, marked int, line func(i int) Line) []string {
	out := make([]string, 0, max(h, 0))
	for i := top; i < top+h; i++ {
		var l Line
		under := Plain
		if i < n {
			l = line(i)
		}
		if i == marked {
			under = Reverse
		}
		out = append(out, m.p.fit(l, w, under))
	}
	return out
}

// fileLines are the files of a look.
func (m *Picker) fileLines(look *Look, w int) []Line {
	out := make([]Line, len(look.Files))
	for i, f := range look.Files {
		counts := fileCounts(f)
		room := max(w-2-displaywidth.String(counts.String())-1, 1)
		out[i] = append(Line{{f.Status + " ", statusStyle(f.Status)}, {cell(clipLeft(f.Path, room), room, false) + " ", Plain}}, counts...)
		if m.focus == filesPane && i == m.file && !m.p.On {
			out[i][0].Text = ">" + f.Status
			out[i][1].Text = cell(" "+clipLeft(f.Path, room-1), room, false) + " "
		}
	}
	return out
}

// clipLeft keeps a path's end: the name says more than the directory.
func clipLeft(path string, width int) string {
	if displaywidth.String(path) <= width {
		return path
	}
	for path != "" && displaywidth.String(path) > width-1 {
		_, rest, ok := strings.Cut(path, "/")
		if !ok || rest == "" {
			return Clip(path, width)
		}
		path = rest
	}
	return "…" + path
}

func fileCounts(f File) (l Line) {
	if f.Plus > 0 {
		l = append(l, Span{fmt.Sprintf("+%d", f.Plus), Green})
	}
	if f.Minus > 0 {
		if l != nil {
			l = append(l, Span{" ", Plain})
		}
		l = append(l, Span{fmt.Sprintf("-%d", f.Minus), Red})
	}
	return l
}

// statusStyle is that of a file's letter, or of its word in a plan.
func statusStyle(status string) Style {
	switch status {
	case "A", "create":
		return Green
	case "D", "delete":
		return Red
	case "skip":
		return Dim
	}
	return Yellow
}

// wrapped breaks lines at a width; each part keeps its style.
func wrapped(lines []Line, w int) (out []Line) {
	for _, l := range lines {
		text := l.String()
		if displaywidth.String(text) <= w {
			out = append(out, l)
			continue
		}
		at := 0
		for _, part := range wrap(text, w) {
			at += strings.Index(text[at:], part) // spaces between parts are gone
			out = append(out, l.part(at, at+len(part)))
			at += len(part)
		}
	}
	return out
}
