package screen

import "unicode/utf8"

// decodeKeys turns what a terminal in raw mode sends into names of keys:
// "up", "enter", "ctrl-c", "esc", or the character itself. It returns what is not
// complete yet; with final set, a lone escape is the key and nothing is kept.
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
			keys, b = append(keys, name), b[n:]
		case c == '\r' || c == '\n':
			keys, b = append(keys, "enter"), b[1:]
		case c == 0x7f || c == 0x08:
			keys, b = append(keys, "backspace"), b[1:]
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
		if b[1] == 0x1b {
			return "esc", 1
		}
		return "alt", 2
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
	case "H", "1~", "7~":
		return "home"
	case "F", "4~", "8~":
		return "end"
	case "5~":
		return "pageup"
	case "6~":
		return "pagedown"
	}
	return "other"
}
