package weave

import (
	"reflect"
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
	f.Add("a\nb\nc\x01a\nb\nc\nd\x01a\nb\ncd\x01xa\nb\ncd\x01b\ncd\x01\n\n\x01\n", uint16(0b1010))
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
		whole := NewText(versions[0])
		for i, v := range versions[1:] {
			if mask>>i&3 == 3 { // both ways by turns
				if err := whole.Add(linediff.Lines(v), i); err != nil {
					t.Fatal(err)
				}
			} else if err := whole.AddText(v, i); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(whole.lines, w.lines) || !reflect.DeepEqual(whole.made, w.made) || !reflect.DeepEqual(whole.more, w.more) ||
			!slices.Equal(whole.now, w.now) || !slices.Equal(whole.Newest(), w.Newest()) {
			t.Fatal("texts make another weave than their lines")
		}
		newest := linediff.Lines(versions[len(versions)-1])
		if !slices.Equal(w.Newest(), newest) || len(w.Birth(nil)) != len(newest) {
			t.Fatalf("the newest is %q", w.Newest())
		}
		ended := !slices.ContainsFunc(versions, func(v string) bool { return v != "" && !strings.HasSuffix(v, "\n") })
		for _, choice := range []Choice{Keep, Undo, Markers} {
			r := w.Without(func(s int) bool { return mask>>s&1 == 1 }, Options{Choose: func(Block) Choice { return choice }})
			again := w.Without(func(s int) bool { return mask>>s&1 == 1 }, Options{Choose: func(Block) Choice { return choice }})
			if !slices.Equal(r.Lines, again.Lines) {
				t.Fatal("asked twice, it answers differently")
			}
			if ended { // else a line may get its line feed outside of the blocks
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
