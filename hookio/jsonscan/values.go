package jsonscan

// mostLiteral bounds what is kept of a scalar, in bytes: a 64-bit integer has up to 20 digits.
const mostLiteral = 24

// Literal consumes a scalar and returns its first bytes.
func (s *Scanner) Literal() []byte {
	s.text = s.text[:0]
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; {
			case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '-', c == '+', c == '.', c == 'E', s.whole && c >= 'A' && c <= 'Z':
				if len(s.text) < mostLiteral {
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

func (s *Scanner) checkLiteral() []byte {
	switch string(s.text) {
	case "true", "false", "null":
		return s.text
	}
	if s.whole && len(s.text) > 0 {
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

// Digits consumes a value and returns the first bytes of a number; "" for another value, and for a negative number.
func (s *Scanner) Digits() string {
	if c := s.Peek(); s.bad || c < '0' || c > '9' {
		s.Skip()
		return ""
	}
	return string(s.Literal())
}

// IsTrue consumes a value and reports whether it is true.
func (s *Scanner) IsTrue() bool {
	if s.bad || s.Peek() != 't' {
		s.Skip()
		return false
	}
	return string(s.Literal()) == "true" && !s.bad
}

// IsSet consumes a value and reports whether it is there and not null.
func (s *Scanner) IsSet() bool {
	if s.bad {
		return false
	}
	if s.Peek() == 'n' {
		s.Literal()
		return false
	}
	s.Skip()
	return !s.bad
}

// Skip consumes one value of any kind.
func (s *Scanner) Skip() {
	s.stack = s.stack[:0]
	for !s.bad {
		switch s.Peek() {
		case '"':
			s.skipString()
		case '{':
			s.pos++
			if s.Peek() != '}' {
				s.push('}')
				s.skipKey()
				continue
			}
			s.pos++
		case '[':
			s.pos++
			if s.Peek() != ']' {
				s.push(']')
				continue
			}
			s.pos++
		default:
			s.Literal()
		}
		// A value has ended: close what ends with it.
		for !s.bad {
			n := len(s.stack)
			if n == 0 {
				return
			}
			c := s.Peek()
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

func (s *Scanner) push(end byte) {
	if len(s.stack) >= maxDepth {
		s.fail()
		return
	}
	s.stack = append(s.stack, end)
}

func (s *Scanner) skipKey() {
	if s.Peek() != '"' {
		s.fail()
		return
	}
	s.skipString()
	s.expect(':')
}
