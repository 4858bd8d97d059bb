package screen

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Row is one line to choose from. Its cells are escaped already.
type Row struct {
	ID    string
	Cells []string
	Text  string // what a filter is compared with
}

// Picker is the state of a list that a person chooses a row from. It knows no terminal: keys go
// in, lines come out.
type Picker struct {
	columns []Column
	rows    []Row
	p       Painter
	w, h    int
	filter  string
	typing  bool // a filter has been begun, so that q is a letter
	asking  bool // enter was pressed: restore?

	shown    []int // rows that match the filter
	cursor   int   // in shown
	top      int   // first of shown on the screen
	previews map[string][]string
}

// PreviewLines is how many lines of a preview are shown at most.
const PreviewLines = 8

// Action is what a key asks for beyond a change of the picture.
type Action int

// Actions.
const (
	stay      Action = iota
	Quit             // leave everything as it is
	Interrupt        // ctrl-c
	Restore          // restore what is selected
)

// NewPicker begins with the first row.
func NewPicker(columns []Column, rows []Row, p Painter) *Picker {
	m := &Picker{columns: columns, rows: rows, p: p, w: 80, h: 24, previews: map[string][]string{}}
	m.refilter()
	return m
}

// Selected is the index of the row under the cursor.
func (m *Picker) Selected() (row int, ok bool) {
	if m.cursor < 0 || m.cursor >= len(m.shown) {
		return 0, false
	}
	return m.shown[m.cursor], true
}

// key takes one key, named as decodeKeys names them.
func (m *Picker) key(k string) Action {
	if k == "ctrl-c" {
		return Interrupt
	}
	if m.asking {
		m.asking = false
		if k == "y" || k == "Y" {
			return Restore
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
		_, m.asking = m.Selected()
	case "esc":
		if !m.typing {
			return Quit
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
func (m *Picker) letter(k string) Action {
	r, n := utf8.DecodeRuneInString(k)
	switch {
	case n != len(k) || r < ' ' || Unsafe(r) && r >= 0x80:
		return stay // a key without a meaning here
	case !m.typing && k == "q":
		return Quit
	case !m.typing && k == "/":
		m.typing = true
		return stay
	}
	m.typing = true
	m.filter += k
	m.refilter()
	return stay
}

// refilter keeps the rows in which every word of the filter occurs.
func (m *Picker) refilter() {
	words := strings.Fields(strings.ToLower(m.filter))
	m.shown = m.shown[:0]
next:
	for i := range m.rows {
		text := strings.ToLower(m.rows[i].Text)
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
func (m *Picker) previewHeight() int { return min(PreviewLines, m.h/3) }

func (m *Picker) listHeight() int { return max(m.h-m.previewHeight()-3, 1) }

// view is the picture: at most h lines of at most w columns.
func (m *Picker) view() []string {
	height := m.listHeight()
	m.top = max(min(m.top, m.cursor), m.cursor-height+1)
	lines := []string{m.head()}
	t := Table{Width: m.w - 2, Columns: m.columns}
	for _, i := range m.shown[m.top:min(m.top+height, len(m.shown))] {
		t.Rows = append(t.Rows, m.rows[i].Cells)
	}
	at := m.top
	first := true
	t.Write(m.p, func(s string) {
		switch {
		case first:
			first = false
		case at == m.cursor:
			lines = append(lines, m.p.Paint(Bold, "> ")+s)
			at++
		default:
			lines = append(lines, "  "+s)
			at++
		}
	})
	for len(lines) < height+1 {
		lines = append(lines, "")
	}
	lines = append(lines, m.p.Paint(Dim, strings.Repeat("─", max(m.w, 1))))
	lines = append(lines, m.preview()...)
	for i := range lines {
		lines[i] = clipPainted(lines[i], m.w)
	}
	return lines[:min(len(lines), max(m.h, 1))]
}

func (m *Picker) head() string {
	switch i, ok := m.Selected(); {
	case m.asking && ok:
		return m.p.Paint(Yellow, fmt.Sprintf("restore to %s? y/N", m.rows[i].ID))
	case m.typing:
		return "filter: " + strings.ToValidUTF8(m.filter, string(utf8.RuneError)) + fmt.Sprintf("  (%d of %d)", len(m.shown), len(m.rows))
	}
	return m.p.Paint(Dim, "enter: restore, type to filter, q: quit")
}

// preview is what choosing the selected row would do.
func (m *Picker) preview() []string {
	i, ok := m.Selected()
	if !ok {
		return []string{"no checkpoint matches"}
	}
	lines, ok := m.previews[m.rows[i].ID]
	if !ok {
		return []string{"…"}
	}
	return lines[:min(len(lines), max(m.previewHeight(), 1))]
}

// clipPainted is clip for a line that has colours: sequences take no columns.
func clipPainted(s string, width int) string {
	o := displaywidth.Options{ControlSequences: true}
	if o.String(s) <= width {
		return s
	}
	return o.TruncateString(s, width, "…") + "\x1b[0m"
}
