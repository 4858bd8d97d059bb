package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"

	"pgregory.net/rapid"
)

func link(target string) Entry { return Entry{Kind: Symlink, Target: target} }
func file(content byte) Entry  { return fileEntry("", content) }
func folderOf(mode uint32) Entry {
	return Entry{Kind: Subdir, Mode: mode}
}

func changes(t testing.TB, w *world, a, b oid.ID) []string {
	var got []string
	err := Diff(w.Dir, a, b, func(c Change) error {
		old, new := "-", "-"
		kinds := map[Kind]string{File: "file", Chunked: "chunked", Symlink: "link", Subdir: "dir"}
		if c.Old != nil {
			old = kinds[c.Old.Kind]
		}
		if c.New != nil {
			new = kinds[c.New.Kind]
		}
		got = append(got, c.Path+" "+old+" "+new)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestDiff(t *testing.T) {
	dir := folderOf(0o755)
	for _, c := range []struct {
		name string
		a, b tree
		want []string
	}{
		{"same", tree{"a": file(1)}, tree{"a": file(1)}, nil},
		{"added, modified, deleted", tree{"a": file(1), "b": file(2)}, tree{"b": file(3), "c": file(4)},
			[]string{"a file -", "b file file", "c - file"}},
		{"content below is no change of the directory", tree{"d": dir, "d/x": file(1)}, tree{"d": dir, "d/x": file(2)},
			[]string{"d/x file file"}},
		{"mode of the directory", tree{"d": dir, "d/x": file(1)}, tree{"d": folderOf(0o700), "d/x": file(1)},
			[]string{"d dir dir"}},
		{"file becomes directory", tree{"p": file(1)}, tree{"p": dir, "p/q": file(1), "p/r": dir, "p/r/s": link("x")},
			[]string{"p file dir", "p/q - file", "p/r - dir", "p/r/s - link"}},
		{"directory becomes link", tree{"p": dir, "p/q": file(1)}, tree{"p": link("q")},
			[]string{"p dir link", "p/q file -"}},
		{"empty directories", tree{"e": dir}, tree{"f": dir}, []string{"e dir -", "f - dir"}},
		{"order", tree{}, tree{"a": dir, "a/z": file(1), "a.txt": file(1), "a!": file(1), "ab": file(1)},
			[]string{"a - dir", "a/z - file", "a! - file", "a.txt - file", "ab - file"}},
		{"link's target", tree{"l": link("a")}, tree{"l": link("b")}, []string{"l link link"}},
		{"executable bit", tree{"x": file(1)}, tree{"x": {Kind: File, Mode: 0o755, Size: 1, ID: oid.ID{1, 1}}}, []string{"x file file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			if got := changes(t, w, w.store(c.a), w.store(c.b)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Diff must not look into what is the same on both sides.
func TestDiffLoadsOnlyWhatDiffers(t *testing.T) {
	w := newWorld()
	a, b := tree{}, tree{}
	for i := range 100 {
		d := fmt.Sprintf("d%02d", i)
		a[d], a[d+"/sub"], a[d+"/sub/x"] = folderOf(0o755), folderOf(0o755), file(byte(i))
	}
	maps.Copy(b, a)
	b["d50/sub/x"] = file(200)
	ra, rb := w.store(a), w.store(b)
	loads := 0
	load := func(id oid.ID) (Dir, error) { loads++; return w.Dir(id) }
	n := 0
	if err := Diff(load, ra, rb, func(Change) error { n++; return nil }); err != nil || n != 1 {
		t.Fatalf("%d changes, %v", n, err)
	}
	if loads != 6 {
		t.Errorf("%d directories loaded, want 3 on each side", loads)
	}
}

func TestDiffStopsAtVisitorsError(t *testing.T) {
	w := newWorld()
	id := w.store(tree{"a": file(1), "b": file(2)})
	stop := errors.New("enough")
	n := 0
	err := Diff(w.Dir, oid.ID{}, id, func(Change) error { n++; return stop })
	if err != stop || n != 1 {
		t.Errorf("visited %d, error %v", n, err)
	}
}

func TestWalkSkipDir(t *testing.T) {
	w := newWorld()
	id := w.store(tree{"a": folderOf(0o755), "a/b": file(1), "c": file(2)})
	var got []string
	err := Walk(w.Dir, id, func(path string, e Entry) error {
		got = append(got, path)
		if e.Kind == Subdir {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil || !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("visited %q, %v", got, err)
	}
}

// A tree of 10,000 directories in each other ends in an error, not in a full stack.
func TestDeepTree(t *testing.T) {
	w := newWorld()
	id := w.store(tree{})
	for i := range 10_000 {
		d := Dir{Entries: []Entry{{Name: "d", Kind: Subdir, Mode: 0o755, ID: id}}}
		id = oid.ID{1, byte(i), byte(i >> 8)}
		w.dirs[id] = d
	}
	var depth *DepthError
	n := 0
	if err := Walk(w.Dir, id, func(string, Entry) error { n++; return nil }); !errors.As(err, &depth) {
		t.Errorf("got error %v, want a DepthError", err)
	}
	if n != MaxDepth+1 {
		t.Errorf("visited %d entries", n)
	}
	if err := Diff(w.Dir, id, oid.ID{}, func(Change) error { return nil }); !errors.As(err, &depth) {
		t.Errorf("got error %v, want a DepthError", err)
	}
}

func TestTreeErrorNamesTheDirectory(t *testing.T) {
	w := newWorld()
	id := w.store(tree{"a": folderOf(0o755), "a/b": folderOf(0o755), "a/b/c": file(1)})
	b, _, err := Find(w.Dir, id, "a/b")
	if err != nil {
		t.Fatal(err)
	}
	w.gone[b.ID] = true
	var te *TreeError
	if err := Walk(w.Dir, id, func(string, Entry) error { return nil }); !errors.As(err, &te) || te.Path != "a/b" || te.ID != b.ID || !errors.Is(err, errGone) {
		t.Errorf("Walk: %v", err)
	}
	if _, _, err := Find(w.Dir, id, "a/b/c"); !errors.As(err, &te) || te.Path != "a/b" {
		t.Errorf("Find: %v", err)
	}
	if _, ok, err := Find(w.Dir, id, "a/x/y/z"); ok || err != nil {
		t.Errorf("Find of what is absent: %v, %v", ok, err)
	}
}

func trees() *rapid.Generator[tree] {
	part := rapid.SampledFrom([]string{"a", "b", "a.b", "a!", "ab", "\xff"})
	return rapid.Custom(func(t *rapid.T) tree {
		out := tree{}
		for range rapid.IntRange(0, 8).Draw(t, "paths") {
			parts := rapid.SliceOfN(part, 1, 4).Draw(t, "path")
			free := true
			for i := 1; i < len(parts); i++ {
				p := strings.Join(parts[:i], "/")
				if e, ok := out[p]; ok && e.Kind != Subdir {
					free = false
				}
			}
			path := strings.Join(parts, "/")
			if _, ok := out[path]; ok || !free {
				continue
			}
			for i := 1; i < len(parts); i++ {
				p := strings.Join(parts[:i], "/")
				if _, ok := out[p]; !ok {
					out[p] = folderOf(0o755)
				}
			}
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				out[path] = link("x")
			case 1:
				out[path] = folderOf(rapid.SampledFrom([]uint32{0o755, 0o700}).Draw(t, "mode"))
			default:
				out[path] = file(rapid.SampledFrom([]byte{1, 2, 3}).Draw(t, "content"))
			}
		}
		return out
	})
}

func TestDiffAndWalkAgainstPlainTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		a, b := trees().Draw(t, "a"), trees().Draw(t, "b")
		fa, fb := w.flat(a), w.flat(b)
		want := plainDiff(fa, fb)
		var got []Change
		if err := Diff(w.Dir, w.store(a), w.store(b), func(c Change) error { got = append(got, c); return nil }); err != nil {
			t.Fatal(err)
		}
		if !sameChanges(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
		var walked []string
		if err := Walk(w.Dir, w.store(a), func(path string, e Entry) error {
			if e != fa[path] {
				t.Fatalf("%s: %v, want %v", path, e, fa[path])
			}
			walked = append(walked, path)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if order := slices.SortedFunc(maps.Keys(fa), pathOrder); !slices.Equal(walked, order) {
			t.Fatalf("walked %q, want %q", walked, order)
		}
		for path, e := range fb {
			if got, ok, err := Find(w.Dir, w.store(b), path); err != nil || !ok || got != e {
				t.Fatalf("Find(%q): %v %v %v", path, got, ok, err)
			}
		}
	})
}
