package app

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/cli/screen"
)

// Escape makes a string from outside (a name, prompt or path) harmless on a
// screen: control characters, bytes that are no UTF-8, and the invisible
// characters that reorder text become \x1b, \n, \u202e and the like. All other
// text stays as it is, backslashes too.
func Escape(s string) string {
	i := FirstUnsafe(s)
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
		i = FirstUnsafe(s)
	}
	b.WriteString(s)
	return b.String()
}

// EscapePath is escape for a path: its own backslashes are doubled, so that no two paths look the same.
func EscapePath(path string) string { return Escape(strings.ReplaceAll(path, `\`, `\\`)) }

// EscapeLine is escape for a line of a file's content: tabs stay.
func EscapeLine(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return Escape(s)
	}
	parts := strings.Split(s, "\t")
	for i := range parts {
		parts[i] = Escape(parts[i])
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

// FirstUnsafe is the index of the first byte that must not reach a screen, or -1.
func FirstUnsafe(s string) int {
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

// FirstLine is the first line of a text that has something in it, escaped.
func FirstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = strings.TrimRight(s[:i], " \t")
	}
	if len(s) > 16*maxLine { // before each of its letters is measured
		s = s[:16*maxLine] + " …"
	}
	return screen.Clip(Escape(s), maxLine)
}
