package linediff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// texts are such as a diff of lines may get wrong.
var texts = []string{
	"", "\n", "\n\n\n", "a", "a\n", "a\r\n", "a\r\nb\r\n", "a\nb", "a\nb\n", "\x00\x01\n\x00", "\xff\n\xfe\n", "b\na\n",
	strings.Repeat("x", 100_000), strings.Repeat("x", 100_000) + "\n", strings.Repeat("\n", 5000), "a\n" + strings.Repeat("\n", 5001),
	"{\n\tx\n}\n\n{\n\ty\n}\n", "{\n\tx\n}\n\n{\n\tz\n}\n\n{\n\ty\n}\n",
}

func check(t interface{ Fatalf(string, ...any) }, a, b string, o Options) []Change {
	x, y := Lines(a), Lines(b)
	if strings.Join(x, "") != a || strings.Join(y, "") != b {
		t.Fatalf("the lines joined are not the text")
	}
	changes := Diff(x, y, o)
	same := func(l, m string) bool {
		if o.IgnoreSpace {
			return withoutSpace(l) == withoutSpace(m)
		}
		return l == m
	}
	atA, atB := 0, 0
	for i, c := range append(slices.Clone(changes), Change{len(x), len(x), len(y), len(y)}) {
		if c.A > c.AEnd || c.B > c.BEnd || i < len(changes) && c.A == c.AEnd && c.B == c.BEnd {
			t.Fatalf("change %+v of %+v", c, changes)
		}
		if c.A-atA != c.B-atB || c.A < atA || i > 0 && i < len(changes) && c.A == atA {
			t.Fatalf("between %+v: %d lines and %d", changes, c.A-atA, c.B-atB)
		}
		for k := range c.A - atA {
			if !same(x[atA+k], y[atB+k]) {
				t.Fatalf("%q and %q stand for each other", x[atA+k], y[atB+k])
			}
		}
		atA, atB = c.AEnd, c.BEnd
	}
	if !o.IgnoreSpace {
		if got := Apply(x, y, changes); got != b {
			t.Fatalf("applied: %.200q, not %.200q", got, b)
		}
		if got := Apply(x, y, nil); got != a {
			t.Fatalf("nothing applied: %.200q", got)
		}
	}
	if (len(changes) == 0) != (len(x) == len(y) && slices.EqualFunc(x, y, same)) {
		t.Fatalf("%+v between %.200q and %.200q", changes, a, b)
	}
	for _, context := range []int{0, 1, 3, 1 << 20} {
		checkHunks(t, x, y, changes, context)
	}
	return changes
}

func checkHunks(t interface{ Fatalf(string, ...any) }, x, y []string, changes []Change, context int) {
	var again []Change
	end := -1
	for _, h := range Hunks(changes, context, len(x)) {
		if h.A <= end && end > 0 && context > 0 {
			t.Fatalf("hunks overlap or touch: %+v", h)
		}
		end = h.AEnd
		first, last := h.Changes[0], h.Changes[len(h.Changes)-1]
		if h.A < 0 || h.AEnd > len(x) || h.B < 0 || h.BEnd > len(y) || first.A-h.A != first.B-h.B || h.AEnd-last.AEnd != h.BEnd-last.BEnd || first.A-h.A > context {
			t.Fatalf("hunk %+v with %d lines around", h, context)
		}
		again = append(again, h.Changes...)
	}
	if !slices.Equal(again, changes) {
		t.Fatalf("the hunks have other changes")
	}
}

func TestHostile(t *testing.T) {
	for _, a := range texts {
		for _, b := range texts {
			check(t, a, b, Options{})
			check(t, a, b, Options{IgnoreSpace: true})
		}
	}
}

// drawText gives texts of few distinct lines, so that many are the same, some indented.
func drawText(t *rapid.T, name string) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "}", "\t}", "\tx", "", "  ", "c\r", "\x00", "\xff", "d", "e", "f"}), 0, 40).Draw(t, name)
	text := strings.Join(lines, "\n")
	if rapid.Bool().Draw(t, name+" ends") && text != "" {
		text += "\n"
	}
	return text
}

func TestAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawText(t, "a"), drawText(t, "b")
		check(t, a, b, Options{})
		check(t, a, b, Options{IgnoreSpace: true})
		all := Diff(Lines(a), Lines(b), Options{})
		var some, rest []Change
		moved := 0 // how far what is done already moves what is left
		for _, c := range all {
			if rapid.Bool().Draw(t, "chosen") {
				some = append(some, c)
				moved += (c.BEnd - c.B) - (c.AEnd - c.A)
				continue
			}
			rest = append(rest, Change{c.A + moved, c.AEnd + moved, c.B, c.BEnd})
		}
		mixed := Apply(Lines(a), Lines(b), some)
		if got := Apply(Lines(mixed), Lines(b), rest); got != b {
			t.Fatalf("some of the changes and then the others give %q, not %q", got, b)
		}
	})
}

func TestSlides(t *testing.T) {
	a := "func a() {\n\tone()\n}\n\nfunc c() {\n\tthree()\n}\n"
	b := "func a() {\n\tone()\n}\n\nfunc b() {\n\ttwo()\n}\n\nfunc c() {\n\tthree()\n}\n"
	if got := check(t, a, b, Options{}); len(got) != 1 || got[0] != (Change{4, 4, 4, 8}) {
		t.Errorf("the function is cut at %+v", got)
	}
	if got := check(t, b, a, Options{}); len(got) != 1 || got[0] != (Change{4, 8, 4, 4}) {
		t.Errorf("the other way round at %+v", got)
	}
}

func TestIgnoreSpace(t *testing.T) {
	a, b := "if x {\ny\n}\n\xff\n", "if x  {\r\n\ty\n}\n\xfe\n"
	if got := check(t, a, b, Options{IgnoreSpace: true}); len(got) != 1 || got[0] != (Change{3, 4, 3, 4}) {
		t.Errorf("%+v", got)
	}
}

func TestWords(t *testing.T) {
	old := []string{"\treturn compute(a, b)\n", "nothing like it\n"}
	new := []string{"\tvar z\n", "\treturn compute(a, c), nil\n"}
	got := Words(old, new)
	if len(got) != 1 || got[0].Old != 0 || got[0].New != 1 {
		t.Fatalf("%+v", got)
	}
	cut := func(line string, spans []Span) (out []string) {
		for _, s := range spans {
			out = append(out, line[s.Start:s.End])
		}
		return out
	}
	if o, n := cut(old[0], got[0].OldSpans), cut(new[1], got[0].NewSpans); !slices.Equal(o, []string{"b"}) || strings.Join(n, "") != "c, nil" {
		t.Errorf("%q, %q", o, n)
	}
}

func TestWordsAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "old")
		new := rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "new")
		i, j := -1, -1
		for _, p := range Words(old, new) {
			if p.Old <= i || p.New <= j {
				t.Fatalf("not in order")
			}
			i, j = p.Old, p.New
			var o, n string
			rest := func(line string, spans []Span) string {
				at, out := 0, ""
				for _, s := range spans {
					out += line[at:s.Start]
					at = s.End
				}
				return strings.TrimRight(out+line[at:], "\r\n")
			}
			if o, n = rest(old[i], p.OldSpans), rest(new[j], p.NewSpans); o != n {
				t.Fatalf("what is left differs: %q, %q", o, n)
			}
		}
	})
}

func BenchmarkDiff(b *testing.B) {
	var repetitive, rewritten, other strings.Builder
	for i := 0; repetitive.Len() < 8<<20; i++ {
		fmt.Fprintf(&repetitive, "\tline %d\n", i%7*i%5)
	}
	for i := range 10_000 {
		fmt.Fprintf(&rewritten, "old %d\n", i)
		fmt.Fprintf(&other, "new %d\n", i)
	}
	moved := repetitive.String()
	moved = moved[len(moved)/3:] + "end\n" + moved[:len(moved)/2]
	for _, c := range []struct{ name, a, b string }{
		{"8MiB-repetitive", repetitive.String(), moved},
		{"10000-rewritten", rewritten.String(), other.String()},
		{"10000-five-edits", rewritten.String(), strings.NewReplacer("old 17\n", "x\n", "old 5000\n", "y\nz\n", "old 9999\n", "").Replace(rewritten.String())},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				Diff(Lines(c.a), Lines(c.b), Options{})
			}
		})
	}
}
