package linediff

import (
	"unicode"
	"unicode/utf8"

	"znkr.io/diff"
)

// Span is a part of a line, in bytes; End is not in it.
type Span struct{ Start, End int }

const (
	maxWordLine  = 2000 // bytes of a line past which its words are not compared
	maxWordLines = 100  // lines on a side of a change, likewise
)

// Pair is a line of either side of a change, the one made of the other, and what differs in them.
type Pair struct {
	Old, New           int // among the lines of their side, from 0
	OldSpans, NewSpans []Span
}

// Words pairs the lines that a change takes away with those it brings, and says which words
// differ in each pair. Lines that have little in common, or are very many or very long, are in
// no pair. Pairs are in order on both sides.
func Words(old, new []string) []Pair {
	if len(old) > maxWordLines || len(new) > maxWordLines {
		return nil
	}
	var out []Pair
	oldWords, newWords := splitAll(old), splitAll(new)
	from := 0
	for i := range old {
		for j := from; j < len(new); j++ {
			p, alike := comparePair(oldWords[i], newWords[j])
			if !alike {
				continue
			}
			p.Old, p.New = i, j
			out = append(out, p)
			from = j + 1
			break
		}
	}
	return out
}

func splitAll(lines []string) [][]string {
	out := make([][]string, len(lines))
	for i, line := range lines {
		if len(line) <= maxWordLine {
			out[i] = words(line)
		}
	}
	return out
}

// comparePair says what differs in two lines; alike is false where less than half of them is common.
func comparePair(old, new []string) (p Pair, alike bool) {
	common, total := 0, 0
	at := [2]int{}
	add := func(spans *[]Span, start, size int) {
		if n := len(*spans); n > 0 && (*spans)[n-1].End == start {
			(*spans)[n-1].End += size
			return
		}
		*spans = append(*spans, Span{start, start + size})
	}
	if len(old) == 0 || len(new) == 0 {
		return p, false
	}
	for _, e := range diff.Edits(old, new) {
		switch e.Op {
		case diff.Match:
			n := len(e.X)
			if !isSpace(e.X) {
				common += 2 * n
				total += 2 * n
			}
			at[0] += n
			at[1] += n
		case diff.Delete:
			add(&p.OldSpans, at[0], len(e.X))
			at[0] += len(e.X)
			if !isSpace(e.X) {
				total += len(e.X)
			}
		case diff.Insert:
			add(&p.NewSpans, at[1], len(e.Y))
			at[1] += len(e.Y)
			if !isSpace(e.Y) {
				total += len(e.Y)
			}
		}
	}
	return p, total > 0 && 2*common >= total
}

func isSpace(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsSpace(r)
}

// words cuts a line into words, runs of space, and single other characters. The line's end is in none.
func words(line string) []string {
	for line != "" && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	class := func(r rune) int {
		switch {
		case unicode.IsSpace(r):
			return 1
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return 2
		}
		return 0
	}
	var out []string
	start, was := 0, -1
	for i, r := range line {
		c := class(r)
		if i > 0 && (c != was || c == 0) {
			out = append(out, line[start:i])
			start = i
		}
		was = c
	}
	if start < len(line) {
		out = append(out, line[start:])
	}
	return out
}
