package screen

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Span is a piece of text in one style. Its text is escaped already.
type Span struct {
	Text  string
	Style Style
}

// Line is what is shown on one line.
type Line []Span

// Text is a line of one style.
func Text(style Style, text string) Line { return Line{{text, style}} }

// String is the line without its styles.
func (l Line) String() string {
	if len(l) == 1 {
		return l[0].Text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// part is what the line has between two bytes of its text.
func (l Line) part(from, to int) (out Line) {
	for _, s := range l {
		if begin, end := max(from, 0), min(to, len(s.Text)); begin < end {
			out = append(out, Span{s.Text[begin:end], s.Style})
		}
		from, to = from-len(s.Text), to-len(s.Text)
	}
	return out
}

// fit renders the line in exactly width columns: cut with … where it is longer, filled up with
// spaces where it is shorter. under is a style that lies under all of it.
func (p Painter) fit(l Line, width int, under Style) string {
	if width <= 0 {
		return ""
	}
	var b strings.Builder
	left := width
	for i, s := range l {
		if s.Text == "" {
			continue
		}
		text := s.Text
		w := displaywidth.String(text)
		if w > left || w == left && l[i+1:].String() != "" {
			text = cut(text, left)
			w = displaywidth.String(text)
			b.WriteString(p.Paint(both(under, s.Style), text))
			left -= w
			break
		}
		b.WriteString(p.Paint(both(under, s.Style), text))
		left -= w
	}
	if left > 0 {
		b.WriteString(p.Paint(under, strings.Repeat(" ", left)))
	}
	return b.String()
}

// cut shortens a text that something comes after, or that is too long, to width columns.
func cut(text string, width int) string {
	if displaywidth.String(text) < width {
		return text + "…"
	}
	return displaywidth.TruncateString(text+"…", width, "…")
}

// both is one style on top of another.
func both(under, over Style) Style {
	switch {
	case under == Plain:
		return over
	case over == Plain:
		return under
	case under == Reverse: // the line that the cursor is on has one colour
		for part := range strings.SplitSeq(string(over), ";") {
			if part == string(Bold) || part == "4" {
				under += ";" + Style(part)
			}
		}
		return under
	}
	return under + ";" + over
}

// cell is a text in exactly width columns, cut or filled up on the side where right says.
func cell(text string, width int, right bool) string {
	text = Clip(text, width)
	fill := strings.Repeat(" ", max(width-displaywidth.String(text), 0))
	if right {
		return fill + text
	}
	return text + fill
}

// leftMark ends a text with letters that run from right to left: a terminal that orders lines
// itself then orders the text, and not the columns beside it.
const leftMark = "\u200e"

// Ordered is a text, closed with a mark where it has letters that run from right to left.
func Ordered(text string) string {
	for _, r := range text {
		if r >= 0x590 && (r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc || r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff) {
			return text + leftMark
		}
	}
	return text
}

// Untab sets a line's tabs as spaces, to every fourth column.
func Untab(text string) string {
	if strings.IndexByte(text, '\t') < 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for i, part := range strings.Split(text, "\t") {
		if i > 0 {
			n := 4 - at%4
			b.WriteString(strings.Repeat(" ", n))
			at += n
		}
		b.WriteString(part)
		at += displaywidth.String(part)
	}
	return b.String()
}

// wrap breaks a text into lines of at most width columns, at spaces where there are any.
func wrap(text string, width int) []string {
	width = max(width, 1)
	var out []string
	for _, l := range strings.Split(text, "\n") {
		for displaywidth.String(l) > width {
			head := displaywidth.TruncateString(l, width, "")
			if head == "" { // a wide character on one column
				break
			}
			if i := strings.LastIndexByte(head, ' '); i > len(head)/2 {
				head = head[:i+1]
			}
			out = append(out, strings.TrimRight(head, " "))
			l = l[len(head):]
		}
		out = append(out, l)
	}
	return out
}
