package linediff

import (
	"hash/maphash"
	"strings"
)

// Table holds the distinct lines of any number of texts, each under a number: what is compared often
// is named once. It is not safe for concurrent use.
type Table struct {
	seed    maphash.Seed
	known   map[uint64]int32 // by hash, the newest line that has it: without pointers, which a collector would follow
	older   []int32          // by line, the one before it that has the same hash; -1 for none
	lines   []string
	text    strings.Builder // of the lines to come, so that small ones need no memory of their own
	bytes   int
	scratch scratch
}

// tableChunk is how many bytes of lines are kept together.
const tableChunk = 64 << 10

// Name gives the number of a line, from 0. The table keeps a copy of a line that is new, and no
// memory of the text around it.
func (t *Table) Name(line string) int32 {
	if t.known == nil {
		t.known, t.seed = map[uint64]int32{}, maphash.MakeSeed()
	}
	hash := maphash.String(t.seed, line)
	first, ok := t.known[hash]
	if !ok {
		first = -1
	}
	for n := first; n >= 0; n = t.older[n] {
		if t.lines[n] == line {
			return n
		}
	}
	n := int32(len(t.lines))
	t.known[hash] = n
	t.older = append(t.older, first)
	t.lines = append(t.lines, t.keep(line))
	t.bytes += len(line)
	return n
}

// keep copies a line.
func (t *Table) keep(line string) string {
	if len(line) > tableChunk/8 {
		return strings.Clone(line)
	}
	if t.text.Cap()-t.text.Len() < len(line) {
		t.text = strings.Builder{}
		t.text.Grow(tableChunk)
	}
	start := t.text.Len()
	t.text.WriteString(line)
	return t.text.String()[start:]
}

// Line gives the line of a number.
func (t *Table) Line(name int32) string { return t.lines[name] }

// Bytes is how many bytes the lines of the table have.
func (t *Table) Bytes() int { return t.bytes }

// Diff is Diff of two texts whose lines the table has named.
func (t *Table) Diff(a, b []int32) []Change {
	return compare(text{names: a, named: t.lines}, text{names: b, named: t.lines}, len(t.lines), &t.scratch)
}

// Merge puts the changes of two sides to the same base together: three texts whose lines the table has named. The parts cover all
// of them, in order. Changes that overlap or touch are a conflict, unless both sides have come to the same lines.
func (t *Table) Merge(base, ours, theirs []int32) []Part {
	return merge(t.Diff(base, ours), t.Diff(base, theirs), len(base), ours, theirs)
}
