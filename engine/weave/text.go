package weave

import (
	"sort"
)

// newestText is a weave's newest version as it was given: the next one is mostly the same but for some lines, and bytes are
// compared faster than lines.
type newestText struct {
	bytes []byte
	ends  []int // of each line; nil: the newest version was not given as a text
}

func (t *newestText) set(lines []string) {
	t.bytes, t.ends = t.bytes[:0], make([]int, 0, len(lines)+1)
	for _, l := range lines {
		t.bytes = append(t.bytes, l...)
		t.ends = append(t.ends, len(t.bytes))
	}
}

// common says how many whole lines a text has in common with this one at its start and at its end, and which of its bytes
// lie between them.
func (t *newestText) common(text string) (start, end, from, to int) {
	n := len(t.ends)
	same := commonStart(t.bytes, text)
	start = sort.Search(n, func(i int) bool { return t.ends[i] > same })
	if start > 0 && t.bytes[t.ends[start-1]-1] != '\n' && len(text) > t.ends[start-1] {
		start-- // a last line that went on
	}
	if start > 0 {
		from = t.ends[start-1]
	}
	same = commonEnd(t.bytes[from:], text[from:])
	first := start + sort.Search(n-start, func(i int) bool { return t.begin(start+i) >= len(t.bytes)-same })
	end, to = n-first, len(text)
	if end > 0 {
		to = len(text) - (len(t.bytes) - t.begin(first))
		if to > from && text[to-1] != '\n' { // it is the end of a longer line
			end--
			to = len(text)
			if end > 0 {
				to -= len(t.bytes) - t.begin(first+1)
			}
		}
	}
	return start, end, from, to
}

func (t *newestText) begin(line int) int {
	if line == 0 {
		return 0
	}
	return t.ends[line-1]
}

// replace makes it the next version: text, of which some lines lie between what common found.
func (t *newestText) replace(text string, start int, lines []string, end int) {
	was, had := len(t.bytes), len(t.ends)
	t.bytes = append(t.bytes[:0], text...)
	between := had - start - end
	if grow := len(lines) - between; grow > 0 {
		t.ends = append(t.ends, make([]int, grow)...)
	}
	copy(t.ends[start+len(lines):], t.ends[had-end:had])
	t.ends = t.ends[:start+len(lines)+end]
	at := t.begin(start)
	for i, l := range lines {
		at += len(l)
		t.ends[start+i] = at
	}
	for i := start + len(lines); i < len(t.ends); i++ {
		t.ends[i] += len(text) - was
	}
}

// stride is how many bytes are compared at once.
const stride = 256

func commonStart(a []byte, b string) int {
	n, i := min(len(a), len(b)), 0
	for i+stride <= n && string(a[i:i+stride]) == b[i:i+stride] {
		i += stride
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonEnd(a []byte, b string) int {
	n, i := min(len(a), len(b)), 0
	for i+stride <= n && string(a[len(a)-i-stride:len(a)-i]) == b[len(b)-i-stride:len(b)-i] {
		i += stride
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}
