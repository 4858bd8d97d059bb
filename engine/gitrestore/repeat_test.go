package gitrestore

import (
	"os"
	"strings"
	"testing"
)

// A restore that is repeated while a file keeps a reference from its name changes nothing, and says again that the reference is not back.
func TestRepeatedBesideAFile(t *testing.T) {
	for _, mode := range []Mode{Missing, Exact} {
		for _, moved := range []bool{false, true} {
			b := newBox(t)
			b.commit("a", "one")
			b.git("branch", "side")
			s := b.save()
			b.commit("a", "two")
			b.git("update-ref", "-d", "refs/heads/side")
			if moved { // packed, so that it is there beside the directory of its name
				b.git("branch", "side")
				b.git("pack-refs", "--all")
			}
			if err := os.MkdirAll(b.gitFile("refs/heads/side"), 0o700); err != nil {
				t.Fatal(err)
			}
			b.write(".git/refs/heads/side/.junk", "junk")
			first := lines(b.restore(s, b.target(), mode))
			if !strings.Contains(strings.Join(first, "\n"), "ref returns as refs/heads/rewind/42/side refs/heads/side") {
				if mode == Missing && moved {
					continue // it moved: its work is reached
				}
				t.Errorf("%v %v: %q", mode, moved, first)
			}
			again := b.plan(s, b.target(), mode)
			left := false
			for i, l := range again.Lines {
				if l.Change != Stays && l.Change != Unable {
					t.Errorf("%v %v, again: %s", mode, moved, lines(again)[i])
				}
				left = left || l.Name == "refs/heads/side"
			}
			if !left {
				t.Errorf("%v %v: nothing says that the branch is not back: %q", mode, moved, lines(again))
			}
		}
	}
}
