package pathspec

import (
	"fmt"
	"math/rand"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// What many patterns select together is what each of them selects by its names, whether it is a path or a glob.
func TestSelectManyAsEach(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	names := []string{"a", "b", "ab", "*", "[a]", "\\", "\\*", "[", "?", "**", "a*"}
	some := func() string {
		var parts []string
		for range 1 + r.Intn(3) {
			parts = append(parts, names[r.Intn(len(names))])
		}
		return strings.Join(parts, "/")
	}
	for range 3000 {
		var patterns []string
		for range 1 + r.Intn(4) {
			p := some()
			if r.Intn(2) == 0 {
				p = EscapeGlob(p)
			}
			patterns = append(patterns, p)
		}
		s, err := Select(patterns)
		if err != nil {
			t.Fatal(err)
		}
		at := some()
		split := strings.Split(at, "/")
		match := slices.ContainsFunc(s.Patterns, func(p []string) bool { return matchNames(p, split) })
		below := slices.ContainsFunc(s.Patterns, func(p []string) bool { return leads(p, split) })
		if s.Match(at) != match || s.Below(at) != below {
			t.Fatalf("%q select %q: %v, below it %v; one by one %v, %v", patterns, at, s.Match(at), s.Below(at), match, below)
		}
		paths := []string{some(), some()}
		got, err := Unmatched(patterns, paths)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range patterns {
			one, _ := Select([]string{p})
			if plain, ok := PlainPath(path.Clean(p)); !slices.ContainsFunc(paths, one.Has) != slices.Contains(got, p) {
				t.Fatalf("%q (%q %v) of %q: %q", p, plain, ok, paths, got)
			}
		}
	}
}

// Many chosen paths cost as much as there are of them, not that times the tree.
func TestMatchSomeReadsADirectoryOnce(t *testing.T) {
	dir, loads := manifest.Dir{}, 0
	var patterns []string
	for i := range 1000 {
		dir.Entries = append(dir.Entries, manifest.Entry{Name: fmt.Sprintf("%04d", i)})
		patterns = append(patterns, dir.Entries[i].Name)
	}
	load := func(oid.ID) (manifest.Dir, error) { loads++; return dir, nil }
	if err := MatchSome(load, patterns, oid.ID{1}); err != nil || loads != 1 {
		t.Errorf("%v: read %d times", err, loads)
	}
	if err := MatchSome(load, append(patterns, "x"), oid.ID{1}); err == nil {
		t.Error("x is there")
	}
}
