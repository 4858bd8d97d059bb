package screen

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Column is one column of a table. Cells must be escaped already.
type Column struct {
	Title string
	Right bool // aligned to the right
	Flex  bool // cut with … where the line would be wider than the screen
	Style Style
}

// Table lays rows out in columns, two spaces between them. width is the
// screen's, 0 for no limit. A column that is empty in every row is left out.
type Table struct {
	Columns []Column
	Rows    [][]string
	Width   int
}

const (
	Gap = 2
	// maxFlexPad is how far a flexible column pads its cells at most where there is no limit: longer ones are not cut, and stick out.
	maxFlexPad = 60
	MinFlex    = 12 // a flexible column is not cut below this, even if lines then wrap
)

// Write renders the table, title line first.
func (t *Table) Write(p Painter, emit func(line string)) {
	widths := t.widths()
	t.line(p, widths, t.titles(), true, emit)
	for _, row := range t.Rows {
		t.line(p, widths, row, false, emit)
	}
}

func (t *Table) titles() []string {
	out := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = c.Title
	}
	return out
}

func (t *Table) widths() []int {
	widths := make([]int, len(t.Columns))
	for _, row := range t.Rows {
		for i, cell := range row {
			widths[i] = max(widths[i], displaywidth.String(cell))
		}
	}
	total, used, flexes := 0, 0, 0
	for i := range widths {
		if widths[i] == 0 && len(t.Rows) > 0 {
			continue
		}
		widths[i] = max(widths[i], displaywidth.String(t.Columns[i].Title))
		total += widths[i]
		used++
		if t.Columns[i].Flex {
			flexes++
			if t.Width == 0 {
				widths[i] = min(widths[i], maxFlexPad)
			}
		}
	}
	total += Gap * max(used-1, 0)
	for over := total - t.Width; t.Width > 0 && over > 0 && flexes > 0; {
		left := 0 // those that can still be cut
		for i := range widths {
			if t.Columns[i].Flex && widths[i] > MinFlex {
				cut := min(widths[i]-MinFlex, (over+flexes-1)/flexes)
				widths[i] -= cut
				over -= cut
				flexes--
				if widths[i] > MinFlex {
					left++
				}
			}
		}
		flexes = left
	}
	return widths
}

func (t *Table) line(p Painter, widths []int, cells []string, title bool, emit func(string)) {
	var b strings.Builder
	pad := -Gap // spaces before the next text
	for i, cell := range cells {
		if widths[i] == 0 {
			continue
		}
		if t.Width > 0 || !t.Columns[i].Flex {
			cell = Clip(cell, widths[i])
		}
		space, style := max(widths[i]-displaywidth.String(cell), 0), t.Columns[i].Style
		if title {
			style = Dim
		}
		pad += Gap
		if t.Columns[i].Right {
			pad, space = pad+space, 0
		}
		if cell != "" {
			b.WriteString(strings.Repeat(" ", pad) + p.Paint(style, cell))
			pad = 0
		}
		pad += space
	}
	emit(b.String())
}

// Clip shortens s to at most width columns, with … where something was cut.
func Clip(s string, width int) string {
	if displaywidth.String(s) <= width {
		return s
	}
	return displaywidth.TruncateString(s, width, "…")
}
