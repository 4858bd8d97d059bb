package search

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func matched(t *testing.T, q Query, text string) []string {
	t.Helper()
	m, err := Compile(q)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	var scratch []byte
	m.lines([]byte(text), &scratch, func(from, to, start, end int) bool {
		if start < 0 || end < start || from+end > to {
			t.Errorf("%+v: match %d:%d of a line of %d bytes", q, start, end, to-from)
		}
		out = append(out, text[from:to])
		return true
	})
	return out
}

// TestLiterals: what the pre-filter looks for is in everything that the pattern matches.
func TestLiterals(t *testing.T) {
	for pattern, want := range map[string]string{
		"sprintf": "sprintf", "(?i)sprintf": "fold sprintf", "a(b|c)def": "def", "foo|bar": "bar,foo", "x*": "", "ab+c": "a", "(abc){2}": "abc", "(abc)*": "",
		"": "", "(?i)grün": "", "grün": "grün", ".*needle.*": "needle", "a.|b": "a,b", "f(oo|u)bar$": "bar", "\uFFFD": "", "[0-9]+ms": "ms",
	} {
		m, err := Compile(Query{Patterns: []string{pattern}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range m.literals {
			got = append(got, string(l))
		}
		slices.Sort(got)
		text := strings.Join(got, ",")
		if m.fold && got != nil {
			text = "fold " + text
		}
		if text != want {
			t.Errorf("%q: literals %q, want %q", pattern, text, want)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		q    Query
		text string
		want string
	}{
		{Query{Patterns: []string{"b"}}, "abc\nxyz\nb", "abc|b"},
		{Query{Patterns: []string{"c$"}}, "abc\r\nc\n", "abc|c"},
		{Query{Patterns: []string{"^b"}}, "ab\nba\n", "ba"},
		{Query{Patterns: []string{""}}, "a\n\nb", "a||b"},
		{Query{Patterns: []string{"a.b"}, Fixed: true}, "axb\na.b\n", "a.b"},
		{Query{Patterns: []string{"a.b"}, Fixed: true, IgnoreCase: true}, "axb\nA.B\n", "A.B"},
		{Query{Patterns: []string{"ab"}, Word: true}, "abc\nx ab y\n", "x ab y"},
		{Query{Patterns: []string{"ask"}, IgnoreCase: true}, "a\u017F\u212A\nASK\nas\n", "a\u017F\u212A|ASK"},
		{Query{Patterns: []string{"\xff"}, Fixed: true}, "a\xffb\nab\n", "a\xffb"},
		{Query{Patterns: []string{"x", "(?i)y"}}, "X\nY\nx", "Y|x"},
		{Query{Patterns: []string{"\r"}, Fixed: true}, "a\r\nb\rc\n", "b\rc"},
		{Query{Patterns: []string{`a\s*b`}}, "a\nb\na b\n", "a b"},
		{Query{Patterns: []string{"line"}}, strings.Repeat("line\n", 3), "line|line|line"},
	} {
		if got := strings.Join(matched(t, c.q, c.text), "|"); got != c.want {
			t.Errorf("%+v in %q: %q, want %q", c.q, c.text, got, c.want)
		}
	}
	for _, p := range []string{"(", "a\nb", "[z-a]", "a{2000}", "\xff"} {
		if _, err := Compile(Query{Patterns: []string{p}}); err == nil || !strings.Contains(err.Error(), "is not a pattern: ") {
			t.Errorf("%q: %v", p, err)
		}
	}
}

// TestAgainstRegexp: with its pre-filter the matcher finds what the regular expression alone finds, line by line.
func TestAgainstRegexp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "ab", "K", "s", "\u017F", "é", ".", "[ab]", "(a|b)", "x*", "b+", "^", "$", "(ab){2}", "\\b", "(?i:k)", "(a|)", "É", "c?"}
	letters := []string{"a", "b", "A", "B", "k", "K", "\u212A", "s", "\u017F", "é", "É", "x", "\n", "\n", "\r\n", " ", "\xff"}
	for range 3000 {
		var pattern, text string
		for range 1 + r.IntN(4) {
			pattern += pieces[r.IntN(len(pieces))]
		}
		if r.IntN(4) == 0 {
			pattern += "|" + pieces[r.IntN(len(pieces))]
		}
		for range r.IntN(40) {
			text += letters[r.IntN(len(letters))]
		}
		q := Query{Patterns: []string{pattern}, IgnoreCase: r.IntN(2) == 0}
		plain := pattern
		if q.IgnoreCase {
			plain = "(?i)" + pattern
		}
		re, err := regexp.Compile(plain)
		if err != nil {
			continue
		}
		want := []string{}
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			if re.MatchString(line) {
				want = append(want, line)
			}
		}
		if got := matched(t, q, text); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q (fold %v) in %q: %q, want %q", pattern, q.IgnoreCase, text, got, want)
		}
	}
}

// TestSearchedAgain: what a scanner has searched before changes nothing of what it finds, for texts that have much, little
// or nothing in common with that.
func TestSearchedAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	m, err := Compile(Query{Patterns: []string{"[ab]c?$|^[xy]"}})
	if err != nil || m.literals != nil {
		t.Fatal(err, m.literals)
	}
	lines := []string{"a", "ac", "x", "x a", "d", "", "yc\r", "ca", strings.Repeat("d", 70), strings.Repeat("d", 70) + "b"}
	s := &scanner{m: m}
	text, reused := "", 0
	for range 5000 {
		all := strings.SplitAfter(text, "\n")
		for range 1 + r.IntN(2) {
			at := r.IntN(len(all) + 1)
			line := lines[r.IntN(len(lines))]
			if r.IntN(8) > 0 {
				line += "\n"
			}
			all = slices.Concat(all[:at], []string{line}, all[min(len(all), at+r.IntN(3)):])
		}
		if r.IntN(50) == 0 {
			all = nil
		}
		text = strings.Join(all, "")
		head, tail := alike(s.before.text, []byte(text))
		reused += head + tail
		var got, want []place
		s.lines([]byte(text), func(from, to, start, end int) bool { got = append(got, place{from, to, start, end}); return true })
		(&scanner{m: m}).lines([]byte(text), func(from, to, start, end int) bool { want = append(want, place{from, to, start, end}); return true })
		if !slices.Equal(got, want) {
			t.Fatalf("in %q: %v, want %v", text, got, want)
		}
		if r.IntN(20) == 0 { // the visitor had enough
			s.lines([]byte(text), func(_, _, _, _ int) bool { return false })
		}
	}
	if reused == 0 {
		t.Error("no text had anything in common with the one before")
	}
}
