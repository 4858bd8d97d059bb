package linediff

import (
	"slices"
	"strings"
)

// Origin says where a part of a merge comes from.
type Origin uint8

const (
	Unchanged Origin = iota // neither side changed it
	Ours                    // our side alone did
	Theirs                  // their side alone did
	Both                    // both did, and alike
	Conflict                // both did, or one directly beside the other
)

// Part is a run of lines of a merge: lines Base to BaseEnd of the base, which are Ours to OursEnd of our
// side and Theirs to TheirsEnd of theirs. Counted from 0; the ends are not among them.
type Part struct {
	Origin            Origin
	Base, BaseEnd     int
	Ours, OursEnd     int
	Theirs, TheirsEnd int
}

func merge[L comparable](toOurs, toTheirs []Change, length int, ours, theirs []L) []Part {
	var out []Part
	at := Part{}           // up to its ends is done
	next := func(o Part) { // o is the next part that a side changed
		if o.Base > at.BaseEnd {
			out = append(out, Part{Unchanged, at.BaseEnd, o.Base, at.OursEnd, o.Ours, at.TheirsEnd, o.Theirs})
		}
		at = o
	}
	for len(toOurs) > 0 || len(toTheirs) > 0 {
		// The group begins with the first change, and takes in what touches it, from either side.
		base := length
		if len(toOurs) > 0 {
			base = min(base, toOurs[0].A)
		}
		if len(toTheirs) > 0 {
			base = min(base, toTheirs[0].A)
		}
		end := base
		take := func(from []Change) (taken, left []Change) {
			n := 0
			for n < len(from) && from[n].A <= end {
				end = max(end, from[n].AEnd)
				n++
			}
			return from[:n], from[n:]
		}
		var a, b []Change
		for {
			moreA, leftA := take(toOurs)
			moreB, leftB := take(toTheirs)
			if len(moreA) == 0 && len(moreB) == 0 {
				break
			}
			a, b = append(a, moreA...), append(b, moreB...)
			toOurs, toTheirs = leftA, leftB
		}
		p := Part{Base: base, BaseEnd: end, Ours: at.OursEnd + base - at.BaseEnd, Theirs: at.TheirsEnd + base - at.BaseEnd}
		p.OursEnd, p.TheirsEnd = p.Ours+end-base+growth(a), p.Theirs+end-base+growth(b)
		switch {
		case len(b) == 0:
			p.Origin = Ours
		case len(a) == 0:
			p.Origin = Theirs
		case slices.Equal(ours[p.Ours:p.OursEnd], theirs[p.Theirs:p.TheirsEnd]):
			p.Origin = Both
		default:
			p.Origin = Conflict
		}
		next(p)
		out = append(out, p)
	}
	if rest := length - at.BaseEnd; rest > 0 {
		out = append(out, Part{Unchanged, at.BaseEnd, length, at.OursEnd, at.OursEnd + rest, at.TheirsEnd, at.TheirsEnd + rest})
	}
	return out
}

// growth is how many lines changes bring more than they take away.
func growth(changes []Change) int {
	added, deleted := Count(changes)
	return added - deleted
}

// Clean reports whether a merge is without conflict.
func Clean(parts []Part) bool {
	return !slices.ContainsFunc(parts, func(p Part) bool { return p.Origin == Conflict })
}

// Merged gives the lines of a merge of which ours and theirs were sides. Of a conflict it has our side.
func Merged[L any](parts []Part, ours, theirs []L) []L {
	var out []L
	for _, p := range parts {
		if p.Origin == Theirs {
			out = append(out, theirs[p.Theirs:p.TheirsEnd]...)
		} else {
			out = append(out, ours[p.Ours:p.OursEnd]...)
		}
	}
	return out
}

// Labels follow the marks of a conflict; empty for none.
type Labels struct{ Ours, Base, Theirs string }

// Markers writes a conflict's three sides as git's diff3 style does. A last line without a line feed gets
// one; the marks end as the lines do, with a carriage return where the first of them has one.
func Markers(ours, base, theirs []string, l Labels) []string {
	end := "\n"
	for _, side := range [][]string{ours, base, theirs} {
		if len(side) > 0 {
			if strings.HasSuffix(side[0], "\r\n") {
				end = "\r\n"
			}
			break
		}
	}
	mark := func(sign, label string) string {
		if label != "" {
			sign += " " + label
		}
		return sign + end
	}
	var out []string
	add := func(lines []string) {
		out = append(out, lines...)
		if n := len(out) - 1; !strings.HasSuffix(out[n], "\n") {
			out[n] += end
		}
	}
	out = append(out, mark("<<<<<<<", l.Ours))
	add(ours)
	out = append(out, mark("|||||||", l.Base))
	add(base)
	out = append(out, mark("=======", ""))
	add(theirs)
	return append(out, mark(">>>>>>>", l.Theirs))
}
