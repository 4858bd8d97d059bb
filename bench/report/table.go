package report

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Table is Markdown whose columns are aligned in the source too.
type Table struct {
	head  []string
	right []bool
	rows  [][]string
}

// NewTable has columns with these names; one that begins with ">" is aligned
// to the right.
func NewTable(columns ...string) *Table {
	t := &Table{}
	for _, c := range columns {
		name, right := strings.CutPrefix(c, ">")
		t.head, t.right = append(t.head, name), append(t.right, right)
	}
	return t
}

// Row adds a row. Missing cells are empty.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.head))
	for i := range min(len(row), len(cells)) {
		row[i] = strings.ReplaceAll(strings.ReplaceAll(cells[i], "|", `\|`), "\n", " ")
	}
	t.rows = append(t.rows, row)
}

func (t *Table) String() string {
	width := make([]int, len(t.head))
	for i, h := range t.head {
		width[i] = max(3, utf8.RuneCountInString(h))
		for _, r := range t.rows {
			width[i] = max(width[i], utf8.RuneCountInString(r[i]))
		}
	}
	var b strings.Builder
	line := func(cells []string) {
		for i, c := range cells {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if t.right[i] {
				c = pad + c
			} else {
				c += pad
			}
			b.WriteString("| " + c + " ")
		}
		b.WriteString("|\n")
	}
	line(t.head)
	for i, w := range width {
		if t.right[i] {
			b.WriteString("|" + strings.Repeat("-", w+1) + ":")
		} else {
			b.WriteString("|" + strings.Repeat("-", w+2))
		}
	}
	b.WriteString("|\n")
	for _, r := range t.rows {
		line(r)
	}
	return b.String()
}

// Time of a run, with three digits that count: 0.42 ms, 43.1 ms, 1.32 s.
func (m Millis) String() string {
	switch {
	case m == 0:
		return "–"
	case m < 9.995:
		return fmt.Sprintf("%.2f ms", float64(m))
	case m < 99.95:
		return fmt.Sprintf("%.1f ms", float64(m))
	case m < 999.5:
		return fmt.Sprintf("%.0f ms", float64(m))
	case m < 99_950:
		return trim(float64(m)/1e3) + " s"
	default:
		return fmt.Sprintf("%.0f s", float64(m)/1e3)
	}
}

// Bytes on disk or in memory, in powers of ten: 812 B, 4.10 KB, 232 MB.
func Bytes(n int64) string {
	if n == 0 {
		return "–"
	}
	f := float64(n)
	for _, unit := range []string{"B", "KB", "MB"} {
		if math.Abs(f) < 999.5 {
			if unit == "B" {
				return fmt.Sprintf("%.0f B", f)
			}
			return trim(f) + " " + unit
		}
		f /= 1000
	}
	return trim(f) + " GB"
}

// Ratio of two times: "–" without both.
func Ratio(a, b Millis) string {
	if a == 0 || b == 0 {
		return "–"
	}
	return trim(float64(a/b)) + " ×"
}

// trim gives three digits that count.
func trim(f float64) string {
	switch {
	case f < 9.995:
		return fmt.Sprintf("%.2f", f)
	case f < 99.95:
		return fmt.Sprintf("%.1f", f)
	default:
		return fmt.Sprintf("%.0f", f)
	}
}

// Count with commas: 15,036.
func Count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
