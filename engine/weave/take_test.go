package weave

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAddWithout: what a taking out left is known line by line, also where others' lines look the same.
func TestAddWithout(t *testing.T) {
	taken := func(choice Choice, steps ...int) Taken {
		return Taken{func(s int) bool { return slices.Contains(steps, s) }, Options{Choose: func(Block) Choice { return choice }}}
	}
	for _, c := range []struct {
		name     string
		versions []string // before it
		taken    Taken
		then     []string // the version that it made, and those after it
		birth    []int
		own      []int
		want     string
		kinds    []Kind
	}{
		{"which of two equal lines went", []string{"ab", "axb", "axxb"}, taken(Keep, 1), []string{"axb"}, []int{Oldest, 2, Oldest}, []int{1, 3}, "axb", nil},
		{"the first of them was the other's", []string{"ab", "axb", "axxb"}, taken(Keep, 1), []string{"axb"}, []int{Oldest, 2, Oldest}, []int{2}, "ab", []Kind{Undone}},
		{"the second went", []string{"ab", "axb", "axxb"}, taken(Keep, 2), []string{"axb"}, []int{Oldest, 1, Oldest}, []int{1}, "ab", []Kind{Undone}},
		{"what came back is whose it was", []string{"abcdef", "abXcdef", "abcdef", "abcdYef"}, taken(Keep, 2), []string{"abXcdYef"}, []int{Oldest, Oldest, 1, Oldest, Oldest, 3, Oldest, Oldest}, []int{1}, "abcdYef", []Kind{Undone}},
		{"what went over it does not count", []string{"abcd", "aBcd", "abcd", "abcdY"}, taken(Keep, 2), []string{"aBcdY"}, []int{Oldest, 1, Oldest, Oldest, 3}, []int{1}, "abcdY", []Kind{Undone}},
		{"what came back beside what others changed", []string{"abcdefgh", "aBcdefgh", "aBcdefGh", "aBcdefGH"}, taken(Keep, 1), []string{"abcdefGH"}, []int{Oldest, Oldest, Oldest, Oldest, Oldest, Oldest, 2, 3}, []int{2}, "abcdefgH", []Kind{Touching}},
		{"written behind what went", []string{"ab", "axb", "axyb", "axyzb"}, taken(Keep, 2), []string{"axzb"}, []int{Oldest, 1, 3, Oldest}, []int{1}, "azb", []Kind{Touching}},
		{"written between behind what went", []string{"ab", "axxb", "axyxb", "axyzxb"}, taken(Keep, 2), []string{"axzxb"}, []int{Oldest, 1, 3, 1, Oldest}, []int{1}, "axzxb", []Kind{Overlap}},
		{"with a conflict that was kept", []string{"abcdefg", "aBcdeFg", "aBXcdeFg", "aYXcdeFg"}, taken(Keep, 1), []string{"aYXcdefg"}, []int{Oldest, 3, 2, Oldest, Oldest, Oldest, Oldest, Oldest}, []int{2}, "aYcdefg", []Kind{Touching}},
		{"with marks", []string{"abc", "aBc", "aXc"}, taken(Markers, 1), []string{"aXbc"}, []int{Oldest, 2, 3, Oldest}, nil, "aXbc", nil},
		{"not what it gives", []string{"ab", "axb", "axxb"}, taken(Keep, 1), []string{"axzb"}, []int{Oldest, 1, 3, Oldest}, nil, "axzb", nil},
		{"nothing of it", []string{"ab", "axb"}, taken(Keep, 7), []string{"axyb"}, []int{Oldest, 1, 2, Oldest}, nil, "axyb", nil},
		{"and the same written again", []string{"ab", "axb", "axxb"}, taken(Keep, 1), []string{"axb", "axxb"}, []int{Oldest, 1, 2, Oldest}, nil, "axxb", nil},
		{"and work after it", []string{"ab", "axb", "axxb"}, taken(Keep, 1), []string{"axb", "axyb"}, []int{Oldest, 2, 4, Oldest}, []int{2}, "ayb", []Kind{Touching}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewText(strings.Join(letters(c.versions[0]), ""))
			for i, v := range c.versions[1:] {
				if err := w.AddText(strings.Join(letters(v), ""), i+1); err != nil {
					t.Fatal(err)
				}
			}
			step := len(c.versions)
			if err := w.AddWithout(letters(c.then[0]), step, c.taken); err != nil {
				t.Fatal(err)
			}
			for i, v := range c.then[1:] {
				if err := w.AddText(strings.Join(letters(v), ""), step+1+i); err != nil {
					t.Fatal(err)
				}
			}
			if got := joined(w.Newest()); got != c.then[len(c.then)-1] {
				t.Fatalf("the newest version is %q", got)
			}
			if got := w.Birth(nil); !slices.Equal(got, c.birth) {
				t.Errorf("births %v, not %v", got, c.birth)
			}
			r := without(w, c.own...)
			var kinds []Kind
			for _, b := range r.Blocks {
				kinds = append(kinds, b.Kind)
			}
			if got := joined(r.Lines); got != c.want || !slices.Equal(kinds, c.kinds) {
				t.Errorf("without %v: %q, blocks %v", c.own, got, kinds)
			}
		})
	}
}

// TestBirthAgain: what somebody wrote again after it was taken away is theirs.
func TestBirthAgain(t *testing.T) {
	w := life(t, "abc", "abXc", "abc", "abXc")
	if got := w.Birth(func(gone, back int) bool { return gone == 2 && back == 3 }); !slices.Equal(got, []int{Oldest, Oldest, 3, Oldest}) {
		t.Errorf("%v", got)
	}
}

// TestTakenOut: a taking out counts for what it took: without another's work then, it is as if both had never been, nobody
// else's line is lost, and none comes back that should not.
func TestTakenOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawn{t}
		k := live(r, r.IntN(20), 1+r.IntN(8), 3, r.IntN(8), 0)
		other := func(s int) bool { return k.owners[s] != ownOwner && k.owners[s] == 1+ownOwner }
		both := k.weave(t).Without(func(s int) bool { return k.isOwn(s) || other(s) }, Options{})
		w := k.weave(t)
		taken := w.Without(other, Options{})
		newest := taken.Lines
		if slices.Equal(newest, k.newest()) {
			return // no version
		}
		step := len(k.versions)
		if err := w.AddWithout(newest, step, Taken{Own: other}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(w.Newest(), newest) {
			t.Fatalf("the newest is %q, not %q", w.Newest(), newest)
		}
		for i, birth := range w.Birth(nil) {
			owner := none
			if birth != Oldest {
				owner = k.owners[birth]
			}
			if owner != k.writer[newest[i]] {
				t.Fatalf("%q is said to be of step %d", newest[i], birth)
			}
		}
		result := w.Without(func(s int) bool { return s < step && k.isOwn(s) }, Options{})
		consistent(t, newest, result)
		at := 0
		for _, l := range newest {
			if k.writer[l] == ownOwner {
				continue
			}
			i := slices.Index(result.Lines[at:], l)
			if i < 0 {
				t.Fatalf("%q is lost of %q: %q", l, newest, result.Lines)
			}
			at += i + 1
		}
		conflict := inConflict(newest, result)
		for _, l := range result.Lines {
			if k.writer[l] == ownOwner && !conflict[l] {
				t.Fatalf("%q is own, and still there: %+v", l, result.Blocks)
			}
		}
		returns := slices.ContainsFunc(w.made, func(v version) bool { return v.back != none }) // they hide what lies between
		if !returns && taken.Conflicts()+result.Conflicts()+both.Conflicts() == 0 && !slices.Equal(result.Lines, both.Lines) {
			t.Fatalf("%q, not %q, of %q by %v", result.Lines, both.Lines, k.versions, k.owners)
		}
	})
}
