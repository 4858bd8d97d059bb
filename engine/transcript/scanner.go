package transcript

import (
	"bytes"
	"io"
)

const (
	// windowSize bounds the memory of a scanner whatever the length of a line.
	windowSize = 256 << 10
	// maxDepth is how deep values may nest; a deeper line counts as broken.
	maxDepth = 100_000
	// maxKey and maxID bound keys and identifiers; what is longer is not one.
	maxKey, maxID     = 64, 256
	maxPath, maxTitle = 16 << 10, 4 << 10
)

// scanner pulls JSON values from a stream of lines. It holds a window of the
// stream, never a whole line, and copies only what is asked for: a line of
// 20 MB costs its bytes in time, and nothing in memory.
//
// Its grammar is JSON's, except that the inside of a skipped string is not
// looked at beyond its end. An error makes the line bad: all methods then do
// nothing until the next call of line.
type scanner struct {
	r    io.Reader
	buf  []byte
	pos  int   // next byte
	end  int   // end of the line's bytes in the window
	fill int   // end of the data in the window
	base int64 // offset in the stream of buf[0]

	eol   bool // buf[end] is the line's newline
	eof   bool // r has ended
	bad   bool // the line is no JSON
	first bool // the next key or element is the first of its container
	err   error

	name  []byte // the last key
	text  []byte // the last string that did not lie in the window as it is
	stack []byte // open containers of a value being skipped
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, windowSize), eol: true, end: -1}
}

// newLineScanner scans one line that is in memory, without its newline.
func newLineScanner(line []byte) *scanner {
	return &scanner{buf: line, end: len(line), fill: len(line), eof: true}
}

// line goes to the next line and reports its offset. ok is false at the end of
// the stream, and after a read error, which is in err.
func (s *scanner) line() (offset int64, ok bool) {
	if end, complete := s.rest(); !complete {
		return end, false
	}
	s.pos, s.bad, s.first = s.end+1, false, false
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

// rest consumes what is left of the line. It returns the offset behind its
// newline, or the end of the stream where the line is torn.
func (s *scanner) rest() (end int64, complete bool) {
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
func (s *scanner) bound() {
	if i := bytes.IndexByte(s.buf[s.pos:s.fill], '\n'); i >= 0 {
		s.end, s.eol = s.pos+i, true
		return
	}
	s.end, s.eol = s.fill, false
}

// read adds to the window; false when nothing came.
func (s *scanner) read() bool {
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
func (s *scanner) more() bool {
	if s.eol || s.eof {
		return false
	}
	s.base += int64(s.fill)
	s.pos, s.fill = 0, 0
	ok := s.read()
	s.bound()
	return ok && s.end > s.pos
}

func (s *scanner) fail() { s.bad = true }

// peek skips white space and shows the next byte of the line, 0 at its end.
func (s *scanner) peek() byte {
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\r':
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
func (s *scanner) expect(c byte) bool {
	if s.bad || s.peek() != c || s.pos == s.end {
		s.fail()
		return false
	}
	s.pos++
	return true
}

// object enters an object. A value of another kind is skipped.
func (s *scanner) object() bool { return s.enter('{') }

// array enters an array. A value of another kind is skipped.
func (s *scanner) array() bool { return s.enter('[') }

func (s *scanner) enter(open byte) bool {
	if s.bad {
		return false
	}
	if s.peek() != open {
		s.skip()
		return false
	}
	s.pos++
	s.first = true
	return true
}

// key goes to the next member of the object and leaves the scanner at its
// value, which the caller consumes. The key is valid until the next call of
// key. ok is false when the object has ended.
func (s *scanner) key() (key []byte, ok bool) {
	if !s.next('}') {
		return nil, false
	}
	if s.peek() != '"' {
		s.fail()
		return nil, false
	}
	key, _ = s.str(maxKey)
	s.name = append(s.name[:0], key...)
	return s.name, s.expect(':')
}

// inside enters the object that is the next value and visits its members. Of a
// value of another kind there are none.
func (s *scanner) inside(each func(key []byte)) {
	if s.object() {
		s.members(each)
	}
}

// members visits the members of the object that was entered; each consumes the value.
func (s *scanner) members(each func(key []byte)) {
	for {
		key, ok := s.key()
		if !ok {
			return
		}
		each(key)
	}
}

// elem goes to the next element of the array, which the caller consumes.
func (s *scanner) elem() bool { return s.next(']') }

func (s *scanner) next(end byte) bool {
	if s.bad {
		return false
	}
	c := s.peek()
	if c == end {
		s.pos++
		s.first = false
		return false
	}
	if !s.first && !s.expect(',') {
		return false
	}
	s.first = false
	return true
}

// finish checks that the line holds nothing more.
func (s *scanner) finish() bool {
	if !s.bad && (s.peek() != 0 || s.pos < s.end) {
		s.fail()
	}
	return !s.bad
}

// literal consumes a scalar and returns its first bytes.
func (s *scanner) literal() []byte {
	s.text = s.text[:0]
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; {
			case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
				if len(s.text) < 8 {
					s.text = append(s.text, c)
				}
				s.pos++
			default:
				return s.checkLiteral()
			}
		}
		if !s.more() {
			return s.checkLiteral()
		}
	}
}

func (s *scanner) checkLiteral() []byte {
	switch string(s.text) {
	case "true", "false", "null":
		return s.text
	}
	digits := s.text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' {
		s.fail()
	}
	return s.text
}

// isTrue consumes a value and reports whether it is true.
func (s *scanner) isTrue() bool {
	if s.bad || s.peek() != 't' {
		s.skip()
		return false
	}
	return string(s.literal()) == "true" && !s.bad
}

// isSet consumes a value and reports whether it is there and not null.
func (s *scanner) isSet() bool {
	if s.bad {
		return false
	}
	if s.peek() == 'n' {
		s.literal()
		return false
	}
	s.skip()
	return !s.bad
}

// skip consumes one value of any kind.
func (s *scanner) skip() {
	s.stack = s.stack[:0]
	for !s.bad {
		switch s.peek() {
		case '"':
			s.skipString()
		case '{':
			s.pos++
			if s.peek() != '}' {
				s.push('}')
				s.skipKey()
				continue
			}
			s.pos++
		case '[':
			s.pos++
			if s.peek() != ']' {
				s.push(']')
				continue
			}
			s.pos++
		default:
			s.literal()
		}
		// A value has ended: close what ends with it.
		for !s.bad {
			n := len(s.stack)
			if n == 0 {
				return
			}
			c := s.peek()
			if c == s.stack[n-1] {
				s.pos++
				s.stack = s.stack[:n-1]
				continue
			}
			if !s.expect(',') {
				return
			}
			if s.stack[n-1] == '}' {
				s.skipKey()
			}
			break
		}
	}
}

func (s *scanner) push(end byte) {
	if len(s.stack) >= maxDepth {
		s.fail()
		return
	}
	s.stack = append(s.stack, end)
}

func (s *scanner) skipKey() {
	if s.peek() != '"' {
		s.fail()
		return
	}
	s.skipString()
	s.expect(':')
}
