package search

import (
	"bytes"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	// binaryHead is how many bytes of a file tell whether it is binary: one of them is NUL, as git and diff see it.
	binaryHead = 8000
	// maxHits is how many lines of one content are distinguished, and hitBytes how much of their text is kept.
	maxHits  = 1 << 18
	hitBytes = 16 << 20
	// maxText is what is kept of one line, around the match.
	maxText = 4 << 10
	// maxLine is how much of a line without an end is searched at once, overlap how much of it twice.
	maxLine = 8 << 20
	overlap = 64 << 10
)

// hit is a line that matches.
type hit struct {
	sum        uint64 // of the whole line
	line       int32  // number, from 1
	start, end int32  // of the match, in text
	text       string
	clipped    bool // text is a part of the line
}

// size is what a hit takes, in bytes.
func (h *hit) size() int { return len(h.text) + 48 }

// hits are the distinct lines of a content that match.
type hits struct {
	lines []hit
	more  bool // there are more than are distinguished
	bytes int  // that the lines take
	err   error
}

// content is one distinct content of a file.
type content struct {
	id     oid.ID
	size   uint64
	kind   manifest.Kind
	staged bool // of the working tree: it is in the transaction, and may not be in the store
}

// source gives objects; the bytes are not to be changed.
type source func(id oid.ID) ([]byte, error)

// scanner searches one content at a time.
type scanner struct {
	m       *Matcher
	get     source
	before  searched
	scratch []byte
	pending []byte
}

// search reads a content and finds its lines.
func (s *scanner) search(c content, stopped func() error) *hits {
	h := &found{hits: &hits{}, seen: map[uint64]bool{}}
	data, err := s.get(c.id)
	if err != nil {
		h.err = err
		return h.hits
	}
	if c.kind == manifest.File {
		if !isBinary(data) {
			s.part(h, data, s.lines)
		}
		return h.hits
	}
	list, err := cas.ParseList(data)
	if err != nil {
		h.err = err
		return h.hits
	}
	s.pending = s.pending[:0]
	for i, chunk := range list.Chunks {
		if h.err = stopped(); h.err != nil {
			return h.hits
		}
		data, err := s.get(chunk.ID)
		if err == nil && len(data) != int(chunk.Size) {
			err = fmt.Errorf("chunk %s has %d bytes, its list says %d", chunk.ID, len(data), chunk.Size)
		}
		if err != nil {
			h.err = err
			return h.hits
		}
		if i == 0 && isBinary(data) {
			return h.hits
		}
		s.stream(h, data)
	}
	s.part(h, s.pending, s.changing)
	return h.hits
}

func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), binaryHead)], 0) >= 0 }

// stream searches the lines that end in data, and keeps the begin of the next one.
func (s *scanner) stream(h *found, data []byte) {
	s.pending = append(s.pending, data...)
	if end := bytes.LastIndexByte(s.pending, '\n') + 1; end > 0 {
		s.part(h, s.pending[:end], s.changing)
		s.pending = append(s.pending[:0], s.pending[end:]...)
	}
	if len(s.pending) > maxLine {
		s.part(h, s.pending, s.changing)
		s.pending = append(s.pending[:0], s.pending[len(s.pending)-overlap:]...)
	}
}

// found gathers the hits of one content.
type found struct {
	*hits
	seen map[uint64]bool
	done int // line ends before the part that is searched
}

// changing is Matcher.lines of a text whose memory is used again.
func (s *scanner) changing(text []byte, visit func(from, to, start, end int) bool) {
	s.m.lines(text, &s.scratch, visit)
}

func (s *scanner) part(h *found, text []byte, lines func([]byte, func(from, to, start, end int) bool)) {
	counted, line := 0, h.done+1 // the number of the line at counted
	lines(text, func(from, to, start, end int) bool {
		line += bytes.Count(text[counted:from], []byte{'\n'})
		counted = from
		sum := xxhash.Sum64(text[from:to])
		if h.seen[sum] {
			return true
		}
		if len(h.lines) == maxHits || h.bytes > hitBytes {
			h.more = true
			return false
		}
		h.seen[sum] = true
		x := cut(text[from:to], start, end)
		x.sum, x.line = sum, int32(line)
		h.lines = append(h.lines, x)
		h.bytes += x.size()
		return true
	})
	if h.more {
		return
	}
	h.done += bytes.Count(text, []byte{'\n'})
}

// cut keeps the text around the match.
func cut(line []byte, start, end int) hit {
	from, to := 0, len(line)
	if len(line) > maxText {
		from = max(0, min(start-maxText/4, len(line)-maxText))
		to = from + maxText
	}
	return hit{text: string(line[from:to]), clipped: to-from < len(line), start: int32(start - from), end: int32(min(end, to) - from)}
}
