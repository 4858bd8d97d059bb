package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

type wordBuilder struct {
	text, pattern []byte
	glob          bool
	dynamic       bool
	quoted        bool
}

func (b *wordBuilder) quote(s string) {
	b.text = append(b.text, s...)
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]\{},`, s[i]) >= 0 {
			b.pattern = append(b.pattern, '\\')
		}
		b.pattern = append(b.pattern, s[i])
	}
}

func (b *wordBuilder) plain(c byte) {
	if c == '*' || c == '?' || c == '[' || c == '{' {
		b.glob = true
	}
	b.text = append(b.text, c)
	b.pattern = append(b.pattern, c)
}

func (b *wordBuilder) unknown() {
	b.dynamic = true
	b.text = append(b.text, 0)
	b.pattern = append(b.pattern, 0)
}

func (b *wordBuilder) word() Word {
	w := Word{Text: string(b.text), Dynamic: b.dynamic, quoted: b.quoted}
	if b.glob {
		w.Pattern = string(b.pattern)
	}
	return w
}

// word reads up to white space or an operator.
func (p *parser) word() Word {
	var b wordBuilder
	if p.at(0) == '~' {
		p.tilde(&b)
	}
	for p.pos < len(p.src) {
		switch c := p.at(0); c {
		case ' ', '\t', '\r', '\n', ';', '&', '|', ')', '<', '>':
			return b.word()
		case '(':
			if n := len(b.text); n > 1 && b.text[n-1] == '=' { // an array: a=(x y)
				p.pos++
				p.skipArray()
				b.unknown()
				continue
			}
			return b.word()
		case '\'':
			p.singleQuoted(&b)
		case '"':
			p.pos++
			p.doubleQuoted(&b)
		case '\\':
			p.pos++
			if p.at(0) == '\n' {
				p.pos++
			} else if p.pos < len(p.src) {
				b.quoted = true
				b.quote(p.src[p.pos : p.pos+1])
				p.pos++
			}
		case '$', '`':
			p.expansion(&b, false)
		default:
			b.plain(c)
			p.pos++
		}
	}
	return b.word()
}

func (p *parser) tilde(b *wordBuilder) {
	end := p.pos + 1
	for end < len(p.src) && strings.IndexByte("/ \t\r\n;&|()<>'\"\\$`", p.src[end]) < 0 {
		end++
	}
	name := map[string]string{"~": "HOME", "~+": "PWD", "~-": "OLDPWD"}[p.src[p.pos:end]]
	p.pos = end
	if value, ok := p.variable(name); ok && name != "" {
		b.quote(value)
		return
	}
	b.unknown()
}

// skipArray skips the elements of an array, running what they substitute.
func (p *parser) skipArray() {
	for p.pos < len(p.src) && p.at(0) != ')' {
		start := p.pos
		p.word()
		if p.pos == start {
			p.pos++
		}
	}
	p.pos = min(p.pos+1, len(p.src))
}

func (p *parser) singleQuoted(b *wordBuilder) {
	b.quoted = true
	rest := p.src[p.pos+1:]
	end := strings.IndexByte(rest, '\'')
	if end < 0 {
		b.quote(rest)
		p.pos = len(p.src)
		return
	}
	b.quote(rest[:end])
	p.pos += end + 2
}

// doubleQuoted reads to the closing quote; the opening one is consumed.
func (p *parser) doubleQuoted(b *wordBuilder) {
	b.quoted = true
	for p.pos < len(p.src) {
		switch c := p.at(0); c {
		case '"':
			p.pos++
			return
		case '\\':
			next := p.at(1)
			switch next {
			case '\n':
				p.pos += 2
			case '$', '`', '"', '\\':
				b.quote(string(next))
				p.pos += 2
			default:
				b.quote(`\`)
				p.pos++
			}
		case '$', '`':
			p.expansion(b, true)
		default:
			b.quote(p.src[p.pos : p.pos+1])
			p.pos++
		}
	}
}

// expansion reads $… or `…`.
func (p *parser) expansion(b *wordBuilder, inQuotes bool) {
	start := p.pos + 1
	substituted := func() {
		if inside := p.src[min(start, len(p.src)):min(p.pos, len(p.src))]; !b.listing(inside, inQuotes) {
			b.unknown()
			b.quote(programFound(inside))
		}
	}
	if p.at(0) == '`' {
		p.backquoted()
		substituted()
		return
	}
	p.pos++
	switch c := p.at(0); {
	case c == '(' && p.at(1) == '(':
		if end := p.find("))"); end >= 0 { // arithmetic
			p.pos = end
		} else {
			p.pos = len(p.src)
		}
		b.unknown()
	case c == '(':
		p.pos++
		start = p.pos
		p.substitution()
		substituted()
	case c == '{':
		p.braced(b)
	case c == '\'' && !inQuotes:
		p.pos++
		p.ansiQuoted(b)
	case c == '"' && !inQuotes:
		p.pos++
		p.doubleQuoted(b)
	case nameByte(c) && (c < '0' || c > '9'):
		start := p.pos
		for nameByte(p.at(0)) {
			p.pos++
		}
		p.parameter(b, p.src[start:p.pos])
	case c >= '0' && c <= '9' || c != 0 && strings.IndexByte("@*#?-$!", c) >= 0:
		p.pos++
		b.unknown()
	default:
		b.quote("$")
	}
}

func (p *parser) parameter(b *wordBuilder, name string) {
	if value, ok := p.variable(name); ok && len(b.text)+len(value) <= maxValueBytes {
		p.work += len(value)
		pattern, ok := strings.CutPrefix(value, patternMark)
		if !ok {
			b.quote(value)
			return
		}
		for i := 0; i < len(pattern); i++ {
			if pattern[i] == '\\' && i+1 < len(pattern) {
				i++
				b.quote(pattern[i : i+1])
			} else {
				b.plain(pattern[i])
			}
		}
		return
	}
	b.unknown()
}

// braced reads ${name} and its relatives; only the plain form and the ones with
// a default have a value that we know.
func (p *parser) braced(b *wordBuilder) {
	depth, start := 0, p.pos+1
	for ; p.pos < len(p.src); p.pos++ {
		switch p.at(0) {
		case '{':
			depth++
		case '}':
			depth--
		case '\\':
			p.pos++
		}
		if depth == 0 {
			break
		}
	}
	end := min(p.pos, len(p.src))
	p.pos = min(p.pos+1, len(p.src))
	inside := p.src[start:max(start, end)]
	n := 0
	for n < len(inside) && nameByte(inside[n]) {
		n++
	}
	if n > 0 && (n == len(inside) || strings.IndexByte(":-?", inside[n]) >= 0) {
		p.parameter(b, inside[:n])
	} else {
		b.unknown()
	}
	p.substitutionsIn(inside[n:])
}

// listing takes a substitution that lists the working directory as the pattern that matches as much.
func (b *wordBuilder) listing(inside string, inQuotes bool) bool {
	words := strings.Fields(strings.Trim(inside, "()`"))
	if inQuotes || len(words) == 0 || words[0] != "ls" {
		return false
	}
	pattern := "*"
	for _, option := range words[1:] {
		if !strings.HasPrefix(option, "-") {
			return false
		}
		if strings.ContainsAny(option, "aA") {
			pattern = "{*,.*}"
		}
	}
	for i := range len(pattern) {
		b.plain(pattern[i])
	}
	return true
}

// programFound is the end of the path that a substitution gives which looks for a program: its name
// after one more unknown and a slash. "" for any other.
func programFound(inside string) string {
	words := strings.Fields(strings.TrimRight(inside, ")`"))
	if len(words) < 2 {
		return ""
	}
	switch words[0] {
	case "which", "command", "type", "whence":
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") {
				return "\x00/" + strings.Trim(w, `'"`)
			}
		}
	}
	return ""
}

// backquoted visits the commands between backquotes.
func (p *parser) backquoted() {
	p.pos++
	var inner []byte
	for ; p.pos < len(p.src) && p.at(0) != '`'; p.pos++ {
		if next := p.at(1); p.at(0) == '\\' && (next == '`' || next == '\\' || next == '$') {
			p.pos++
		}
		inner = append(inner, p.at(0))
	}
	p.pos = min(p.pos+1, len(p.src))
	q := &parser{src: string(inner), depth: p.depth + 1, walker: p.walker}
	p.enter()
	q.list(0)
	p.leave()
}

// ansiQuoted reads $'…'.
func (p *parser) ansiQuoted(b *wordBuilder) {
	b.quoted = true
	for p.pos < len(p.src) {
		c := p.at(0)
		p.pos++
		switch {
		case c == '\'':
			return
		case c != '\\' || p.pos >= len(p.src):
			b.quote(string([]byte{c}))
		default:
			b.quote(p.ansiEscape())
		}
	}
}

func (p *parser) ansiEscape() string {
	c := p.at(0)
	p.pos++
	if i := strings.IndexByte("abefnrtv", c); i >= 0 {
		return "\a\b\x1b\f\n\r\t\v"[i : i+1]
	}
	base, most := 0, 0
	switch {
	case c == 'x':
		base, most = 16, 2
	case c == 'u':
		base, most = 16, 4
	case c == 'U':
		base, most = 16, 8
	case c >= '0' && c <= '7':
		base, most = 8, 3
		p.pos--
	default:
		return string([]byte{c})
	}
	end := p.pos
	for end < len(p.src) && end-p.pos < most {
		if _, err := strconv.ParseUint(p.src[end:end+1], base, 8); err != nil {
			break
		}
		end++
	}
	n, err := strconv.ParseUint(p.src[p.pos:end], base, 32)
	p.pos = end
	if err != nil {
		return ""
	}
	if c == 'u' || c == 'U' {
		return string(utf8.AppendRune(nil, rune(n)))
	}
	return string([]byte{byte(n)})
}

func nameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
