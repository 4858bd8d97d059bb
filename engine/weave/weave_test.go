package weave

import (
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/linediff"
)

// life is a text by its versions: one letter a line, and who made each but the first.
func life(t testing.TB, versions ...string) *Weave {
	t.Helper()
	w := New(letters(versions[0]))
	for i, v := range versions[1:] {
		if err := w.Add(letters(v), i+1); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func letters(s string) (out []string) {
	for _, r := range s {
		out = append(out, string(r)+"\n")
	}
	return out
}

func joined(lines []string) string { return strings.ReplaceAll(strings.Join(lines, ""), "\n", "") }

func without(w *Weave, steps ...int) Result {
	return w.Without(func(s int) bool { return slices.Contains(steps, s) }, Options{})
}

func TestWithout(t *testing.T) {
	for _, c := range []struct {
		name     string
		versions string // separated by spaces; - is an empty one
		own      []int
		want     string
		kinds    []Kind
		undo     string // with the conflicts undone
	}{
		{name: "nothing", versions: "abc abd", own: nil, want: "abd"},
		{name: "an addition", versions: "abc abxc", own: []int{1}, want: "abc", kinds: []Kind{Undone}},
		{name: "a deletion", versions: "abc ac", own: []int{1}, want: "abc", kinds: []Kind{Undone}},
		{name: "others elsewhere", versions: "abcdef abXdef abXdYf", own: []int{1}, want: "abcdYf", kinds: []Kind{Undone}},
		{name: "own steps between others'", versions: "abcdef aBcdef aBcdEf aBCdEf", own: []int{1, 3}, want: "abcdEf", kinds: []Kind{Undone}},
		{name: "built on what others did", versions: "abc aLMNc aLxNc", own: []int{2}, want: "aLMNc", kinds: []Kind{Undone}},
		{name: "beside", versions: "abcd aBcd aBXcd", own: []int{1}, want: "abXcd", kinds: []Kind{Touching}},
		{name: "before it", versions: "abcd aBcd aXBcd", own: []int{1}, want: "aXbcd", kinds: []Kind{Touching}},
		{name: "changed by others", versions: "abc aBc aXc", own: []int{1}, want: "aXc", kinds: []Kind{Overlap}, undo: "abc"},
		{name: "deleted by others", versions: "abcd aBcd acd", own: []int{1}, want: "acd", kinds: []Kind{Overlap}, undo: "abcd"},
		{name: "an addition that others deleted", versions: "abc abXc abc", own: []int{1}, want: "abc"},
		{name: "an addition that others deleted, and more", versions: "abcd abXcd abd", own: []int{1}, want: "abd"},
		{name: "written between", versions: "ab axyb axzyb", own: []int{1}, want: "axzyb", kinds: []Kind{Overlap}, undo: "ab"},
		{name: "written into the gap", versions: "abc ac azc", own: []int{1}, want: "azc", kinds: []Kind{Overlap}, undo: "abc"},
		{name: "around the gap", versions: "abxcd abcd ad", own: []int{1}, want: "ad", kinds: []Kind{Overlap}, undo: "abxcd"},
		{name: "at the gap's edge", versions: "abxcd abcd abd", own: []int{1}, want: "abxd", kinds: []Kind{Touching}},
		{name: "the ghost", versions: "ab aLb aLMb aMb", own: []int{1, 3}, want: "aMb"},
		{name: "came back by others", versions: "abc ac abc", own: []int{1}, want: "abc"},
		{name: "came back by own hand", versions: "abc aXc abc", own: []int{1, 2}, want: "abc"},
		{name: "recreated by others", versions: "abc ac Xac Xabc", own: []int{1}, want: "Xabc"},
		{name: "a restore in between", versions: "abcde abXde abcde abcdY", own: []int{1}, want: "abcdY"},
		{name: "a restore brings own lines back", versions: "abc aXbc abc aXbc", own: []int{1}, want: "abc", kinds: []Kind{Undone}},
		{name: "the restore itself", versions: "abc aXbc abc", own: []int{2}, want: "aXbc", kinds: []Kind{Undone}},
		{name: "the restore, and work after it", versions: "abcde aXcde abcde abcdY", own: []int{2}, want: "aXcdY", kinds: []Kind{Undone}},
		{name: "own restore of what another restore took", versions: "abcd abXcd abcd abXcd abXcdY", own: []int{3}, want: "abcdY", kinds: []Kind{Undone}},
		{name: "a file that came", versions: "- abc", own: []int{1}, want: "", kinds: []Kind{Undone}},
		{name: "a file that went", versions: "abc -", own: []int{1}, want: "abc", kinds: []Kind{Undone}},
		{name: "a file that went and others made again", versions: "abc - xyz", own: []int{1}, want: "xyz", kinds: []Kind{Overlap}, undo: "abc"},
		{name: "two regions, one in conflict", versions: "abcdefg aBcdefg aBcdeFg aBcdeXg", own: []int{1, 2}, want: "abcdeXg", kinds: []Kind{Undone, Overlap}, undo: "abcdefg"},
		{name: "an addition that others changed", versions: "ab aLb aMb", own: []int{1}, want: "aMb", kinds: []Kind{Overlap}, undo: "ab"},
		{name: "own work in what others added after the first own step", versions: "azqr azQr akzQr aMzQr", own: []int{1, 3}, want: "akzqr", kinds: []Kind{Undone, Undone}},
		{name: "and others beside that, further off", versions: "azqr azQr aklmnzQr aklMnzQr aKlMnzQr", own: []int{1, 3}, want: "aKlmnzqr", kinds: []Kind{Undone, Undone}},
		{name: "a later region in others' work", versions: "az aklmnoz aklMnoz aKlMnoz", own: []int{2}, want: "aKlmnoz", kinds: []Kind{Undone}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := life(t, strings.Split(strings.ReplaceAll(c.versions, "-", ""), " ")...)
			newest := w.Newest()
			r := without(w, c.own...)
			if got := joined(r.Lines); got != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
			var kinds []Kind
			for _, b := range r.Blocks {
				kinds = append(kinds, b.Kind)
			}
			if !slices.Equal(kinds, c.kinds) {
				t.Errorf("blocks %+v", r.Blocks)
			}
			if got := joined(applied(newest, r)); got != c.want {
				t.Errorf("the blocks make %q of it", got)
			}
			undone := w.Without(func(s int) bool { return slices.Contains(c.own, s) }, Options{Choose: func(Block) Choice { return Undo }})
			if c.undo == "" {
				c.undo = c.want
			}
			if got := joined(undone.Lines); got != c.undo {
				t.Errorf("with undo %q, not %q", got, c.undo)
			}
			if got := joined(applied(newest, undone)); got != c.undo {
				t.Errorf("with undo, the blocks make %q of it", got)
			}
		})
	}
}

// applied puts the blocks' lines of the result in the place of those of the newest version.
func applied(newest []string, r Result) (out []string) {
	at := 0
	for _, b := range r.Blocks {
		out = append(out, newest[at:b.Start]...)
		out = append(out, r.Lines[b.At:b.AtEnd]...)
		at = b.End
	}
	return append(out, newest[at:]...)
}

// TestAgain: own lines that were taken away and that others bring back stay where they say that it is their
// own doing; where it is not, the return counts for what it returns to.
func TestAgain(t *testing.T) {
	own := func(s int) bool { return s == 1 || s == 2 }
	for versions, want := range map[string]string{
		"abc aXbc abc aXbc":              "aXbc",
		"abc aXbc abc aXbc aXbYc":        "aXbYc",
		"abc aXbcd abcd aXbcd":           "aXbc",
		"abcdef aXbcdef abcdeYf aXbcdef": "aXbcdef",
	} {
		w := life(t, strings.Split(versions, " ")...)
		if r := w.Without(own, Options{Again: func(gone, back int) bool { return gone == 2 && back == 3 }}); joined(r.Lines) != want {
			t.Errorf("%s: %q, not %q", versions, joined(r.Lines), want)
		}
		if r := w.Without(own, Options{Again: func(gone, back int) bool { return false }}); strings.Contains(joined(r.Lines), "X") {
			t.Errorf("%s: as a return: %q", versions, joined(r.Lines))
		}
	}
}

func TestMarkers(t *testing.T) {
	w := life(t, "abc", "aBc", "aXc")
	r := w.Without(func(s int) bool { return s == 1 }, Options{
		Choose: func(Block) Choice { return Markers },
		Labels: linediff.Labels{Ours: "now", Base: "what it left", Theirs: "before"},
	})
	want := "a\n<<<<<<< now\nX\n||||||| what it left\nB\n=======\nb\n>>>>>>> before\nc\n"
	if got := strings.Join(r.Lines, ""); got != want {
		t.Errorf("%s", got)
	}
	if b := r.Blocks[0]; b.At != 1 || b.AtEnd != 8 || b.Start != 1 || b.End != 2 {
		t.Errorf("%+v", b)
	}
}

func TestLastLine(t *testing.T) {
	w := New([]string{"a\r\n", "b"})
	w.Add([]string{"a\r\n", "b\r\n", "own"}, 1)
	w.Add([]string{"a\r\n", "b\r\n", "own\r\n", "other"}, 2)
	if got := strings.Join(without(w, 1).Lines, ""); got != "a\r\nb\r\nown\r\nother" {
		t.Errorf("%q", got) // other changed the own line: a conflict
	}
	w = New([]string{"a\r\n", "b"})
	w.Add([]string{"a\r\n", "b\r\n", "own\r\n"}, 1)
	w.Add([]string{"a\r\n", "b\r\n", "own\r\n", "other"}, 2)
	if got := strings.Join(without(w, 1).Lines, ""); got != "a\r\nb\r\nother" {
		t.Errorf("%q", got)
	}
}

func TestBirth(t *testing.T) {
	w := life(t, "abc", "abXc", "abc", "abXcY", "bXcY")
	if got := w.Birth(nil); !slices.Equal(got, []int{Oldest, 3, Oldest, 3}) {
		t.Errorf("%v", got)
	}
	w = life(t, "abc", "abXc", "abc", "abXc", "bXc")
	if got := w.Birth(nil); !slices.Equal(got, []int{Oldest, 1, Oldest}) {
		t.Errorf("%v", got)
	}
}

// TestReturnsTo: of several equal versions, a return goes to the newest up to the step that it names, and lines are whose they were there.
func TestReturnsTo(t *testing.T) {
	for name, c := range map[string]struct {
		upTo  int // step; -2: not said
		birth int
	}{"not said": {-2, 3}, "the first": {2, 1}, "the second": {4, 3}, "before both": {Oldest, 3}} {
		w := life(t, "ab", "abX", "ab", "abX", "ab")
		if c.upTo != -2 {
			w.ReturnsTo(c.upTo)
		}
		if err := w.Add(letters("abX"), 5); err != nil {
			t.Fatal(err)
		}
		again := func(_, back int) bool { return back == 3 } // written by somebody, and not brought back
		if got := w.Birth(again); !slices.Equal(got, []int{Oldest, Oldest, c.birth}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
