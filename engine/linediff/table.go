package linediff

import "strings"

// Table holds the distinct lines of any number of texts, each under a number: what is compared often
// is named once. It is not safe for concurrent use.
type Table struct {
	known    map[string]int32
	lines    []string
	bytes    int
	inX, inY []int32
}

// Name gives the number of a line, from 0. The table keeps a copy of a line that is new, and no
// memory of the text around it.
func (t *Table) Name(line string) int32 {
	n, ok := t.known[line]
	if !ok {
		if t.known == nil {
			t.known = map[string]int32{}
		}
		line = strings.Clone(line)
		n = int32(len(t.lines))
		t.known[line] = n
		t.lines = append(t.lines, line)
		t.bytes += len(line)
	}
	return n
}

// Line gives the line of a number.
func (t *Table) Line(name int32) string { return t.lines[name] }

// Len and Bytes are how many lines the table holds, and the bytes in them.
func (t *Table) Len() int   { return len(t.lines) }
func (t *Table) Bytes() int { return t.bytes }

// Diff is Diff of two texts whose lines the table has named.
func (t *Table) Diff(a, b []int32) []Change {
	if grow := len(t.lines) - len(t.inX); grow > 0 {
		t.inX = append(t.inX, make([]int32, grow)...)
		t.inY = append(t.inY, make([]int32, grow)...)
	}
	return compare(text{names: a, named: t.lines}, text{names: b, named: t.lines}, t.inX, t.inY)
}

// Merge is Merge of three texts whose lines the table has named.
func (t *Table) Merge(base, ours, theirs []int32) []Part {
	return merge(t.Diff(base, ours), t.Diff(base, theirs), len(base), ours, theirs)
}
