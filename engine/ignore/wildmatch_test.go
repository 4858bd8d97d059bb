package ignore

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Each of these takes longer than the universe has if a star that failed is
// tried again by every star before it.
func TestHostilePatternsEnd(t *testing.T) {
	long := strings.Repeat("a", 200)
	deep := strings.Repeat("a/", 60) + "a"
	for _, c := range []struct{ pattern, text string }{
		{strings.Repeat("a*", 60) + "b", long},
		{strings.Repeat("*a", 60) + "b", long},
		{strings.Repeat("**/", 60) + "b", deep},
		{strings.Repeat("**/a/", 30) + "b", deep},
		{strings.Repeat("**/*a", 30) + "b", deep},
		{strings.Repeat("**/a*", 30) + "/b", deep},
		{strings.Repeat("*/**/", 30) + "b", deep},
		{strings.Repeat("?*", 80) + "b", long},
		{strings.Repeat("[a]*", 80) + "b", long},
	} {
		for _, slashes := range []bool{false, true} {
			if wild(c.pattern, c.text, slashes, false) {
				t.Errorf("%q matches %q", c.pattern, c.text)
			}
		}
	}
}

// naive is the meaning of a pattern without classes and escapes: every star
// tried everywhere.
func naive(pat, text string, first bool) bool {
	if pat == "" {
		return text == ""
	}
	switch pat[0] {
	case '?':
		return text != "" && text[0] != '/' && naive(pat[1:], text[1:], text[0] == '/')
	case '*':
		rest := strings.TrimLeft(pat, "*")
		cross := len(pat)-len(rest) > 1 && first && (rest == "" || rest[0] == '/')
		if cross && rest != "" && naive(rest[1:], text, true) {
			return true
		}
		for i := 0; ; i++ {
			if naive(rest, text[i:], false) {
				return true
			}
			if i == len(text) || text[i] == '/' && !cross {
				return false
			}
		}
	}
	return text != "" && text[0] == pat[0] && naive(pat[1:], text[1:], pat[0] == '/')
}

// What wild gives up early, no other way of trying finds either.
func TestWildFindsWhatTryingAllFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pat := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "/", "*", "**", "?", "**/", "/**", "/**/", "*/"}), 0, 9).Draw(t, "pattern"), "")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "/", "ab", "ba", "a/"}), 1, 9).Draw(t, "text"), "")
		if got, want := wild(pat, text, true, false), naive(pat, text, true); got != want {
			t.Fatalf("wild(%q, %q) = %v, trying all: %v", pat, text, got, want)
		}
	})
}

// Long lists are narrowed by first and last byte; the answer has to be that of
// trying all patterns one by one.
func TestNarrowedListAnswersAsTheWholeOne(t *testing.T) {
	token := rapid.SampledFrom([]string{"a", "b", "c", "ab", ".o", "*", "?", "[ab]", "\\c", "\\*", "!", "é", "\xff", "-"})
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.Custom(func(t *rapid.T) string {
			s := strings.Join(rapid.SliceOfN(token, 1, 4).Draw(t, "tokens"), "")
			if rapid.Bool().Draw(t, "dir") {
				s += "/"
			}
			return s
		})
		ps := parseList("test", rapid.SliceOfN(line, fewNames+1, 150).Draw(t, "lines"), false)
		narrow := newList(ps, false)
		whole := *narrow
		whole.words = 0
		for range 20 {
			name := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ".o", "*", "é", "\xff"}), 1, 4).Draw(t, "name"), "")
			for _, dir := range []bool{false, true} {
				if got, want := narrow.lastName(name, dir), whole.lastName(name, dir); got != want {
					t.Fatalf("%q: pattern %d, want %d", name, got, want)
				}
			}
		}
	})
}
