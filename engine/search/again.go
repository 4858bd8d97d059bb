package search

import "bytes"

// searched is the text that was searched last, with what matched in it: the versions of a file follow each other, and
// most lines of one are those of another.
type searched struct {
	text   []byte
	places []place
}

// place is a line that matches: see Matcher.lines.
type place struct{ from, to, start, end int }

// lines is Matcher.lines of a text that stays as it is. Where every line has to be matched, those with which the text
// searched before began and ended, too, are not matched again.
func (s *scanner) lines(text []byte, visit func(from, to, start, end int) bool) {
	if s.m.literals != nil {
		s.m.lines(text, &s.scratch, visit)
		return
	}
	was := s.before
	head, tail := alike(was.text, text)
	s.before = searched{}
	var now []place
	see := func(p place) bool {
		now = append(now, p)
		return visit(p.from, p.to, p.start, p.end)
	}
	next := 0
	for ; next < len(was.places) && was.places[next].from < head; next++ {
		if !see(was.places[next]) {
			return
		}
	}
	more := true
	s.m.lines(text[head:len(text)-tail], &s.scratch, func(from, to, start, end int) bool {
		more = see(place{head + from, head + to, start, end})
		return more
	})
	if !more {
		return
	}
	moved := len(text) - len(was.text)
	for _, p := range was.places[next:] {
		if p.from >= len(was.text)-tail && !see(place{p.from + moved, p.to + moved, p.start, p.end}) {
			return
		}
	}
	s.before = searched{text, now}
}

// alike is how many bytes, of whole lines, two texts have in common at their beginnings, and at the ends of what is left.
func alike(a, b []byte) (head, tail int) {
	const step = 64
	n, same := min(len(a), len(b)), 0
	for same+step <= n && bytes.Equal(a[same:same+step], b[same:same+step]) {
		same += step
	}
	for same < n && a[same] == b[same] {
		same++
	}
	head = bytes.LastIndexByte(b[:same], '\n') + 1
	a, b = a[head:], b[head:]
	n, same = min(len(a), len(b)), 0
	for same+step <= n && bytes.Equal(a[len(a)-same-step:len(a)-same], b[len(b)-same-step:len(b)-same]) {
		same += step
	}
	for same < n && a[len(a)-same-1] == b[len(b)-same-1] {
		same++
	}
	if i := bytes.IndexByte(b[len(b)-same:], '\n'); i >= 0 {
		tail = same - i - 1
	}
	return head, tail
}
