package notice

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPromptRunes = 60  // how much of a prompt is quoted, in characters
	maxPathBytes   = 100 // how much of a long path
	maxQuoted      = 140 // how long either is when it is quoted, in bytes
)

// quote puts a text from outside between quotes, on one line. A quote, a backslash, what starts or ends a
// tag, and whatever a reader does not see as what it is (control and bidirectional characters, line
// separators, characters without width, bytes that are no text) are escaped: nothing in it ends the
// quotes, and nothing in it looks like something else.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<' || r == '>' || r == '`' || !unicode.IsPrint(r) || invisible(r):
			if r > 0xffff {
				fmt.Fprintf(&b, `\U%08x`, r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteRune(r)
		}
		i += size
	}
	b.WriteByte('"')
	return b.String()
}

// invisible are characters that count as printable and show nothing: fillers and variation selectors, in
// which texts can be hidden.
func invisible(r rune) bool {
	switch {
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x2800 || r == 0x034f:
		return true
	case r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r == 0x17b4 || r == 0x17b5:
		return true
	}
	return false
}

// beginning keeps the first characters of a text.
func beginning(s string, most int) string {
	if len(s) <= most {
		return s
	}
	r := []rune(strings.ToValidUTF8(s, "\ufffd"))
	if len(r) <= most {
		return s
	}
	return string(r[:most-1]) + "…"
}

// quotePrompt is quote for a prompt: how it begins.
func quotePrompt(s string) string {
	for most := maxPromptRunes; ; most /= 2 {
		if q := quote(beginning(s, most)); len(q) <= maxQuoted || most < 4 {
			return q
		}
	}
}

// quotePath is quote for a path: of a long one the end, which says most.
func quotePath(p string) string {
	q := quote(p)
	for most := maxPathBytes; len(q) > maxQuoted && most > 4; most /= 2 {
		end := p[max(0, len(p)-most):]
		for len(end) > 0 && !utf8.RuneStart(end[0]) {
			end = end[1:]
		}
		q = quote("…" + end)
	}
	return q
}
