package weave

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/linediff"
)

// result puts the text together.
func (t *taking) result(o Options) Result {
	var r Result
	newest, done := 0, 0 // lines of the newest version, of the sequence
	plain := func(to int) {
		for _, l := range t.seq[done:to] {
			if t.now[l] {
				r.add(l, t.line(l))
				newest++
			}
		}
		done = to
	}
	for i := range t.blocks {
		b := t.blocks[i]
		plain(b.lo)
		region := t.seq[b.lo:b.hi]
		done = b.hi
		if !t.decide(&b) {
			t.write(&r, nil, region, &newest, t.isNow)
			continue
		}
		b.Index, b.Start, b.At = len(r.Blocks), newest, len(r.Lines)
		in, undone := t.stays, t.before(&b)
		if o.Hold != nil && !b.Kind.Conflict() && o.Hold(t.texts(region, t.goes)) {
			b.Kind, undone = Held, t.stays
		}
		if b.Kind.Conflict() {
			b.End = newest + len(t.those(region, t.isNow))
			b.Before = t.texts(region, undone)
			if o.Choose != nil {
				b.Choice = o.Choose(b)
			}
			switch b.Choice {
			case Undo:
				in = undone
			case Markers:
				left := func(l int32) bool { return t.lives(l, b.last) }
				stay := t.those(region, t.isNow) // behind the first mark
				for i, line := range linediff.Markers(t.texts(region, t.isNow), t.texts(region, left), b.Before, o.Labels) {
					if i > 0 && i <= len(stay) {
						r.add(stay[i-1], line)
					} else {
						r.add(none, line)
					}
				}
				newest, b.AtEnd = b.End, len(r.Lines)
				r.Blocks = append(r.Blocks, b)
				continue
			default:
				in = t.isNow
			}
		}
		t.write(&r, &b, region, &newest, in)
		r.Blocks = append(r.Blocks, b)
	}
	plain(len(t.seq))
	endLines(r.Lines)
	return r
}

// add appends a line of the sequence, or none of it.
func (r *Result) add(l int32, text string) {
	r.Lines, r.from = append(r.Lines, text), append(r.from, l)
}

// endLines gives each line but the last a line feed: a last line without one may now be before others.
func endLines(lines []string) {
	for i := 0; i < len(lines)-1; i++ {
		if strings.HasSuffix(lines[i], "\n") {
			continue
		}
		end := "\n"
		if i > 0 && strings.HasSuffix(lines[i-1], "\r\n") {
			end = "\r\n"
		}
		lines[i] += end
	}
}

func (t *taking) line(l int32) string { return t.w.table.Line(t.w.lines[l].name) }

func (t *taking) isNow(l int32) bool { return t.now[l] }

// goes reports whether a line of the newest version is not in the text without the own steps.
func (t *taking) goes(l int32) bool { return t.now[l] && !t.stays(l) }

func (t *taking) before(b *Block) func(int32) bool {
	return func(l int32) bool { return t.lives(l, b.first-1) }
}

func (t *taking) texts(lines []int32, in func(int32) bool) (out []string) {
	for _, l := range lines {
		if in(l) {
			out = append(out, t.line(l))
		}
	}
	return out
}

// those are the lines that are in.
func (t *taking) those(lines []int32, in func(int32) bool) (out []int32) {
	for _, l := range lines {
		if in(l) {
			out = append(out, l)
		}
	}
	return out
}

// names is texts, as numbers.
func (t *taking) names(lines []int32, in func(int32) bool) []int32 {
	out := make([]int32, 0, len(lines))
	for _, l := range lines {
		if in(l) {
			out = append(out, t.w.lines[l].name)
		}
	}
	return out
}

// write appends the lines of a region that are in the result, and says in b, if there is one, what that changes.
func (t *taking) write(r *Result, b *Block, region []int32, newest *int, in func(int32) bool) {
	narrow := b != nil && !b.Kind.Conflict()
	start, end, at, atEnd := -1, 0, 0, 0
	for _, l := range region {
		was, is := t.now[l], in(l)
		if was != is && start < 0 {
			start, at = *newest, len(r.Lines)
		}
		if was {
			*newest++
		}
		if is {
			r.add(l, t.line(l))
		}
		if was == is || b == nil {
			continue
		}
		end, atEnd = *newest, len(r.Lines)
		if was {
			b.Removed = append(b.Removed, t.line(l))
		} else {
			b.Restored = append(b.Restored, t.line(l))
		}
	}
	switch {
	case narrow:
		b.Start, b.End, b.At, b.AtEnd = start, end, at, atEnd
	case b != nil:
		b.AtEnd = len(r.Lines)
	}
}

// decide says what becomes of a region, and who was there; false if nothing is to be done.
func (t *taking) decide(b *Block) bool {
	region := t.seq[b.lo:b.hi]
	now := t.names(region, t.isNow)
	changes := !slices.Equal(now, t.names(region, t.stays))
	replaced := false
	for _, l := range region {
		t.events(l, func(e event) bool {
			replaced = replaced || e.lives && e.version > b.first && t.roles[e.version] == foreign && t.now[l]
			return true
		})
	}
	switch {
	case slices.Equal(now, t.names(region, t.before(b))) || !changes && (b.Kind != Overlap || !replaced):
		return false // nothing of the own steps is left there
	case b.Kind == Touching && t.ambiguous(b):
		b.Kind = Ambiguous
	}
	b.Own = t.steps(region, own, b.first)
	b.Foreign = slices.Compact(b.Foreign)
	return true
}

// steps gives the steps of versions with a role that did something to lines since a version, in order.
func (t *taking) steps(lines []int32, which role, since int32) []int {
	var versions []int32
	for _, l := range lines {
		t.events(l, func(e event) bool {
			if t.roles[e.version] == which && e.version >= since {
				versions = append(versions, e.version)
			}
			return true
		})
	}
	slices.Sort(versions)
	var out []int
	for _, v := range slices.Compact(versions) {
		if step := t.w.made[v].step; !slices.Contains(out, step) {
			out = append(out, step)
		}
	}
	return out
}

// ambiguous takes the own versions of a region back one after the other, newest first, each as a merge: does
// that succeed, and give other lines?
func (t *taking) ambiguous(b *Block) bool {
	// The lines around it, so that the merges see where it ends.
	region := t.seq[max(b.lo-1, 0):min(b.hi+1, len(t.seq))]
	at := func(v int32) []int32 { return t.names(region, func(l int32) bool { return t.lives(l, v) }) }
	var versions []int32 // that changed the region
	for _, l := range region {
		t.events(l, func(e event) bool {
			if e.version >= b.first {
				versions = append(versions, e.version)
			}
			return true
		})
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	text := t.names(region, t.isNow)
	for i := len(versions) - 1; i >= 0; i-- {
		if t.roles[versions[i]] != own {
			continue
		}
		last := versions[i]
		for i > 0 && t.roles[versions[i-1]] == own {
			i--
		}
		if t.again -= 3 * len(region); t.again < 0 {
			return true
		}
		base, before := at(last), at(versions[i]-1)
		parts := t.w.table.Merge(base, text, before)
		if !linediff.Clean(parts) {
			return false
		}
		text = linediff.Merged(parts, text, before)
	}
	return !slices.Equal(text, t.names(region, t.stays))
}
