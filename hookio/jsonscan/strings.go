package jsonscan

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Value consumes a string and returns at most limit bytes of it, decoded; they
// are valid until the next call. whole is false when there was more. Any other
// value, null too, is skipped: nil.
func (s *Scanner) Value(limit int) (text []byte, whole bool) {
	if s.bad || s.Peek() != '"' {
		s.Skip()
		return nil, false
	}
	return s.str(limit, nil)
}

// ID consumes a string that identifies something. Absurdly long ones count as
// none: a cut one could be taken for another's.
func (s *Scanner) ID() []byte {
	b, whole := s.Value(maxID)
	if !whole {
		return nil
	}
	return b
}

// Text is a string of which at most a number of bytes were kept.
type Text struct {
	Kept      string
	Chars     int // of the whole
	Truncated bool
}

// Text consumes a string and keeps at most limit bytes of it. Another value is skipped and ok is
// false; also where the string does not end.
func (s *Scanner) Text(limit int) (t Text, ok bool) {
	if s.bad || s.Peek() != '"' {
		s.Skip()
		return t, false
	}
	var c counter
	kept, whole := s.str(limit, &c)
	if s.bad {
		return t, false
	}
	return Text{string(kept), c.chars, !whole}, true
}

// counter counts the characters of a string that comes in pieces.
type counter struct {
	chars int
	open  bool // after a backslash
	left  int  // digits of an escape to come
	high  bool // it begins as the first half of a pair does: the second one counts
}

// add is false for an escape whose digits are none.
func (k *counter) add(b []byte) bool {
	for _, c := range b {
		switch {
		case k.left > 0:
			if c >= 'A' && c <= 'F' {
				c |= 0x20
			}
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
				return false
			}
			if k.left == 4 {
				k.high = c == 'd'
			} else if k.left == 3 && k.high && (c == '8' || c == '9' || c == 'a' || c == 'b') {
				k.chars--
			}
			k.left--
		case k.open:
			k.open = false
			k.chars++
			if c == 'u' {
				k.left = 4
			}
		case c == '\\':
			k.open = true
		case c < utf8.RuneSelf || c >= 0xC0: // not a continuation byte
			k.chars++
		}
	}
	return true
}

// str consumes the string that begins at pos. Its characters are counted where c is not nil.
func (s *Scanner) str(limit int, c *counter) (text []byte, whole bool) {
	s.pos++
	s.text = s.text[:0]
	open := false // the chunk before ended in an escaping backslash
	for i := 0; ; i++ {
		chunk := s.buf[s.pos:s.end]
		n, closed, esc := stringEnd(chunk, open)
		raw := chunk[:n]
		s.pos += n
		if c != nil && !c.add(raw) {
			s.fail()
			return nil, false
		}
		if closed {
			s.pos++
			if i == 0 { // the usual case: the string lies in the window
				whole = len(raw) <= limit
				raw = cut(raw, limit)
				if bytes.IndexByte(raw, '\\') < 0 {
					return raw, whole
				}
				s.text = unescape(s.text, raw)
				return s.text, whole
			}
		}
		if room := limit + 1 - len(s.text); room > 0 {
			s.text = append(s.text, raw[:min(len(raw), room)]...)
		}
		if closed {
			whole = len(s.text) <= limit
			raw = cut(s.text, limit)
			if bytes.IndexByte(raw, '\\') >= 0 {
				raw = unescape(raw[:0], raw) // never longer
			}
			return raw, whole
		}
		open = esc
		if !s.more() {
			s.fail()
			return nil, false
		}
	}
}

// cut shortens a raw string to at most limit bytes, not inside an escape.
func cut(raw []byte, limit int) []byte {
	if len(raw) <= limit {
		return raw
	}
	raw = raw[:limit]
	// The last backslash can begin an escape of up to 12 bytes (two \u).
	for i := max(0, limit-12); i < limit; i++ {
		if escapes(raw, i) {
			if i >= 6 && firstOfPair(raw[i-6:i]) && escapes(raw, i-6) {
				i -= 6
			}
			return raw[:i]
		}
	}
	for len(raw) > 0 && !utf8.RuneStart(raw[len(raw)-1]) {
		raw = raw[:len(raw)-1]
	}
	if n := len(raw); n > 0 && raw[n-1] >= utf8.RuneSelf {
		raw = raw[:n-1]
	}
	return raw
}

// escapes reports whether an escape begins at i: with a backslash that is not escaped itself.
func escapes(raw []byte, i int) bool {
	n := 0
	for ; i >= 0 && raw[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// firstOfPair reports whether six bytes are the escape of a pair's first half, \ud800 to \udbff.
func firstOfPair(b []byte) bool {
	return b[1] == 'u' && b[2]|0x20 == 'd' && (b[3] == '8' || b[3] == '9' || b[3]|0x20 == 'a' || b[3]|0x20 == 'b')
}

// skipString consumes the string that begins at pos.
func (s *Scanner) skipString() {
	s.pos++
	open := false
	for {
		n, closed, esc := stringEnd(s.buf[s.pos:s.end], open)
		s.pos += n
		if closed {
			s.pos++
			return
		}
		open = esc
		if !s.more() {
			s.fail()
			return
		}
	}
}

// stringEnd finds the quote that ends a string of which b is a part; open says
// that the byte before b is an escaping backslash, esc that b's last one is.
func stringEnd(b []byte, open bool) (n int, closed, esc bool) {
	i := 0
	if open {
		if len(b) == 0 {
			return 0, false, true
		}
		i = 1
	}
	for {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			k := len(b)
			for k > i && b[k-1] == '\\' {
				k--
			}
			return len(b), false, (len(b)-k)%2 == 1
		}
		j += i
		k := j
		for k > i && b[k-1] == '\\' {
			k--
		}
		if (j-k)%2 == 0 {
			return j, true, false
		}
		i = j + 1
	}
}

// unescape appends the decoded string to dst. What is no escape stays as it is.
func unescape(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 == len(raw) {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r, ok := hex4(raw)
			if !ok {
				dst = append(dst, '\\', 'u')
				continue
			}
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				low := rune(utf8.RuneError)
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					if v, ok := hex4(raw[2:]); ok {
						low = v
					}
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					raw = raw[6:]
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		case '"', '\\', '/':
		default:
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[:4]), 16, 32)
	return rune(v), err == nil
}
