package vfs

import (
	"os"
	"path/filepath"
	"testing"
)

// A name that begins with two dots lies below, a way up does not; the directory itself is within, and not below.
func TestBelow(t *testing.T) {
	for _, c := range []struct {
		file, rel     string
		within, below bool
	}{
		{"/a/b", "", true, false}, {"/a/b/c/d", "c/d", true, true}, {"/a/b/..c", "..c", true, true},
		{"/a", "", false, false}, {"/a/bc", "", false, false}, {"/", "", false, false}, {"c", "", false, false},
	} {
		rel, ok := Below(filepath.FromSlash("/a/b"), filepath.FromSlash(c.file))
		if below := IsBelow("/a/b", c.file); rel != c.rel || ok != c.within || below != c.below {
			t.Errorf("%s: %q, within: %v, below: %v", c.file, rel, ok, below)
		}
	}
}

// Of a path that is not there the links of what is there are resolved.
func TestRealAsFar(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "there"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("there", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if got, want := RealAsFar(filepath.Join(dir, "link", "not", "yet")), filepath.Join(dir, "there", "not", "yet"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
