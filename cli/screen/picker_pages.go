package screen

import "fmt"

// page shows lines from planAt on, and brings planAt back to where there are some.
func (m *Picker) page(lines []Line, w, h int) []string {
	h = max(h, 0)
	m.planAt = max(min(m.planAt, len(lines)-h), 0)
	below := len(lines) - m.planAt - h
	if below <= 0 || h < 2 {
		return m.window(lines, m.planAt, w, h, -1)
	}
	more := Text(Dim, fmt.Sprintf("  %s %d more lines", m.rule("↓", "down:"), below+1))
	return append(m.window(lines, m.planAt, w, h-1, -1), m.p.fit(more, w, Plain))
}

// planLines are a plan: what is asked, what is moved, what goes, file by file.
func (m *Picker) planLines(w int) []Line {
	if m.plan == nil {
		return []Line{nil, Text(Dim, "  looking at the files…")}
	}
	out := wrapped(m.plan.Facts, w)
	if len(m.plan.Files) > 0 {
		out = append(out, nil)
	}
	for _, f := range m.plan.Files {
		l := Line{{"  " + cell(f.Status, 8, false), statusStyle(f.Status)}, {f.Path, Plain}}
		if c := fileCounts(f); c != nil {
			l = append(append(l, Span{"  ", Plain}), c...)
		}
		out = append(out, l)
	}
	if len(m.plan.Notes) > 0 {
		out = append(append(out, nil), wrapped(m.plan.Notes, w)...)
	}
	return out
}

// planFoot is the question, or that there is none.
func (m *Picker) planFoot() Line {
	if m.plan.Question == "" {
		l := Line{{"nothing to do, nothing was changed", Plain}, {"  esc leaves", Dim}}
		if m.plan.Git {
			l = append(append(l, Span{"  ", Plain}), keysLine("g", "with git")...)
		}
		return l
	}
	l := Line{{"y/n ", Bold}, {m.plan.Question, Yellow}}
	if m.verb == Restore && m.paths+m.parts == "" {
		l = append(append(l, Span{"  ", Plain}), keysLine("b/c/t", "both, code, chat", "f", "files")...)
		if m.plan.Git && m.git {
			l = append(append(l, Span{"  ", Plain}), keysLine("g", "without git")...)
		} else if m.plan.Git {
			l = append(append(l, Span{"  ", Plain}), keysLine("g", "with git")...)
		}
	}
	return l
}

// chooseView is the files of a plan, to choose from.
func (m *Picker) chooseView(w, h int) []string {
	if m.plan == nil {
		return m.page([]Line{nil, Text(Dim, "  looking at the files…")}, w, h)
	}
	if len(m.plan.Files) == 0 {
		return m.page(m.planLines(w), w, h)
	}
	at := max(min(m.planAt, len(m.plan.Files)-1), 0)
	text, some := fmt.Sprintf("  Files to restore to %s: %d of %d chosen", m.numberOf(m.target), len(m.checked), len(m.plan.Files)), 0
	for _, f := range m.plan.Files {
		if n, _ := m.hunkCount(f.Raw); n > 0 && !m.checked[f.Raw] {
			some++
		}
	}
	if some > 0 {
		text += fmt.Sprintf(", parts of %d", some)
	}
	head := m.p.fit(Text(Bold, text), w, Plain)
	h--
	return append([]string{head}, m.windowOf(len(m.plan.Files), max(at-h+1, 0), w, h, at, func(i int) Line {
		f, cursor, box, some := m.plan.Files[i], "  ", "[ ] ", ""
		if i == at {
			cursor = "> "
		}
		if n, of := m.hunkCount(f.Raw); m.checked[f.Raw] {
			box = "[x] "
		} else if n > 0 {
			box, some = "[~] ", fmt.Sprintf("%d of %d hunks  ", n, of)
		}
		return Line{{cursor, Bold}, {box, Plain}, {cell(f.Status, 8, false), statusStyle(f.Status)}, {some, Cyan}, {f.Path, Plain}}
	})...)
}

func (m *Picker) logLines() []Line {
	if m.log == nil {
		return []Line{nil, Text(Dim, "  reading…")}
	}
	return m.log
}

// helpLines are the keys.
func (m *Picker) helpLines(w int) []Line {
	keys := [][2]string{
		{"↑ ↓ j k PgUp PgDn g G", "move"}, {"tab", "next pane: list, files, diff, conversation"},
		{"[ ]", "to the prompt before, to the one after"}, {"ctrl-d ctrl-u", "scroll the diff"},
		{"enter b", "plan a restore of files and conversation; y does it"},
		{"c t", "the same for the files alone, or the conversation"},
		{"g", "in a plan: what git has lost since returns, too"},
		{"f", "choose files: space chooses, enter shows the plan"},
		{"f " + m.rule("→", "l"), "choose hunks: space chooses, s splits, " + m.rule("←", "h") + " goes back"},
		{"v", "plan to revert the row's turn: all else stays"},
		{"u U o a", "undo, redo, the operations, the attempts at a prompt"},
		{"F i", "who wrote each line; what takes space or is not held"},
		{"d", "compare with the files as they are now, or as before"},
		{"space", "mark; two marks, of rows or attempts, are compared"}, {"/", "filter; enter keeps it, esc shows all again"},
		{"/ then tab", "search the lines of all files, in all checkpoints"},
		{"s p n", "with safety checkpoints, one session; pin, name"},
		{"w x", "the page at this row; its session as a page to share"}, {"ctrl-l ? q esc", "look again, these keys, leave"},
		{"@ " + m.rule("● ○", "O o"), "the files as they are; before a prompt; a checkpoint"},
		{m.rule("◆ ·", "* ."), "a restore or an undo; a safety checkpoint before one"},
		{m.rule("╮╯", ".'"), "a restore: from where to what; faint: taken back"},
	}
	if m.ascii {
		keys[0][0] = "up down j k PgUp PgDn g G"
	}
	var out []Line
	for _, k := range keys {
		if w < 60 && k[0] != "" {
			out = append(out, Line{{" " + k[0], Bold}})
			for _, part := range wrap(k[1], max(w-4, 1)) {
				out = append(out, Line{{"    " + part, Plain}})
			}
			continue
		}
		out = append(out, Line{{"  " + cell(k[0], 24, false), Bold}, {k[1], Plain}})
	}
	return out
}
