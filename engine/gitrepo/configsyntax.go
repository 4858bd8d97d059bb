package gitrepo

import "strings"

type configParser struct {
	data []byte
	at   int
}

// next is the next byte, with CRLF read as LF; 0 at the end (and for a NUL,
// which no valid file has: then ended tells them apart).
func (p *configParser) next() byte {
	if p.at >= len(p.data) {
		p.at++
		return 0
	}
	c := p.data[p.at]
	p.at++
	if c == '\r' && p.at < len(p.data) && p.data[p.at] == '\n' {
		p.at++
		return '\n'
	}
	return c
}

func (p *configParser) ended() bool { return p.at >= len(p.data) }

func (p *configParser) skipLine() {
	for !p.ended() {
		if p.next() == '\n' {
			return
		}
	}
}

func (p *configParser) parse() []entry {
	var entries []entry
	section, known := "", true // settings before the first section have bare names
	for !p.ended() {
		c := p.next()
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case c == '#' || c == ';':
			p.skipLine()
		case c == '[':
			name, ok := p.section()
			if !ok {
				p.skipLine()
			}
			section, known = name+".", ok // the settings of a bad section do not count
		case isLetter(c):
			name, v, ok := p.setting(c)
			if ok && known {
				entries = append(entries, entry{section + name, v})
			}
		default:
			p.skipLine()
		}
	}
	return entries
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isKeyByte(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '-' }

// section reads what follows "[".
func (p *configParser) section() (string, bool) {
	var b strings.Builder
	for !p.ended() {
		switch c := p.next(); {
		case c == ']':
			return b.String(), b.Len() > 0
		case c == ' ' || c == '\t':
			return p.subsection(&b)
		case isKeyByte(c) || c == '.':
			b.WriteByte(c | 0x20) // neither digits nor '-' and '.' change
		default:
			if c == '\n' {
				p.at-- // the line is over: skipLine must not take the next one
			}
			return "", false
		}
	}
	return "", false
}

// subsection reads the quoted part of a section's head.
func (p *configParser) subsection(b *strings.Builder) (string, bool) {
	c := p.next()
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	if c != '"' {
		if c == '\n' {
			p.at--
		}
		return "", false
	}
	b.WriteByte('.')
	for !p.ended() {
		switch c := p.next(); c {
		case '\n':
			p.at--
			return "", false
		case '"':
			return b.String(), p.next() == ']'
		case '\\':
			if c = p.next(); c == '\n' {
				p.at--
				return "", false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// setting reads a name that begins with c, and its value.
func (p *configParser) setting(c byte) (name string, v value, ok bool) {
	var b strings.Builder
	for isKeyByte(c) {
		b.WriteByte(c | 0x20)
		c = p.next()
	}
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	switch {
	case c == '=':
		text, ok := p.text()
		return b.String(), value{text, true}, ok
	case c == '\n' || c == 0 && p.at > len(p.data):
		return b.String(), value{}, true
	case c == '#' || c == ';':
		p.skipLine()
		return b.String(), value{}, true
	}
	p.skipLine()
	return "", value{}, false
}

// text reads a value up to the end of its line, which a backslash continues.
func (p *configParser) text() (string, bool) {
	var b strings.Builder
	quoted := false
	spaces := 0 // unquoted ones that count only if something follows
	put := func(c byte) {
		for ; spaces > 0; spaces-- {
			b.WriteByte(' ')
		}
		b.WriteByte(c)
	}
	for {
		atEnd := p.ended()
		c := p.next()
		switch {
		case atEnd || c == '\n':
			return b.String(), !quoted
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			if b.Len() > 0 {
				spaces++
			}
		case !quoted && (c == ';' || c == '#'):
			p.skipLine()
			return b.String(), true
		case c == '"':
			quoted = !quoted
		case c == '\\':
			switch c = p.next(); c {
			case '\n':
			case 't':
				put('\t')
			case 'b':
				put('\b')
			case 'n':
				put('\n')
			case '\\', '"':
				put(c)
			default:
				p.skipLine()
				return "", false
			}
		default:
			put(c)
		}
	}
}
