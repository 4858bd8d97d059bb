package weave

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/linediff"
)

// TestHostile: texts that are no sources are taken apart and put together as well.
func TestHostile(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name     string
		versions []string
	}{
		{"empty versions", []string{"", "", "a\n", "", "a\n", "\n", ""}},
		{"no line feeds", []string{"a", "b", "", "a", "ab"}},
		{"long lines", []string{long + "\n" + long, long + "y\n" + long, long, long + "\n" + long + "z\n"}},
		{"NULs and no UTF-8", []string{"\x00\n\xff", "\x00\n\xfe\n", "\x00\xff\n", "\x00"}},
		{"all the same lines", []string{strings.Repeat("\n", 3000), strings.Repeat("\n", 2999), strings.Repeat("\n", 4000), strings.Repeat("\n", 10)}},
		{"line ends", []string{"a\nb\nc\n", "a\r\nb\r\nc\r\n", "a\rb\rc\r", "a\nb\r\nc"}},
		{"marks of a conflict", []string{"a\n<<<<<<< x\n=======\n>>>>>>> y\n", "a\n<<<<<<< x\nb\n=======\n>>>>>>> y\n", "<<<<<<< x\n|||||||\nb\n"}},
	} {
		w := New(linediff.Lines(c.versions[0]))
		for i, v := range c.versions[1:] {
			if err := w.Add(linediff.Lines(v), i); err != nil {
				t.Fatal(c.name, err)
			}
			if got := strings.Join(w.Newest(), ""); got != v {
				t.Fatalf("%s: the newest is another", c.name)
			}
		}
		steps := len(c.versions) - 1
		for mask := range 1 << steps {
			own := func(s int) bool { return mask>>s&1 == 1 }
			r := w.Without(own, Options{})
			consistent(t, w.Newest(), r)
			if got := strings.Join(r.Lines, ""); mask == 1<<steps-1 && got != c.versions[0] || mask == 0 && got != c.versions[steps] {
				t.Errorf("%s, without %b: %.100q", c.name, mask, got)
			}
			w.Without(own, Options{Choose: func(Block) Choice { return Markers }})
			w.Without(own, Options{Choose: func(Block) Choice { return Undo }})
		}
	}
}

// TestTooLarge: 100,000 lines of which each version has others, 500 times. The weave says when it is full, takes
// no more memory than it says, and stands as it was.
func TestTooLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("two million lines")
	}
	const lines, versions = 100_000, 500
	text := func(v int) []string {
		out := make([]string, lines)
		for i := range out {
			out[i] = fmt.Sprint("a line ", i, " of version ", v, "\n")
		}
		return out
	}
	w := New(text(0))
	full := 0
	for v := 1; v < versions; v++ {
		if err := w.Add(text(v), v); errors.Is(err, errTooLarge) {
			full = v
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if full == 0 {
		t.Fatal("it took all")
	}
	if got := w.Newest(); !slices.Equal(got, text(full-1)) {
		t.Error("the version that was too much is in it, or the last before is not")
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 1<<30 {
		t.Errorf("%d MB are in use", m.HeapAlloc>>20)
	}
	t.Logf("%d versions, %d lines, %d MB", full, len(w.lines), m.HeapAlloc>>20)
	every := w.Without(func(s int) bool { return s%2 == 0 }, Options{})
	consistent(t, w.Newest(), every)
	if r := w.Without(func(s int) bool { return true }, Options{}); !slices.Equal(r.Lines, text(0)) {
		t.Error("without all it is not the oldest")
	}
}

// TestOldestTooLarge: the oldest version alone is too much.
func TestOldestTooLarge(t *testing.T) {
	half := strings.Repeat("x", maxBytes/2)
	w := New([]string{half + "a\n", half + "b\n"})
	if err := w.Add(nil, 1); !errors.Is(err, errTooLarge) {
		t.Errorf("%v", err)
	}
	f := NewFile(Version{Entry: entry("644:a").Entry, Text: true, Lines: []string{half + "a\n", half + "b\n"}})
	if w, _ := f.Weave(); w != nil {
		t.Error("it is woven")
	}
	f.Add(entry("644:abc"))
	if w, base := f.Weave(); w == nil || base != 1 {
		t.Error("what comes after it is not")
	}
}

// TestLooksAreBounded: past the bound what others wrote is a conflict, never undone unseen.
func TestLooksAreBounded(t *testing.T) {
	w := life(t, "abcd", "aBcd", "aBXcd")
	for _, bound := range []struct{ looks, again int }{{0, maxAgain}, {maxLooks, 0}} {
		tk := &taking{w: w, looks: bound.looks, again: bound.again}
		first := tk.assign(func(s int) bool { return s == 1 })
		tk.sequence(first)
		tk.split(0, len(tk.seq), first)
		tk.overlaps(first)
		if r := tk.result(Options{}); r.Conflicts() != 1 || joined(r.Lines) != "aBXcd" {
			t.Errorf("%+v: %+v", bound, r)
		}
	}
}
