package linediff

import (
	"slices"

	"znkr.io/diff"
)

// Change is a run of lines that differs: lines A to AEnd of the first text (AEnd not among them) are
// lines B to BEnd of the second. Counted from 0; one of the two can be empty, not both.
type Change struct {
	A, AEnd int
	B, BEnd int
}

// longGap is how many lines of both texts between two pins go to the fast mode. The default one took 42 s
// for 8 MiB of repetitive text, the fast one 0.3 s.
const longGap = 5000

// Diff gives the changes that lead from a to b, in order; between two of them is at least one line
// that is the same. Without one, a and b are the same under the options. It is safe for
// concurrent use.
func Diff(a, b []string, o Options) []Change {
	x, y, distinct := names(a, b, o)
	return compare(text{names: x, lines: a}, text{names: y, lines: b}, distinct, &scratch{})
}

// scratch is memory that comparisons can use one after the other.
type scratch struct {
	inX, inY     []int32 // by name, all 0 between comparisons
	once, rising []pin
	ends, before []int32
}

// compare compares two texts whose names are below distinct.
func compare(a, b text, distinct int, s *scratch) []Change {
	x, y := a.names, b.names
	start := 0
	for start < len(x) && start < len(y) && x[start] == y[start] {
		start++
	}
	end := 0
	for end < len(x)-start && end < len(y)-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	c := comparison{x: x, y: y}
	atA, atB := start, start
	for _, p := range s.pins(x[start:len(x)-end], y[start:len(y)-end], distinct) {
		a, b := int(p.a)+start, int(p.b)+start
		if a > atA || b > atB {
			c.gap(atA, a, atB, b)
		}
		atA, atB = a+1, b+1
	}
	c.gap(atA, len(x)-end, atB, len(y)-end)
	return slide(a, b, c.changes)
}

type comparison struct {
	x, y    []int32
	changes []Change
}

// gap compares lines a to aEnd with b to bEnd.
func (c *comparison) gap(a, aEnd, b, bEnd int) {
	for a < aEnd && b < bEnd && c.x[a] == c.y[b] {
		a, b = a+1, b+1
	}
	for a < aEnd && b < bEnd && c.x[aEnd-1] == c.y[bEnd-1] {
		aEnd, bEnd = aEnd-1, bEnd-1
	}
	if a == aEnd || b == bEnd {
		c.add(Change{a, aEnd, b, bEnd})
		return
	}
	if c.strange(a, aEnd, b, bEnd) {
		c.add(Change{a, aEnd, b, bEnd})
		return
	}
	options := []diff.Option{diff.Context(0)}
	if aEnd-a+bEnd-b > longGap {
		options = append(options, diff.Fast())
	}
	for _, h := range diff.Hunks(c.x[a:aEnd], c.y[b:bEnd], options...) {
		// A hunk is adjacent changes; equal lines within it are taken out here.
		at := Change{a + h.PosX, a + h.PosX, b + h.PosY, b + h.PosY}
		for _, e := range h.Edits {
			switch e.Op {
			case diff.Delete:
				at.AEnd++
			case diff.Insert:
				at.BEnd++
			case diff.Match:
				c.add(at)
				at = Change{at.AEnd + 1, at.AEnd + 1, at.BEnd + 1, at.BEnd + 1}
			}
		}
		c.add(at)
	}
}

// fewPairs is how many pairs of lines are compared to see whether any two are the same.
const fewPairs = 256

// strange reports whether no line of one side is on the other; false where that is not worth looking at.
func (c *comparison) strange(a, aEnd, b, bEnd int) bool {
	if (aEnd-a)*(bEnd-b) > fewPairs {
		return false
	}
	for _, name := range c.x[a:aEnd] {
		if slices.Contains(c.y[b:bEnd], name) {
			return false
		}
	}
	return true
}

// add appends a change, to the one before where they touch.
func (c *comparison) add(n Change) {
	if n.A == n.AEnd && n.B == n.BEnd {
		return
	}
	if last := len(c.changes) - 1; last >= 0 && c.changes[last].AEnd == n.A && c.changes[last].BEnd == n.B {
		c.changes[last].AEnd, c.changes[last].BEnd = n.AEnd, n.BEnd
		return
	}
	c.changes = append(c.changes, n)
}

// pin is a line of each text that corresponds to the other.
type pin struct{ a, b int32 }

// pins are the lines that occur once in both texts, as many of them as are in the same order in both.
// They are the scratch's.
func (s *scratch) pins(x, y []int32, distinct int) []pin {
	const several = -1
	place := func(at, names []int32) { // 0 where a name does not occur, else its place from 1
		for i, n := range names {
			if at[n] == 0 {
				at[n] = int32(i) + 1
			} else {
				at[n] = several
			}
		}
	}
	if len(x) == 0 || len(y) == 0 {
		return nil
	}
	if grow := distinct - len(s.inX); grow > 0 {
		s.inX = append(s.inX, make([]int32, grow)...)
		s.inY = append(s.inY, make([]int32, grow)...)
	}
	place(s.inX, x)
	place(s.inY, y)
	once, last, rises := s.once[:0], int32(-1), true // in the order of a
	for i, n := range x {
		if s.inX[n] > 0 && s.inY[n] > 0 {
			b := s.inY[n] - 1
			once = append(once, pin{int32(i), b})
			rises, last = rises && b > last, b
		}
	}
	s.once = once
	for _, n := range x {
		s.inX[n] = 0
	}
	for _, n := range y {
		s.inY[n] = 0
	}
	if rises {
		return once
	}
	return s.longestRising(once)
}

// longestRising picks the longest run of pins whose b rises too.
func (s *scratch) longestRising(pins []pin) []pin {
	ends := s.ends[:0] // of a run of each length the one that ends lowest
	before := slices.Grow(s.before[:0], len(pins))[:len(pins)]
	for i, p := range pins {
		k := len(ends)
		if k > 0 && pins[ends[k-1]].b > p.b { // else it continues where the longest ends
			k, _ = slices.BinarySearchFunc(ends, p.b, func(end, b int32) int { return int(pins[end].b - b) })
		}
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, int32(i))
		} else {
			ends[k] = int32(i)
		}
	}
	out := slices.Grow(s.rising[:0], len(ends))[:len(ends)]
	for i, at := len(ends)-1, ends[len(ends)-1]; i >= 0; i, at = i-1, before[at] {
		out[i] = pins[at]
	}
	s.ends, s.before, s.rising = ends, before, out
	return out
}
