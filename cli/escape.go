package cli

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/cli/screen"
)

// escape makes a string from outside (a name, prompt or path) harmless on a
// screen: control characters, bytes that are no UTF-8, and the invisible
// characters that reorder text become \x1b, \n, \u202e and the like. All other
// text stays as it is, backslashes too.
func escape(s string) string {
	i := firstUnsafe(s)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for i >= 0 {
		b.WriteString(s[:i])
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1, r < 0x80:
			writeByteEscape(&b, s[i])
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[i+n:]
		i = firstUnsafe(s)
	}
	b.WriteString(s)
	return b.String()
}

// escapePath is escape for a path: its own backslashes are doubled, so that no two paths look the same.
func escapePath(path string) string { return escape(strings.ReplaceAll(path, `\`, `\\`)) }

// escapeLine is escape for a line of a file's content: tabs stay.
func escapeLine(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return escape(s)
	}
	parts := strings.Split(s, "\t")
	for i := range parts {
		parts[i] = escape(parts[i])
	}
	return strings.Join(parts, "\t")
}

func writeByteEscape(b *strings.Builder, c byte) {
	switch c {
	case '\n':
		b.WriteString(`\n`)
	case '\r':
		b.WriteString(`\r`)
	case '\t':
		b.WriteString(`\t`)
	default:
		const hex = "0123456789abcdef"
		b.WriteString(`\x`)
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
}

// firstUnsafe is the index of the first byte that must not reach a screen, or -1.
func firstUnsafe(s string) int {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || screen.Unsafe(r) {
			return i
		}
		i += n
	}
	return -1
}

// maxLine is how many columns of a prompt or description stand in one line, also where no screen limits it.
const maxLine = 300

// firstLine is the first line of a text that has something in it, escaped.
func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = strings.TrimRight(s[:i], " \t")
	}
	if len(s) > 16*maxLine { // before each of its letters is measured
		s = s[:16*maxLine] + " …"
	}
	return screen.Clip(escape(s), maxLine)
}
