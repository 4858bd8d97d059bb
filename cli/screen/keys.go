package screen

import (
	"bytes"
	"unicode/utf8"
)

// pasted begins the name of a key that is text from the clipboard, as bracketed paste marks it.
const pasted = "paste:"

const (
	pasteEnd  = "\x1b[201~"
	mostPaste = 64 << 10 // bytes of a paste whose end does not come
)

// decodeKeys turns what a terminal in raw mode sends into names of keys:
// "up", "enter", "ctrl-c", "esc", or the character itself. It returns what is not
// complete yet; with final set, a lone escape is the key and nothing is kept but a paste
// whose end is still to come: its letters must not become keys.
func decodeKeys(b []byte, final bool) (keys []string, rest []byte) {
	for len(b) > 0 {
		switch c := b[0]; {
		case c == 0x1b:
			name, n := escapeKey(b)
			if n == 0 {
				if !final {
					return keys, b
				}
				name, n = "esc", 1
			}
			if name == pasted {
				end := bytes.Index(b[n:], []byte(pasteEnd))
				switch {
				case end >= 0:
					keys, b = append(keys, pasted+string(b[n:n+end])), b[n+end+len(pasteEnd):]
				case bytes.IndexByte(b[n:], 3) >= 0:
					return append(keys, "ctrl-c"), nil
				case len(b) > mostPaste:
					return keys, nil
				default:
					return keys, b
				}
				continue
			}
			keys, b = append(keys, name), b[n:]
		case c == '\t':
			keys, b = append(keys, "tab"), b[1:]
		case c == '\r' || c == '\n':
			keys, b = append(keys, "enter"), b[1:]
		case c == 0x7f || c == 0x08:
			keys, b = append(keys, "backspace"), b[1:]
		case c == 0:
			keys, b = append(keys, "other"), b[1:]
		case c < 0x20:
			keys, b = append(keys, "ctrl-"+string(rune('a'+c-1))), b[1:]
		default:
			if !utf8.FullRune(b) && !final {
				return keys, b
			}
			_, n := utf8.DecodeRune(b)
			keys, b = append(keys, string(b[:n])), b[n:]
		}
	}
	return keys, nil
}

// escapeKey reads one escape sequence. n is 0 while it is not complete.
func escapeKey(b []byte) (name string, n int) {
	if len(b) < 2 {
		return "", 0
	}
	if b[1] != '[' && b[1] != 'O' {
		return "esc", 1 // alt with a key sends the same
	}
	for n = 2; n < len(b); n++ {
		if c := b[n]; c >= 0x40 && c <= 0x7e {
			return sequenceName(string(b[2 : n+1])), n + 1
		}
	}
	return "", 0
}

func sequenceName(s string) string {
	switch s {
	case "A":
		return "up"
	case "B":
		return "down"
	case "C":
		return "right"
	case "D":
		return "left"
	case "H", "1~", "7~":
		return "home"
	case "F", "4~", "8~":
		return "end"
	case "5~":
		return "pageup"
	case "6~":
		return "pagedown"
	case "Z":
		return "shift-tab"
	case "200~":
		return pasted
	}
	return "other"
}
