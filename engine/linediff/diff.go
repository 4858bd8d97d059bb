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
	s := make([]int32, 2*distinct)
	return compare(text{names: x, lines: a}, text{names: y, lines: b}, s[:distinct], s[distinct:])
}

// compare compares two texts. inX and inY are for pins.
func compare(a, b text, inX, inY []int32) []Change {
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
	at := pin{start, start}
	for _, p := range pins(x[start:len(x)-end], y[start:len(y)-end], inX, inY) {
		p = pin{p.a + start, p.b + start}
		c.gap(at.a, p.a, at.b, p.b)
		at = pin{p.a + 1, p.b + 1}
	}
	c.gap(at.a, len(x)-end, at.b, len(y)-end)
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
	options := []diff.Option{diff.Context(0)}
	if aEnd-a+bEnd-b > longGap {
		options = append(options, diff.Fast())
	}
	for _, h := range diff.Hunks(c.x[a:aEnd], c.y[b:bEnd], options...) {
		// A hunk is what stands together; that nothing the same stands in it is seen to here.
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

// pin is a line of each text that stands for the other.
type pin struct{ a, b int }

// pins are the lines that occur once in both texts, as many of them as are in the same order in both.
// inX and inY have room for each name, all 0; pins leaves them so.
func pins(x, y, inX, inY []int32) []pin {
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
	place(inX, x)
	place(inY, y)
	var once []pin // in the order of a
	for i, n := range x {
		if inX[n] > 0 && inY[n] > 0 {
			once = append(once, pin{i, int(inY[n]) - 1})
		}
	}
	for _, n := range x {
		inX[n] = 0
	}
	for _, n := range y {
		inY[n] = 0
	}
	return longestRising(once)
}

// longestRising picks the longest run of pins whose b rises too.
func longestRising(pins []pin) []pin {
	if len(pins) == 0 {
		return nil
	}
	ends := make([]int, 0, len(pins)) // of a run of each length the one that ends lowest
	before := make([]int, len(pins))
	for i, p := range pins {
		k, _ := slices.BinarySearchFunc(ends, p.b, func(end, b int) int { return pins[end].b - b })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	out := make([]pin, len(ends))
	for i, at := len(ends)-1, ends[len(ends)-1]; i >= 0; i, at = i-1, before[at] {
		out[i] = pins[at]
	}
	return out
}
