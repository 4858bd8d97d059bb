package linediff

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// merged is the text of a merge, and whether it is clean.
func merged(base, ours, theirs string) (string, bool) {
	o, t := Lines(ours), Lines(theirs)
	parts := Merge(Lines(base), o, t)
	return strings.Join(Merged(parts, o, t), ""), Clean(parts)
}

// Merge merges texts that no table has named.
func Merge(base, ours, theirs []string) []Part {
	return merge(Diff(base, ours, Options{}), Diff(base, theirs, Options{}), len(base), ours, theirs)
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ name, base, ours, theirs, want string }{ // no want: a conflict
		{"nothing", "a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n"},
		{"ours", "a\nb\n", "a\nx\n", "a\nb\n", "a\nx\n"},
		{"theirs", "a\nb\n", "a\nb\n", "a\nx\n", "a\nx\n"},
		{"both alike", "a\nb\nc\n", "a\nx\nc\n", "a\nx\nc\n", "a\nx\nc\n"},
		{"apart", "a\nb\nc\n", "x\nb\nc\n", "a\nb\ny\n", "x\nb\ny\n"},
		{"touching", "a\nb\nc\nd\n", "a\nX\nc\nd\n", "a\nb\nY\nd\n", ""},
		{"an addition touching a change", "a\nb\nc\n", "a\nb\nx\nc\n", "a\nY\nc\n", ""},
		{"two additions at one place", "a\nb\n", "a\nx\nb\n", "a\ny\nb\n", ""},
		{"changed and deleted", "a\nb\nc\n", "a\nc\n", "a\nX\nc\n", ""},
		{"line ends stay", "a\r\nb\r\nc\r\n", "x\r\nb\r\nc\r\n", "a\r\nb\r\ny", "x\r\nb\r\ny"},
		{"no last line feed", "a\nb\nc", "x\nb\nc", "a\nb\nc", "x\nb\nc"},
		{"a last line feed that comes", "a\nb\nc", "x\nb\nc", "a\nb\nc\n", "x\nb\nc\n"},
		{"from nothing", "", "a\n", "", "a\n"},
		{"from nothing, alike", "", "a\n", "a\n", "a\n"},
		{"from nothing, differently", "", "a\n", "b\n", ""},
		{"to nothing", "a\n", "", "a\n", ""},
	} {
		got, clean := merged(c.base, c.ours, c.theirs)
		if conflict := c.want == "" && c.name != "to nothing"; clean == conflict || clean && got != c.want {
			t.Errorf("%s: %q, clean %v", c.name, got, clean)
		}
	}
}

// The parts cover all three texts in order, say truly where they come from, and the sides can be exchanged.
func TestMergeAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := Lines(drawText(t, "base"))
		ours, theirs := Lines(drawText(t, "ours")), Lines(drawText(t, "theirs"))
		if rapid.Bool().Draw(t, "near") { // else two texts have little to do with each other
			ours, theirs = edited(t, base), edited(t, base)
		}
		parts := checkMerge(t, base, ours, theirs)
		back := Merge(base, theirs, ours)
		if Clean(parts) != Clean(back) || Clean(parts) && !slices.Equal(Merged(parts, ours, theirs), Merged(back, theirs, ours)) {
			t.Fatalf("with the sides exchanged: %+v, %+v", parts, back)
		}
		if got := Merge(base, base, theirs); !Clean(got) || !slices.Equal(Merged(got, base, theirs), theirs) {
			t.Fatalf("one side alone: %+v", got)
		}
		var table Table
		named := func(lines []string) (out []int32) {
			for _, l := range lines {
				out = append(out, table.Name(l))
			}
			return out
		}
		if got := table.Merge(named(base), named(ours), named(theirs)); !slices.Equal(got, parts) {
			t.Fatalf("by numbers %+v, not %+v", got, parts)
		}
	})
}

func checkMerge(t interface{ Fatalf(string, ...any) }, base, ours, theirs []string) []Part {
	parts := Merge(base, ours, theirs)
	at := Part{}
	for i, p := range parts {
		if p.Base != at.BaseEnd || p.Ours != at.OursEnd || p.Theirs != at.TheirsEnd {
			t.Fatalf("part %d of %+v begins elsewhere", i, parts)
		}
		at = p
		b, o, r := base[p.Base:p.BaseEnd], ours[p.Ours:p.OursEnd], theirs[p.Theirs:p.TheirsEnd]
		fine := map[Origin]bool{
			Unchanged: slices.Equal(b, o) && slices.Equal(b, r),
			Ours:      slices.Equal(b, r) && !slices.Equal(b, o),
			Theirs:    slices.Equal(b, o) && !slices.Equal(b, r),
			Both:      slices.Equal(o, r),
			Conflict:  !slices.Equal(o, r),
		}
		if !fine[p.Origin] {
			t.Fatalf("part %+v: %q, %q, %q", p, b, o, r)
		}
	}
	if at.BaseEnd != len(base) || at.OursEnd != len(ours) || at.TheirsEnd != len(theirs) {
		t.Fatalf("%+v end too early", parts)
	}
	return parts
}

// edited changes a few lines.
func edited(t *rapid.T, lines []string) []string {
	out := slices.Clone(lines)
	for range rapid.IntRange(0, 4).Draw(t, "edits") {
		at := rapid.IntRange(0, len(out)).Draw(t, "at")
		end := min(len(out), at+rapid.IntRange(0, 2).Draw(t, "deleted"))
		var in []string
		for range rapid.IntRange(0, 2).Draw(t, "added") {
			in = append(in, rapid.SampledFrom([]string{"a\n", "}\n", "new\n", "x\n"}).Draw(t, "line"))
		}
		out = slices.Replace(out, at, end, in...)
	}
	return Lines(strings.Join(out, ""))
}

func TestMarkersEndAsLinesDo(t *testing.T) {
	got := strings.Join(Markers([]string{"a\r\n"}, nil, []string{"b"}, Labels{Ours: "now"}), "")
	if want := "<<<<<<< now\r\na\r\n|||||||\r\n=======\r\nb\r\n>>>>>>>\r\n"; got != want {
		t.Errorf("%q", got)
	}
	got = strings.Join(Markers(nil, []string{"b"}, nil, Labels{}), "")
	if want := "<<<<<<<\n|||||||\nb\n=======\n>>>>>>>\n"; got != want {
		t.Errorf("%q", got)
	}
}
