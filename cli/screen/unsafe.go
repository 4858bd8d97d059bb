package screen

// Unsafe reports whether a character of a text from outside must not reach a screen: controls,
// and the invisible ones that reorder or hide text.
func Unsafe(r rune) bool {
	switch {
	case r <= 0x9f: // C1 controls: 0x9b is CSI on some terminals
		return true
	case r == 0xad, r == 0x61c, r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x200f && r != 0x200d: // zero width, direction marks; the joiner makes emoji
		return true
	case r >= 0x2028 && r <= 0x202e: // line separators, embeddings and overrides
		return true
	case r >= 0x2060 && r <= 0x206f: // isolates and invisible operators
		return true
	case r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f: // annotations, tags
		return true
	}
	return false
}
