package screen

import "github.com/rewind-cli/rewind/engine/graph"

// glyphs are the characters that a graph is drawn with.
type glyphs struct {
	lane, join, joinRight, across, cross       string
	arcTop, arcDown, arcEnd, arcLine, arcFaint string
}

var boxGlyphs = glyphs{"│", "╯", "╰", "─", "┼", "╮", "│", "╯", "─", "┊"}
var asciiGlyphs = glyphs{"|", "/", "\\", "-", "+", ".", "!", "'", "-", ":"}

// most columns and tracks that are drawn: what is beyond has no room in a list.
const (
	mostLanes  = 6
	mostTracks = 4
)

// drawGraph draws the rows from top on, n of them; node is the character of a row. All lines have
// the same width.
func drawGraph(g *graph.Graph, top, n int, ascii bool, room int, node func(row int) (string, Style)) []Line {
	k := &boxGlyphs
	if ascii {
		k = &asciiGlyphs
	}
	lanes, tracks := min(g.Columns, mostLanes, max(room, 1)), min(g.Tracks, mostTracks)
	if lanes+tracks > room {
		tracks = max(room-lanes, 0)
	}
	lines := make([]Line, n)
	for i := range lines {
		lines[i] = make(Line, lanes+tracks)
		for j := range lines[i] {
			lines[i][j].Text = " "
		}
	}
	set := func(row, column int, s string, style Style) {
		if row >= top && row < top+n && column < lanes {
			lines[row-top][column] = Span{s, style}
		}
	}
	for _, l := range g.Lanes {
		if l.End() < top || l.Top >= top+n {
			continue
		}
		for row := max(l.Top, top); row <= min(l.End(), top+n-1); row++ {
			set(row, l.Column, k.lane, laneStyle(l.Column))
		}
	}
	for _, l := range g.Lanes {
		if l.Fork < top || l.Fork >= top+n || l.Fork >= len(g.Column) || g.Column[l.Fork] == l.Column {
			continue
		}
		to, style := g.Column[l.Fork], laneStyle(l.Column)
		if to < l.Column {
			set(l.Fork, l.Column, k.join, style)
		} else {
			set(l.Fork, l.Column, k.joinRight, style)
		}
		for c := min(to, l.Column) + 1; c < max(to, l.Column) && c < lanes; c++ {
			switch have := &lines[l.Fork-top][c]; have.Text {
			case " ":
				*have = Span{k.across, style}
			case k.lane:
				have.Text = k.cross
			}
		}
	}
	for i := range lines {
		if row := top + i; row < len(g.Column) {
			s, style := node(row)
			set(row, min(g.Column[row], lanes-1), s, both(style, laneStyle(g.Column[row])))
		}
	}
	drawArcs(g, lines, top, lanes, tracks, k)
	return lines
}

// drawArcs draws the ways back, at the right of the lanes.
func drawArcs(g *graph.Graph, lines []Line, top, lanes, tracks int, k *glyphs) {
	for _, a := range g.Arcs {
		if a.Track >= tracks || a.To < top || a.From >= top+len(lines) {
			continue
		}
		style := Yellow
		if a.Undone {
			style = Dim
		}
		for row := max(a.From, top); row <= min(a.To, top+len(lines)-1); row++ {
			mark := k.arcDown
			switch {
			case row == a.From:
				mark = k.arcTop
			case row == a.To:
				mark = k.arcEnd
			case a.Undone:
				mark = k.arcFaint
			}
			cells := lines[row-top]
			cells[lanes+a.Track] = Span{mark, style}
			if row != a.From && row != a.To {
				continue
			}
			from := lanes
			if row < len(g.Column) {
				from = min(g.Column[row]+1, lanes)
			}
			for c := from; c < lanes+a.Track; c++ {
				if cells[c].Text == " " {
					cells[c] = Span{k.arcLine, style}
				}
			}
		}
	}
}

func laneStyle(column int) Style {
	return [...]Style{Cyan, Green, "35", Blue, Yellow, Red}[column%6]
}
