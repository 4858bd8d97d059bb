package workload

import (
	"fmt"
	"strings"
)

// Versions are texts that grow from turn to turn: each turn edits three places of every text, the even turns in the
// first half and the odd ones in the second, so that no turn touches what another's neighbour wrote.
type Versions struct {
	Texts [][]string // the newest version of each, as lines with their ends

	random *random
	turn   int
	lines  int
}

// NewVersions makes the first version of n texts.
func NewVersions(seed uint64, n, lines int) *Versions {
	v := &Versions{random: derive(seed, 0x7e75), lines: lines}
	for range n {
		v.Texts = append(v.Texts, v.write(lines))
	}
	return v
}

// Next makes the next version of all texts.
func (v *Versions) Next() {
	half := v.lines / 2
	from := v.turn % 2 * half
	v.turn++
	for _, text := range v.Texts {
		for range 3 { // the number of lines stays: the halves are always the same
			n := 1 + v.random.below(3)
			copy(text[from+1+v.random.below(half-n-2):], v.write(n))
		}
	}
}

// write makes lines as programs have them: some are empty, some are alike.
func (v *Versions) write(n int) []string {
	var out []string
	for range n {
		switch v.random.below(8) {
		case 0:
			out = append(out, "\n")
		case 1:
			out = append(out, "\t}\n")
		default:
			out = append(out, fmt.Sprintf("\t%x := call(%x, \"%x\")\n", uint32(v.random.next()), uint32(v.random.next()), v.random.next()))
		}
	}
	return out
}

// Triple is a text and what two sides made of it.
type Triple struct{ Base, Ours, Theirs string }

// Rewritten is a text of which both sides rewrote every line.
func Rewritten(lines int) Triple {
	numbered := func(word string) string {
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "%s %d\n", word, i)
		}
		return b.String()
	}
	return Triple{numbered("old"), numbered("our"), numbered("their")}
}

// Repetitive is a text of size bytes that says the same again and again.
func Repetitive(size int) Triple {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\tline %d\n", i%7*i%5)
	}
	text := b.String()
	return Triple{text, "begin\n" + text[len(text)/3/9*9:], text + "end\n" + text[:len(text)/2/9*9]}
}
