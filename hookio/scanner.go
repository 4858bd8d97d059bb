package hookio

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// errSyntax: not JSON at this place.
var errSyntax = errors.New("the payload is not valid JSON")

// scanner reads JSON piece by piece, so that a payload of any size costs a
// buffer and the few strings that are kept. The first error stays in err; all
// methods do nothing from then on.
type scanner struct {
	r   *bufio.Reader
	err error
}

func newScanner(r io.Reader) *scanner { return &scanner{r: bufio.NewReaderSize(r, 1<<16)} }

// peek returns the first byte of the next token.
func (s *scanner) peek() byte {
	for s.err == nil {
		b, err := s.r.ReadByte()
		if err != nil {
			s.fail(err)
			return 0
		}
		switch b {
		case ' ', '\t', '\r', '\n':
			continue
		}
		s.fail(s.r.UnreadByte())
		return b
	}
	return 0
}

func (s *scanner) fail(err error) {
	if s.err != nil || err == nil {
		return
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	s.err = err
}

// take consumes the next token's first byte if it is b.
func (s *scanner) take(b byte) bool {
	if s.peek() != b || s.err != nil {
		return false
	}
	_, err := s.r.ReadByte()
	s.fail(err)
	return s.err == nil
}

// object calls member for each name of an object; member must consume the
// value. Something else than an object is skipped and ok is false.
func (s *scanner) object(member func(name string)) (ok bool) {
	if !s.take('{') {
		s.skip()
		return false
	}
	if s.take('}') {
		return true
	}
	for s.err == nil {
		name, ok := s.text(4096)
		if !ok || !s.take(':') {
			s.fail(errSyntax)
			return true
		}
		member(name.kept)
		if s.take(',') {
			if s.take('}') { // a trailing comma is accepted
				return true
			}
			continue
		}
		if !s.take('}') {
			s.fail(errSyntax)
		}
		return true
	}
	return true
}

// array calls element for each element, which must consume it.
func (s *scanner) array(element func()) (ok bool) {
	if !s.take('[') {
		s.skip()
		return false
	}
	if s.take(']') {
		return true
	}
	for s.err == nil {
		element()
		if s.take(',') {
			continue
		}
		if !s.take(']') {
			s.fail(errSyntax)
		}
		return true
	}
	return true
}

// text is a string of which at most a number of bytes were kept.
type text struct {
	kept      string
	chars     int // of the whole
	truncated bool
}

// text reads a string and keeps at most limit bytes of it. Another value is
// skipped and ok is false; also where the string does not end.
func (s *scanner) text(limit int) (t text, ok bool) {
	if !s.take('"') {
		s.skip()
		return t, false
	}
	var kept []byte
	keep := func(b []byte) {
		if room := limit - len(kept); len(b) > room {
			b = b[:room]
			t.truncated = true
		}
		kept = append(kept, b...)
	}
	for s.err == nil {
		run := s.plain()
		keep(run)
		for _, c := range run {
			if c < 0x80 || c >= 0xC0 { // not a continuation byte
				t.chars++
			}
		}
		_, err := s.r.Discard(len(run))
		s.fail(err)
		b, err := s.r.ReadByte()
		if err != nil {
			s.fail(err)
			break
		}
		if b == '"' {
			t.kept = string(kept)
			return t, true
		}
		if b != '\\' { // the run ended with the buffer
			s.fail(s.r.UnreadByte())
			continue
		}
		if r := s.escape(); r >= 0 {
			t.chars++
			var encoded [utf8.UTFMax]byte
			keep(encoded[:utf8.EncodeRune(encoded[:], r)])
		}
	}
	return t, false
}

// plain returns buffered bytes up to a quote or backslash, without consuming
// them.
func (s *scanner) plain() []byte {
	if _, err := s.r.Peek(1); err != nil {
		s.fail(err)
		return nil
	}
	buffered, _ := s.r.Peek(s.r.Buffered())
	for i, c := range buffered {
		if c == '"' || c == '\\' {
			return buffered[:i]
		}
	}
	return buffered
}

// escape reads what follows a backslash; -1 is nothing.
func (s *scanner) escape() rune {
	b, err := s.r.ReadByte()
	if err != nil {
		s.fail(err)
		return -1
	}
	switch b {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'u':
		r := s.hex()
		if utf16.IsSurrogate(r) {
			low := rune(utf8.RuneError)
			if next, err := s.r.Peek(2); err == nil && next[0] == '\\' && next[1] == 'u' {
				if _, err := s.r.Discard(2); err == nil {
					low = s.hex()
				}
			}
			r = utf16.DecodeRune(r, low)
		}
		return r
	}
	if b >= utf8.RuneSelf { // no escape: the character stands for itself
		s.fail(s.r.UnreadByte())
		return -1
	}
	return rune(b)
}

func (s *scanner) hex() rune {
	var digits [4]byte
	if _, err := io.ReadFull(s.r, digits[:]); err != nil {
		s.fail(err)
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		s.fail(errSyntax)
		return utf8.RuneError
	}
	return rune(n)
}

// maxSkipDepth bounds what is read of a value nested without reason.
const maxSkipDepth = 10_000

// skip consumes one value of any kind.
func (s *scanner) skip() {
	depth := 0
	for s.err == nil {
		switch b := s.peek(); b {
		case '"':
			s.take('"')
			s.skipString()
		case '{', '[':
			s.take(b)
			if depth++; depth > maxSkipDepth {
				s.fail(errSyntax)
			}
			continue
		case '}', ']':
			if depth == 0 {
				s.fail(errSyntax)
				return
			}
			s.take(b)
			depth--
		case ',', ':':
			if depth == 0 {
				s.fail(errSyntax)
				return
			}
			s.take(b)
			continue
		default:
			s.skipWord()
		}
		if depth == 0 {
			return
		}
	}
}

func (s *scanner) skipString() {
	for s.err == nil {
		run := s.plain()
		_, err := s.r.Discard(len(run))
		s.fail(err)
		switch b, err := s.r.ReadByte(); {
		case err != nil:
			s.fail(err)
		case b == '"':
			return
		case b == '\\':
			_, err := s.r.ReadByte()
			s.fail(err)
		}
	}
}

// skipWord consumes a number, true, false, null, or something that is none of
// them.
func (s *scanner) skipWord() {
	for n := 0; s.err == nil; n++ {
		b, err := s.r.ReadByte()
		if err != nil {
			if n > 0 && err == io.EOF {
				return
			}
			s.fail(err)
			return
		}
		switch {
		case b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '-' || b == '+' || b == '.':
		default:
			s.fail(s.r.UnreadByte())
			if n == 0 {
				s.fail(errSyntax)
			}
			return
		}
	}
}
