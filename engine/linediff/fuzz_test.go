package linediff

import (
	"strings"
	"testing"
)

// FuzzMerge: whatever the texts, a merge covers them, says truly whose each part is, and one side alone
// is taken as it is.
func FuzzMerge(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc\n", "a\nb\nc\ny")
	f.Add("a\r\nb", "", "a\r\nb\r\n")
	f.Add("}\n}\n\n}\n", "}\n\n}\n", "\x00\n}\n}\n")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		if len(base)+len(ours)+len(theirs) > 1<<16 {
			return
		}
		check(t, base, ours, Options{})
		b, o, h := Lines(base), Lines(ours), Lines(theirs)
		checkMerge(t, b, o, h)
		for _, p := range Merge(b, o, h) {
			if p.Origin == Conflict {
				Markers(o[p.Ours:p.OursEnd], b[p.Base:p.BaseEnd], h[p.Theirs:p.TheirsEnd], Labels{})
			}
		}
		if got, clean := merged(base, ours, base); !clean || got != ours {
			t.Fatalf("ours alone: %q", got)
		}
		if got, clean := merged(base, ours, ours); !clean || got != ours {
			t.Fatalf("both alike: %q", got)
		}
		if got, clean := merged(base, ours, theirs); clean && strings.Count(got, "\n") > strings.Count(base+ours+theirs, "\n") {
			t.Fatalf("more lines than there were: %q", got)
		}
	})
}
