package weave

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/engine/linediff"
)

// random is what a life is made of: numbers from 0 to n, n not among them.
type random interface{ IntN(n int) int }

type drawn struct{ t *rapid.T }

func (d drawn) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "n") }

// known is a text whose owners are known: each line that is ever written is another one.
type known struct {
	versions [][]string
	owners   []int          // of each version, the oldest's is none
	writer   map[string]int // of each line
	taker    map[string]int // of each line that was taken away, the last who did
	backs    int
}

const ownOwner = 0

// live lets owners edit a text of size lines, steps times. reach is how far from each other the
// edits are at most; 0 for anywhere. back says how many of ten steps go back to an earlier version.
func live(r random, size, steps, owners, reach, back int) *known {
	k := &known{writer: map[string]int{}, taker: map[string]int{}}
	var text []string
	write := func(n, owner int) (out []string) {
		for range n {
			l := fmt.Sprintf("line %d of %d\n", len(k.writer), owner)
			k.writer[l] = owner
			out = append(out, l)
		}
		return out
	}
	text = write(size, none)
	k.versions, k.owners = [][]string{text}, []int{none}
	for range steps {
		owner := r.IntN(owners)
		was := text
		if len(k.versions) > 2 && r.IntN(10) < back {
			text = k.versions[r.IntN(len(k.versions)-1)]
			k.backs++
		} else {
			text = slices.Clone(text)
			for range 1 + r.IntN(3) {
				at := r.IntN(len(text) + 1)
				if reach > 0 {
					at = min(len(text), size/2+r.IntN(reach))
				}
				deleted, added := r.IntN(4), r.IntN(4)
				text = slices.Replace(text, at, min(len(text), at+deleted), write(added, owner)...)
			}
		}
		for _, l := range was {
			if !slices.Contains(text, l) {
				k.taker[l] = owner
			}
		}
		k.versions, k.owners = append(k.versions, text), append(k.owners, owner)
	}
	return k
}

func (k *known) weave(t interface{ Fatalf(string, ...any) }) *Weave {
	w := New(k.versions[0])
	for i, v := range k.versions[1:] {
		if err := w.Add(v, i+1); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return w
}

func (k *known) newest() []string { return k.versions[len(k.versions)-1] }

func (k *known) isOwn(step int) bool { return k.owners[step] == ownOwner }

// ghosts counts the lines of a text that are not in the newest version and that no own step took away, or
// that own steps wrote.
func (k *known) ghosts(lines []string) (n int) {
	for _, l := range lines {
		if !slices.Contains(k.newest(), l) && (k.writer[l] == ownOwner || k.taker[l] != ownOwner) {
			n++
		}
	}
	return n
}

// consistent checks that blocks tell what the result is.
func consistent(t interface{ Fatalf(string, ...any) }, newest []string, r Result) {
	if got := applied(newest, r); !slices.Equal(got, r.Lines) {
		t.Fatalf("the blocks make %q of %q, not %q: %+v", got, newest, r.Lines, r.Blocks)
	}
	for i, b := range r.Blocks {
		if b.Index != i || b.Start > b.End || b.At > b.AtEnd || len(b.Own) == 0 {
			t.Fatalf("block %+v", b)
		}
		if i > 0 && (b.Start < r.Blocks[i-1].End || b.At < r.Blocks[i-1].AtEnd) {
			t.Fatalf("blocks overlap: %+v", r.Blocks)
		}
		if b.Kind != Undone && len(b.Foreign) == 0 {
			t.Fatalf("nobody else at %+v", b)
		}
		if b.Choice == Markers {
			continue
		}
		was, is := newest[b.Start:b.End], r.Lines[b.At:b.AtEnd]
		for _, l := range b.Removed {
			if !slices.Contains(was, l) {
				t.Fatalf("%q is removed, but was not there: %+v", l, b)
			}
		}
		for _, l := range b.Restored {
			if !slices.Contains(is, l) {
				t.Fatalf("%q is restored, but is not there: %+v", l, b)
			}
		}
		if len(was)-len(b.Removed)+len(b.Restored) != len(is) {
			t.Fatalf("the lines do not add up: %+v", b)
		}
	}
}

// inConflict gives the lines of the result, or of the newest version, that are in blocks of conflicts.
func inConflict(newest []string, r Result) map[string]bool {
	out := map[string]bool{}
	for _, b := range r.Blocks {
		if b.Kind.Conflict() {
			for _, l := range slices.Concat(newest[b.Start:b.End], r.Lines[b.At:b.AtEnd]) {
				out[l] = true
			}
		}
	}
	return out
}

// TestLives: whatever people do to a text, nobody's line is lost, none comes back that should not, and every own line
// goes, but for conflicts.
func TestLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawn{t}
		k := live(r, r.IntN(20), 1+r.IntN(10), 2+r.IntN(2), r.IntN(8), 0)
		w := k.weave(t)
		newest := k.newest()
		if got := w.Newest(); !slices.Equal(got, newest) {
			t.Fatalf("the newest is %q, not %q", got, newest)
		}
		for i, step := range w.Birth(nil) {
			owner := none
			if step != Oldest {
				owner = k.owners[step]
			}
			if owner != k.writer[newest[i]] {
				t.Fatalf("%q is said to be of step %d", newest[i], step)
			}
		}
		result := w.Without(k.isOwn, Options{})
		consistent(t, newest, result)
		conflict := inConflict(newest, result)
		at := 0 // what others wrote is there, in order
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
		if n := k.ghosts(result.Lines); n > 0 {
			t.Fatalf("%d ghosts in %q", n, result.Lines)
		}
		for _, l := range result.Lines {
			if k.writer[l] == ownOwner && !conflict[l] {
				t.Fatalf("%q is own, and still there: %+v", l, result.Blocks)
			}
		}

		choices := map[int]Choice{}
		for i := range result.Blocks {
			choices[i] = Choice(r.IntN(2))
		}
		some := w.Without(k.isOwn, Options{Choose: func(b Block) Choice { return choices[b.Index] }})
		consistent(t, newest, some)
		for _, b := range some.Blocks {
			if o := result.Blocks[b.Index]; o.Start != b.Start || o.End != b.End || o.Kind != b.Kind {
				t.Fatalf("a choice moved block %+v: %+v", o, b)
			}
			if b.Choice != choices[b.Index] && b.Kind.Conflict() {
				t.Fatalf("the choice of %+v", b)
			}
			if b.Choice == Undo && !slices.Equal(some.Lines[b.At:b.AtEnd], b.Before) {
				t.Fatalf("undone is not as before: %+v", b)
			}
		}
		marked := w.Without(k.isOwn, Options{Choose: func(Block) Choice { return Markers }})
		consistent(t, newest, marked)
	})
}

// TestAll: without everything it is the oldest version, without nothing the newest, whoever went back to what; and
// the last step alone gives what was before it.
func TestAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawn{t}
		k := live(r, r.IntN(20), 1+r.IntN(12), 3, r.IntN(8), 3)
		if r.IntN(2) == 0 { // lines that are twins
			for i, v := range k.versions {
				k.versions[i] = slices.Clone(v)
				for j, l := range v {
					k.versions[i][j] = fmt.Sprint(len(l)%3*k.writer[l], "\n")
				}
			}
		}
		w := k.weave(t)
		for _, c := range []struct {
			name string
			own  func(int) bool
			want []string
		}{
			{"everything", func(int) bool { return true }, k.versions[0]},
			{"nothing", func(int) bool { return false }, k.newest()},
			{"the last step", func(s int) bool { return s == len(k.versions)-1 }, k.versions[len(k.versions)-2]},
			{"the last three", func(s int) bool { return s > len(k.versions)-4 }, k.versions[max(0, len(k.versions)-4)]},
		} {
			got := w.Without(c.own, Options{})
			if !slices.Equal(got.Lines, c.want) || got.Conflicts() > 0 {
				t.Fatalf("without %s: %q, not %q; %+v", c.name, got.Lines, c.want, got.Blocks)
			}
		}
		result := w.Without(k.isOwn, Options{})
		consistent(t, k.newest(), result)
		if err := w.Add(result.Lines, 99); err != nil {
			t.Fatal(err)
		}
		if got := w.Without(func(s int) bool { return s == 99 }, Options{}); !slices.Equal(got.Lines, k.newest()) || got.Conflicts() > 0 {
			t.Fatalf("the revert taken back is %q, not %q", got.Lines, k.newest())
		}
	})
}

// TestZones: who works in parts of the text that nobody else touches is taken out of them exactly, and without
// a question.
func TestZones(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawn{t}
		owners := 2 + r.IntN(3)
		type zone struct {
			owner       int
			first, text []string
		}
		var zones []zone
		n := 0
		write := func(count int) (out []string) {
			for range count {
				n++
				line := fmt.Sprint("line ", n, "\n")
				if r.IntN(4) == 0 {
					line = "}\n"
				}
				out = append(out, line)
			}
			return out
		}
		for i := range 2 + r.IntN(8) {
			first := append([]string{fmt.Sprint("guard ", i, "\n")}, write(r.IntN(5))...)
			zones = append(zones, zone{r.IntN(owners), first, first})
		}
		whole := func() (out []string) {
			for _, z := range zones {
				out = append(out, z.text...)
			}
			return out
		}
		w := New(whole())
		var by []int
		for range 1 + r.IntN(14) {
			z := &zones[r.IntN(len(zones))]
			at := 1 + r.IntN(len(z.text))
			z.text = slices.Replace(slices.Clone(z.text), at, min(len(z.text), at+r.IntN(3)), write(r.IntN(3))...)
			by = append(by, z.owner)
			if err := w.Add(whole(), len(by)-1); err != nil {
				t.Fatal(err)
			}
		}
		got := w.Without(func(s int) bool { return by[s] == ownOwner }, Options{})
		var want []string
		for _, z := range zones {
			if z.owner == ownOwner {
				want = append(want, z.first...)
			} else {
				want = append(want, z.text...)
			}
		}
		if !slices.Equal(got.Lines, want) || got.Conflicts() > 0 {
			t.Fatalf("%q, not %q; %+v", got.Lines, want, got.Blocks)
		}
	})
}

// TestChains counts how often others' work leaves nothing to ask about, beside what takes the own steps back one after
// the other, newest first, each as a merge, and leaves out what is in conflict. -v prints the table.
func TestChains(t *testing.T) {
	chains := 2800
	if testing.Short() {
		chains = 200
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, kind := range []struct {
		name        string
		size, reach int
	}{{"spread", 60, 0}, {"local", 40, 12}} {
		var weave, reverse, weaveGhosts, reverseGhosts, lost, ownLeft, reverseLeft, ownLines int
		for range chains {
			k := live(r, kind.size, 3+r.IntN(12), 3, kind.reach, 0)
			k.owners[1+r.IntN(len(k.owners)-1)] = ownOwner // there is something to take out
			k.again()
			result := k.weave(t).Without(k.isOwn, Options{})
			consistent(t, k.newest(), result)
			if result.Conflicts() == 0 {
				weave++
			}
			if k.ghosts(result.Lines) > 0 {
				weaveGhosts++
			}
			for _, l := range k.newest() {
				if k.writer[l] != ownOwner && !slices.Contains(result.Lines, l) {
					lost++
				}
			}
			text, whole := k.reverse()
			if whole {
				reverse++
			}
			if k.ghosts(text) > 0 {
				reverseGhosts++
			}
			of := func(lines []string) (n int) {
				for _, l := range lines {
					if k.writer[l] == ownOwner {
						n++
					}
				}
				return n
			}
			ownLines += of(k.newest())
			ownLeft += of(result.Lines)
			reverseLeft += of(text)
		}
		per := func(n int) int { return (1000*n + chains/2) / chains }
		t.Logf("%s, of 1,000 chains: wholly undone %d by the weave and %d by reverse merges; with ghosts %d and %d; own lines that stay %.0f %% and %.0f %%; lines of others lost %d",
			kind.name, per(weave), per(reverse), per(weaveGhosts), per(reverseGhosts),
			100*float64(ownLeft)/float64(ownLines), 100*float64(reverseLeft)/float64(ownLines), lost)
		if weaveGhosts > 0 || lost > 0 {
			t.Errorf("%d ghosts, %d lines lost", weaveGhosts, lost)
		}
		if weave <= reverse || reverseGhosts == 0 {
			t.Error("these chains show nothing")
		}
	}
}

// again gives lines and deaths to the owners that the versions have now.
func (k *known) again() {
	for i, v := range k.versions[1:] {
		for _, l := range v {
			if !slices.Contains(k.versions[i], l) {
				k.writer[l] = k.owners[i+1]
			}
		}
		for _, l := range k.versions[i] {
			if !slices.Contains(v, l) {
				k.taker[l] = k.owners[i+1]
			}
		}
	}
}

// reverse takes own steps back one after the other; whole is false if something was in conflict and stayed.
func (k *known) reverse() (text []string, whole bool) {
	var table linediff.Table
	named := func(lines []string) (out []int32) {
		for _, l := range lines {
			out = append(out, table.Name(l))
		}
		return out
	}
	text, whole = k.newest(), true
	for i := len(k.versions) - 1; i > 0; i-- {
		if k.owners[i] == ownOwner {
			parts := table.Merge(named(k.versions[i]), named(text), named(k.versions[i-1]))
			whole = whole && linediff.Clean(parts)
			text = linediff.Merged(parts, text, k.versions[i-1])
		}
	}
	return text, whole
}

// TestGhost: own step 1 writes a line, step 2 of others writes beside it, own step 3 takes the first away. Reverse
// merges that leave out what is in conflict bring it back.
func TestGhost(t *testing.T) {
	k := &known{versions: [][]string{letters("ab"), letters("aLb"), letters("aLMb"), letters("aMb")}, owners: []int{none, ownOwner, 1, ownOwner},
		writer: map[string]int{}, taker: map[string]int{}}
	k.again()
	if text, _ := k.reverse(); joined(text) != "aLMb" {
		t.Errorf("reverse merges give %q: this is no counterexample", text)
	}
	if got := joined(k.weave(t).Without(k.isOwn, Options{}).Lines); got != "aMb" {
		t.Errorf("%q", got)
	}
}
