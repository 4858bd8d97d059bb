package cli

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// column is one column of a table. Cells must be escaped already.
type column struct {
	title string
	right bool // aligned to the right
	flex  bool // cut with … where the line would be wider than the screen
	style style
}

// table lays rows out in columns, two spaces between them. width is the
// screen's, 0 for no limit. A column that is empty in every row is left out.
type table struct {
	columns []column
	rows    [][]string
	width   int
}

const (
	gap     = 2
	minFlex = 12 // a flexible column is not cut below this, even if lines then wrap
)

// write renders the table, title line first.
func (t *table) write(p painter, emit func(line string)) {
	widths := t.widths()
	t.line(p, widths, t.titles(), true, emit)
	for _, row := range t.rows {
		t.line(p, widths, row, false, emit)
	}
}

func (t *table) titles() []string {
	out := make([]string, len(t.columns))
	for i, c := range t.columns {
		out[i] = c.title
	}
	return out
}

func (t *table) widths() []int {
	widths := make([]int, len(t.columns))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], displaywidth.String(cell))
		}
	}
	total, used, flexes := 0, 0, 0
	for i := range widths {
		if widths[i] == 0 && len(t.rows) > 0 {
			continue
		}
		widths[i] = max(widths[i], displaywidth.String(t.columns[i].title))
		total += widths[i]
		used++
		if t.columns[i].flex {
			flexes++
		}
	}
	total += gap * max(used-1, 0)
	if over := total - t.width; t.width > 0 && over > 0 && flexes > 0 {
		for i := range widths {
			if t.columns[i].flex && widths[i] > minFlex {
				cut := min(widths[i]-minFlex, (over+flexes-1)/flexes)
				widths[i] -= cut
				over -= cut
				flexes--
			}
		}
	}
	return widths
}

func (t *table) line(p painter, widths []int, cells []string, title bool, emit func(string)) {
	var b strings.Builder
	pad := 0
	first := true
	for i, cell := range cells {
		w := widths[i]
		if w == 0 {
			continue
		}
		cell = clip(cell, w)
		space := w - displaywidth.String(cell)
		if !first {
			pad += gap
		}
		first = false
		if t.columns[i].right {
			pad += space
			space = 0
		}
		if cell != "" {
			b.WriteString(strings.Repeat(" ", pad))
			pad = 0
			if title {
				b.WriteString(p.paint(dim, cell))
			} else {
				b.WriteString(p.paint(t.columns[i].style, cell))
			}
		} else {
			space = w
			if t.columns[i].right {
				space = 0
			}
		}
		pad += space
	}
	emit(b.String())
}

// clip shortens s to at most width columns, with … where something was cut.
func clip(s string, width int) string {
	if displaywidth.String(s) <= width {
		return s
	}
	return displaywidth.TruncateString(s, width, "…")
}
