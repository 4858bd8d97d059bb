package linediff

import "strings"

// maxSlide is how many lines a change is moved at most, up or down; in a long run of
// equal lines one place is as good as another.
const maxSlide = 200

// slide moves each change that only adds, or only takes away, within the lines where it means the
// same: a function whose closing brace is on both sides is cut out whole. A change that
// comes to touch its neighbour is joined with it.
func slide(a, b text, changes []Change) []Change {
	x, y := a.names, b.names
	s := slider{a: a, b: b, x: x, y: y}
	for i, c := range changes {
		next := Change{A: len(x), B: len(y)}
		if i+1 < len(changes) {
			next = changes[i+1]
		}
		s.put(c, next)
	}
	return s.out
}

type slider struct {
	a, b text
	x, y []int32
	out  []Change
}

// put appends a change at its best place between the one before and the next.
func (s *slider) put(c, next Change) {
	for {
		low := 0 // how many lines up
		floorA, floorB := 0, 0
		last := len(s.out) - 1
		if last >= 0 {
			floorA, floorB = s.out[last].AEnd, s.out[last].BEnd
		}
		for low < maxSlide && c.A-low > floorA && c.B-low > floorB && s.up(c, low) {
			low++
		}
		if last < 0 || c.A-low > floorA {
			high := 0
			for high < maxSlide && c.AEnd+high < next.A && c.BEnd+high < next.B && s.down(c, high) {
				high++
			}
			if next.A < len(s.x) || next.B < len(s.y) {
				if c.AEnd+high == next.A {
					high = max(high-1, -low) // the line between the two stays
				}
			}
			s.out = append(s.out, shifted(c, s.best(c, -low, high)))
			return
		}
		// It reaches the one before: one change, which may be moved no more.
		before := s.out[last]
		s.out = s.out[:last]
		c = shifted(c, -low)
		c = Change{before.A, c.AEnd, before.B, c.BEnd}
		if c.A < c.AEnd && c.B < c.BEnd {
			s.out = append(s.out, c)
			return
		}
	}
}

func shifted(c Change, by int) Change {
	return Change{c.A + by, c.AEnd + by, c.B + by, c.BEnd + by}
}

// up reports whether a change that was moved up by n lines can go one more.
func (s *slider) up(c Change, n int) bool {
	switch {
	case c.A == c.AEnd:
		return s.y[c.B-n-1] == s.y[c.BEnd-n-1]
	case c.B == c.BEnd:
		return s.x[c.A-n-1] == s.x[c.AEnd-n-1]
	}
	return false
}

func (s *slider) down(c Change, n int) bool {
	switch {
	case c.A == c.AEnd:
		return s.y[c.B+n] == s.y[c.BEnd+n]
	case c.B == c.BEnd:
		return s.x[c.A+n] == s.x[c.AEnd+n]
	}
	return false
}

// best is the move, from low to high, after which the change begins and ends where people cut: before lines
// that are furthest left, and best after an empty one; else as far down as it goes.
func (s *slider) best(c Change, low, high int) int {
	if low == high {
		return low
	}
	lines, from, to := s.a, c.A, c.AEnd
	if c.A == c.AEnd {
		lines, from, to = s.b, c.B, c.BEnd
	}
	best, least := high, int(^uint(0)>>1)
	for by := low; by <= high; by++ {
		if cost := cutCost(lines, from+by) + cutCost(lines, to+by); cost <= least {
			best, least = by, cost
		}
	}
	return best
}

// cutCost is how badly a change begins or ends before line i.
func cutCost(t text, i int) int {
	if i <= 0 || i >= len(t.names) {
		return 0
	}
	here, blank := indent(t.line(i))
	cost := 0
	if blank {
		// What follows the empty lines says where this belongs.
		cost += 4
		for j := i + 1; blank && j < len(t.names) && j < i+20; j++ {
			here, blank = indent(t.line(j))
		}
	}
	cost += 10 * min(here, 40)
	above, empty := indent(t.line(i - 1))
	switch {
	case empty:
		cost -= 6
	case !blank && here > above:
		cost += 8 // it would cut a block from its head
	case !blank && here < above:
		cost += 5 // and this from its end
	}
	return cost
}

// indent is how far right a line begins, in columns of eight to a tab; blank if nothing is on it.
func indent(line string) (columns int, blank bool) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			columns++
		case '\t':
			columns += 8 - columns%8
		case '\r', '\n', '\v', '\f':
		default:
			return columns, false
		}
		if columns > 200 {
			return columns, false
		}
	}
	return 0, strings.TrimSpace(line) == ""
}
