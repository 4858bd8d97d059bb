package app

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"plain text":               "plain text",
		`back\slash`:               `back\slash`,
		"größer 世界 👩‍🚀":            "größer 世界 👩‍🚀",
		"\x1b[2J":                  `\x1b[2J`,
		"a\nb\r\tc\x00\x7f":        `a\nb\r\tc\x00\x7f`,
		"\u009b31m":                `\u009b31m`,
		"\xff\xfe":                 `\xff\xfe`,
		"half \xe4\xb8":            `half \xe4\xb8`,
		"evil\u202egnp.exe":        `evil\u202egnp.exe`,
		"zero\u200bwidth\ufeff":    `zero\u200bwidth\ufeff`,
		"line\u2028sep":            `line\u2028sep`,
		"tag\U000e0041":            `tag\U000e0041`,
		"replacement \ufffd is ok": "replacement \ufffd is ok",
	} {
		if got := Escape(in); got != want {
			t.Errorf("escape(%q) = %q, want %q", in, got, want)
		}
	}
	if got := EscapeLine("a\tb\x1b"); got != "a\tb\\x1b" {
		t.Errorf("escapeLine: %q", got)
	}
	if got := FirstLine("\n  first \x1b\r\nsecond"); got != `first \x1b` {
		t.Errorf("firstLine: %q", got)
	}
}

// Whatever comes in, what goes out is valid UTF-8 without control characters,
// and escaping it again changes nothing.
func TestEscapeIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		out := Escape(in)
		if !utf8.ValidString(out) {
			t.Fatalf("%q is no UTF-8", out)
		}
		for _, r := range out {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q has %U", out, r)
			}
		}
		if again := Escape(out); again != out {
			t.Fatalf("%q becomes %q", out, again)
		}
	})
}

// No two paths look the same.
func TestEscapePath(t *testing.T) {
	for path, want := range map[string]string{
		"a b/ü":   "a b/ü",
		`a\nb`:    `a\\nb`,
		"a\nb":    `a\nb`,
		"a\n\\nb": `a\n\\nb`,
		"\xff":    `\xff`,
		`\xff`:    `\\xff`,
	} {
		if got := EscapePath(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}
