package rows

import (
	"fmt"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/linediff"
)

// PaintPatch is a patch as a terminal shows it: coloured, the words that differ
// within a line marked, nothing in it that a terminal would act on.
func PaintPatch(color screen.Painter, text string) string {
	p := patchPainter{color: color}
	for _, line := range linediff.Lines(text) {
		p.line(line)
	}
	p.flush()
	return p.out.String()
}

type patchPainter struct {
	color    screen.Painter
	out      strings.Builder
	old, new []string // the lines of the change at hand, with their marks
	left     [2]int   // lines that the hunk still has, of either side
}

// line takes one line of the patch. What a line is follows from the hunk's counts: content
// can look like a header.
func (p *patchPainter) line(line string) {
	inside := p.left[0] > 0 || p.left[1] > 0
	switch {
	case inside && line[0] == '-':
		if len(p.new) > 0 {
			p.flush()
		}
		p.old = append(p.old, line)
		p.left[0]--
	case inside && line[0] == '+':
		p.new = append(p.new, line)
		p.left[1]--
	case line[0] == '\\':
		if n := len(p.new); n > 0 {
			p.new[n-1] += line
		} else if n := len(p.old); n > 0 {
			p.old[n-1] += line
		} else {
			p.write(screen.Plain, line)
		}
	case inside:
		p.flush()
		p.left[0]--
		p.left[1]--
		p.write(screen.Plain, line)
	default:
		p.flush()
		style := screen.Bold
		if n, ok := hunkCounts(line); ok {
			p.left, style = n, screen.Cyan
		} else if line[0] == '#' {
			style = screen.Yellow
		}
		p.write(style, line)
	}
}

// hunkCounts reads how many lines of either side a hunk has.
func hunkCounts(line string) (n [2]int, ok bool) {
	if !strings.HasPrefix(line, "@@ -") {
		return n, false
	}
	fields := strings.Fields(line)
	if len(fields) < 4 {
		return n, false
	}
	for i, f := range fields[1:3] {
		n[i] = 1
		if _, count, found := strings.Cut(f, ","); found {
			if _, err := fmt.Sscanf(count, "%d", &n[i]); err != nil {
				return n, false
			}
		}
	}
	return n, true
}

// flush prints the change at hand.
func (p *patchPainter) flush() {
	cut := func(lines []string) []string { // without marks
		out := make([]string, len(lines))
		for i, l := range lines {
			l, _, _ = strings.Cut(l[1:], "\n")
			out[i] = l
		}
		return out
	}
	oldSpans, newSpans := map[int][]linediff.Span{}, map[int][]linediff.Span{}
	if p.color.On && len(p.old) > 0 && len(p.new) > 0 {
		for _, pair := range linediff.Words(cut(p.old), cut(p.new)) {
			oldSpans[pair.Old], newSpans[pair.New] = pair.OldSpans, pair.NewSpans
		}
	}
	for i, l := range p.old {
		p.marked(l, screen.Red, screen.RedMark, oldSpans[i])
	}
	for i, l := range p.new {
		p.marked(l, screen.Green, screen.GreenMark, newSpans[i])
	}
	p.old, p.new = nil, nil
}

// marked prints a line, and its spans in another style.
func (p *patchPainter) marked(line string, style, mark screen.Style, spans []linediff.Span) {
	line, rest, _ := strings.Cut(line, "\n")
	at := 0
	for _, s := range spans {
		s.Start, s.End = s.Start+1, s.End+1 // behind the + or -
		p.out.WriteString(p.color.Paint(style, app.EscapeLine(line[at:s.Start])))
		p.out.WriteString(p.color.Paint(mark, app.EscapeLine(line[s.Start:s.End])))
		at = s.End
	}
	p.write(style, line[at:]+"\n")
	if rest != "" {
		p.write(screen.Plain, rest)
	}
}

func (p *patchPainter) write(style screen.Style, line string) {
	text, end := strings.CutSuffix(line, "\n")
	p.out.WriteString(p.color.Paint(style, app.EscapeLine(strings.TrimSuffix(text, "\r"))))
	if end {
		p.out.WriteByte('\n')
	}
}

// ModeLine describes a change that no patch shows: mode, kind, or an empty file or directory.
func ModeLine(d inspect.FileDiff) string {
	switch {
	case d.Old == nil:
		return fmt.Sprintf("new %s %s mode %04o", EntryKind(*d.New), app.EscapePath(d.Path), d.New.Mode)
	case d.New == nil:
		return fmt.Sprintf("deleted %s %s mode %04o", EntryKind(*d.Old), app.EscapePath(d.Path), d.Old.Mode)
	case EntryKind(*d.Old) != EntryKind(*d.New):
		return fmt.Sprintf("%s: %s changed to %s", app.EscapePath(d.Path), EntryKind(*d.Old), EntryKind(*d.New))
	case d.Old.Mode != d.New.Mode:
		return fmt.Sprintf("%s: mode %04o changed to %04o", app.EscapePath(d.Path), d.Old.Mode, d.New.Mode)
	}
	return app.EscapePath(d.Path) + " differs"
}
