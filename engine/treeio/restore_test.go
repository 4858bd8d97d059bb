//go:build linux || darwin

package treeio

import (
	"os"
	"testing"
	"time"
)

func TestRestoreThereAndBack(t *testing.T) {
	w := newWorld(t)
	w.write("a.txt", "one")
	w.write("dir/b.txt", "two")
	w.write("dir/same.txt", "same")
	w.write("gone/deep/c.txt", "three")
	must(t, os.Symlink("nowhere", w.file("link")))
	must(t, os.Mkdir(w.file("empty"), 0o750))
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	must(t, os.Chtimes(w.file("dir/same.txt"), old, old))
	first := w.now()

	w.write("a.txt", "ONE and more")
	w.write("new/x", "x")
	must(t, os.Chmod(w.file("dir/b.txt"), 0o755))
	must(t, os.RemoveAll(w.file("gone")))
	must(t, os.Remove(w.file("link")))
	must(t, os.Remove(w.file("empty")))
	second := w.now()

	begin := time.Now().Add(-time.Second)
	p := w.restoreExactly(first)
	if p.Before != second {
		t.Error("the plan's Before is not the tree that was")
	}
	if fi, err := os.Stat(w.file("dir/same.txt")); err != nil || !fi.ModTime().Equal(old) {
		t.Error("an untouched file got a new mtime")
	}
	if fi, err := os.Stat(w.file("a.txt")); err != nil || fi.ModTime().Before(begin) {
		t.Error("a modified file did not get the present time")
	}
	w.restoreExactly(second)
	w.restoreExactly(first)
}

func TestNothingToDo(t *testing.T) {
	w := newWorld(t)
	w.write("a", "1")
	p := w.plan(w.now())
	if !p.Empty() || len(p.Skips) > 0 {
		t.Errorf("a plan for the same tree: %+v", p)
	}
}
