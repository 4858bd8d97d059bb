package account

import (
	"strings"
	"testing"
)

// FuzzKnown: a line of the registry that is taken is one that is written so.
func FuzzKnown(f *testing.F) {
	f.Add(strings.TrimSpace(KnownStore{ID: StoreID{1}, DirID: DirID{2, 3, 4}, Mode: ProjectMode, Root: "/a path\nof any \xff", Link: "/b c"}.Line()))
	f.Add(strings.TrimSpace(KnownStore{Mode: GlobalMode, Root: "/"}.Line()))
	f.Fuzz(func(t *testing.T, line string) {
		if k, ok := ParseKnown(line); ok {
			if again, ok := ParseKnown(strings.TrimSpace(k.Line())); !ok || again != k {
				t.Fatalf("%q is read as %+v, and that as %+v", line, k, again)
			}
		}
	})
}
