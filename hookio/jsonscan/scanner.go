package jsonscan

import (
	"bytes"
	"io"
)

const (
	// lineWindow and streamWindow bound the memory of a scanner whatever the length of a line.
	lineWindow, streamWindow = 256 << 10, 64 << 10
	// maxDepth is how deep values may nest; what is deeper counts as broken.
	maxDepth = 100_000
	// maxKey and maxID bound keys and identifiers; what is longer is not one. A stream's keys can be paths.
	maxKey, maxStreamKey, maxID = 64, 4 << 10, 256
)

// ErrSyntax: not JSON at this place.
var ErrSyntax error = syntaxError{}

type syntaxError struct{}

func (syntaxError) Error() string { return "the payload is no JSON" }

// Scanner pulls JSON values from lines, or one value from a stream. It holds a window of what it
// reads, never a whole line, and copies only what is asked for: a line of 20 MB costs its bytes in
// time, and nothing in memory.
//
// Its grammar is JSON's, except that the inside of a skipped string is not
// looked at beyond its end. An error makes the line bad: all methods then do
// nothing until the next call of Line.
type Scanner struct {
	r    io.Reader
	buf  []byte
	pos  int   // next byte
	end  int   // end of the line's bytes in the window
	fill int   // end of the data in the window
	base int64 // offset in the stream of buf[0]

	whole bool // one value, over many lines, and read leniently
	eol   bool // buf[end] is the line's newline
	eof   bool // r has ended
	bad   bool // the line is no JSON
	torn  bool // it is bad because it ends too early
	first bool // the next key or element is the first of its container
	err   error

	name  []byte // the last key
	text  []byte // the last string that did not lie in the window as it is
	stack []byte // open containers of a value being skipped
}

// Lines scans a stream of lines, each after a call of Line.
func Lines(r io.Reader) *Scanner {
	return &Scanner{r: r, buf: make([]byte, lineWindow), eol: true, end: -1}
}

// Line scans one line that is in memory, without its newline.
func Line(line []byte) *Scanner {
	return &Scanner{buf: line, end: len(line), fill: len(line), eof: true}
}

// Stream scans the one value of a stream. A comma before the end of an object is no error there, nor
// does a word that JSON does not know.
func Stream(r io.Reader) *Scanner {
	return &Scanner{r: r, buf: make([]byte, streamWindow), whole: true}
}

// Bad reports whether the line is no JSON.
func (s *Scanner) Bad() bool { return s.bad }

// Pos is where in a line in memory the scanner is.
func (s *Scanner) Pos() int { return s.pos }

// ReadError is why reading ended before the end, if it did.
func (s *Scanner) ReadError() error { return s.err }

// Err is what was wrong with a stream: a failure of reading, io.ErrUnexpectedEOF, or ErrSyntax.
func (s *Scanner) Err() error {
	switch {
	case s.err != nil:
		return s.err
	case s.torn:
		return io.ErrUnexpectedEOF
	case s.bad:
		return ErrSyntax
	}
	return nil
}

// AtEnd reports whether nothing is left but white space.
func (s *Scanner) AtEnd() bool { return s.Peek() == 0 && s.pos == s.end }

// Drain reads a stream to its end.
func (s *Scanner) Drain() {
	for s.pos, s.fill = 0, 0; s.read(); s.fill = 0 {
	}
	s.end = 0
}

// Elements calls element for each element of an array, which must consume it. Something else than an
// array is skipped.
func (s *Scanner) Elements(element func()) {
	if s.Array() {
		for s.Elem() {
			element()
		}
	}
}

// Line goes to the next line and reports its offset. ok is false at the end of
// the stream, and after a read error, which is in err.
func (s *Scanner) Line() (offset int64, ok bool) {
	if end, complete := s.Rest(); !complete {
		return end, false
	}
	s.pos, s.bad, s.torn, s.first = s.end+1, false, false, false
	s.bound()
	if !s.eol && !s.eof {
		// Most lines fit into the window: let them lie in it as a whole.
		copy(s.buf, s.buf[s.pos:s.fill])
		s.base, s.fill, s.pos = s.base+int64(s.pos), s.fill-s.pos, 0
		for from := s.fill; s.read() && bytes.IndexByte(s.buf[from:s.fill], '\n') < 0; {
			from = s.fill
		}
		s.bound()
	}
	return s.base + int64(s.pos), s.pos < s.fill
}

// Rest consumes what is left of the line. It returns the offset behind its
// newline, or the end of the stream where the line is torn.
func (s *Scanner) Rest() (end int64, complete bool) {
	for !s.eol {
		s.pos = s.end
		if !s.more() && !s.eol {
			return s.base + int64(s.fill), false
		}
	}
	s.pos = s.end
	return s.base + int64(s.end) + 1, true
}

// bound finds the end of the line in what the window holds from pos on.
func (s *Scanner) bound() {
	if i := bytes.IndexByte(s.buf[s.pos:s.fill], '\n'); i >= 0 && !s.whole {
		s.end, s.eol = s.pos+i, true
		return
	}
	s.end, s.eol = s.fill, false
}

// read adds to the window; false when nothing came.
func (s *Scanner) read() bool {
	for tries := 0; !s.eof && s.fill < len(s.buf); tries++ {
		n, err := s.r.Read(s.buf[s.fill:])
		s.fill += n
		if err != nil || tries == 100 {
			s.eof = true
			switch err {
			case io.EOF:
			case nil:
				s.err = io.ErrNoProgress
			default:
				s.err = err
			}
		}
		if n > 0 {
			return true
		}
	}
	return false
}

// more replaces the window, which is used up, by the line's next bytes.
func (s *Scanner) more() bool {
	if s.eol || s.eof {
		return false
	}
	s.base += int64(s.fill)
	s.pos, s.fill = 0, 0
	ok := s.read()
	s.bound()
	return ok && s.end > s.pos
}

func (s *Scanner) fail() {
	if !s.bad {
		s.bad, s.torn = true, s.eof && s.pos == s.end
	}
}

// Peek skips white space and shows the next byte of the line, 0 at its end.
func (s *Scanner) Peek() byte {
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\r', '\n':
				s.pos++
			default:
				return c
			}
		}
		if !s.more() {
			return 0
		}
	}
}

// expect consumes c or makes the line bad.
func (s *Scanner) expect(c byte) bool {
	if s.bad || s.Peek() != c || s.pos == s.end {
		s.fail()
		return false
	}
	s.pos++
	return true
}

// Object enters an object. A value of another kind is skipped.
func (s *Scanner) Object() bool { return s.enter('{') }

// Array enters an array. A value of another kind is skipped.
func (s *Scanner) Array() bool { return s.enter('[') }

func (s *Scanner) enter(open byte) bool {
	if s.bad {
		return false
	}
	if s.Peek() != open {
		s.Skip()
		return false
	}
	s.pos++
	s.first = true
	return true
}

// Key goes to the next member of the object and leaves the scanner at its
// value, which the caller consumes. The key is valid until the next call of
// key. ok is false when the object has ended.
func (s *Scanner) Key() (key []byte, ok bool) {
	if !s.next('}') {
		return nil, false
	}
	if s.Peek() != '"' {
		s.fail()
		return nil, false
	}
	most := maxKey
	if s.whole {
		most = maxStreamKey
	}
	key, _ = s.str(most, nil)
	s.name = append(s.name[:0], key...)
	return s.name, s.expect(':')
}

// Inside enters the object that is the next value and visits its members. A value of another kind is
// skipped, and ok is false.
func (s *Scanner) Inside(each func(key []byte)) (ok bool) {
	if ok = s.Object(); ok {
		s.Members(each)
	}
	return ok
}

// Members visits the members of the object that was entered; each consumes the value.
func (s *Scanner) Members(each func(key []byte)) {
	for {
		key, ok := s.Key()
		if !ok {
			return
		}
		each(key)
	}
}

// Elem goes to the next element of the array, which the caller consumes.
func (s *Scanner) Elem() bool { return s.next(']') }

func (s *Scanner) next(end byte) bool {
	if s.bad {
		return false
	}
	c := s.Peek()
	if c == end {
		s.pos++
		s.first = false
		return false
	}
	if !s.first && !s.expect(',') {
		return false
	}
	if s.whole && !s.first && end == '}' && s.Peek() == end {
		s.pos++
		return false
	}
	s.first = false
	return true
}

// Finish checks that the line holds nothing more.
func (s *Scanner) Finish() bool {
	if !s.bad && (s.Peek() != 0 || s.pos < s.end) {
		s.fail()
	}
	return !s.bad
}
