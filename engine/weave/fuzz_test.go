package weave

import (
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/linediff"
)

// FuzzWeave takes texts apart and puts them together: versions are cut at a 0x01, and own has a bit for each step.
func FuzzWeave(f *testing.F) {
	f.Add("a\nb\n\x01a\nL\nb\n\x01a\nL\nM\nb\n\x01a\nM\nb\n", uint16(0b101))
	f.Add("a\r\nb\x01\x01a\nb\nc\x01a\r\nb\x01}\n}\n", uint16(0b0110))
	f.Add("\x00\n\n\n\x01\n\n\n\n\x01\n\x01\n\n\n", uint16(3))
	f.Fuzz(func(t *testing.T, text string, mask uint16) {
		versions := strings.Split(text, "\x01")
		if len(versions) > 14 || len(text) > 1<<14 {
			return
		}
		w := New(linediff.Lines(versions[0]))
		for i, v := range versions[1:] {
			if err := w.Add(linediff.Lines(v), i); err != nil {
				t.Fatal(err)
			}
		}
		newest := linediff.Lines(versions[len(versions)-1])
		if !slices.Equal(w.Newest(), newest) || len(w.Birth()) != len(newest) {
			t.Fatalf("the newest is %q", w.Newest())
		}
		whole := !slices.ContainsFunc(versions, func(v string) bool { return v != "" && !strings.HasSuffix(v, "\n") })
		for _, choice := range []Choice{Keep, Undo, Markers} {
			r := w.Without(func(s int) bool { return mask>>s&1 == 1 }, Options{Choose: func(Block) Choice { return choice }})
			again := w.Without(func(s int) bool { return mask>>s&1 == 1 }, Options{Choose: func(Block) Choice { return choice }})
			if !slices.Equal(r.Lines, again.Lines) {
				t.Fatal("asked twice, it answers differently")
			}
			if whole { // else a line may get its line feed outside of the blocks
				consistent(t, newest, r)
			}
			for i, l := range r.Lines {
				if n := strings.Count(l, "\n"); n > 1 || n == 0 && i < len(r.Lines)-1 {
					t.Fatalf("%q is no line", l)
				}
			}
		}
		all := w.Without(func(int) bool { return true }, Options{})
		if got := strings.Join(all.Lines, ""); got != versions[0] || all.Conflicts() > 0 {
			t.Fatalf("without everything: %q; %+v", got, all.Blocks)
		}
	})
}
