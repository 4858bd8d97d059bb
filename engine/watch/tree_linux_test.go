package watch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

type lab struct {
	t    *testing.T
	root string
	tree Tree
}

func open(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, root: filepath.Join(t.TempDir(), "root")}
	for _, dir := range []string{"sub/deep", "ignored/below"} {
		if err := os.MkdirAll(filepath.Join(l.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.reopen()
	return l
}

// reopen opens the tree anew, as is done with a stale one.
func (l *lab) reopen() {
	l.t.Helper()
	tree, err := Open(Options{Root: l.root,
		Wanted: func(path string, dir bool) bool { return !strings.Contains("/"+path, "/ignored") },
		Rules:  func(name string) bool { return name == ".gitignore" }})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(tree.Close)
	l.tree = tree
}

func (l *lab) write(path string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.root, path), []byte(path), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

// seen waits for a change to be told of, and then until no more come.
func (l *lab) seen(what string) {
	l.t.Helper()
	select {
	case _, ok := <-l.tree.Changed():
		if !ok {
			l.t.Fatalf("%s: ended: %v", what, l.tree.Err())
		}
	case <-time.After(10 * time.Second):
		l.t.Fatalf("%s: not told of", what)
	}
	l.still()
}

func (l *lab) still() (changes int) {
	for {
		select {
		case <-l.tree.Changed():
			changes++
		case <-time.After(100 * time.Millisecond):
			return changes
		}
	}
}

func TestTree(t *testing.T) {
	l := open(t)
	if n := l.tree.Directories(); n != 3 {
		t.Errorf("%d directories are watched, want 3", n)
	}
	l.write("a")
	l.seen("a new file")
	l.write("sub/deep/b")
	l.seen("a file far below")
	if err := os.Chmod(filepath.Join(l.root, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.seen("a mode")
	if err := os.MkdirAll(filepath.Join(l.root, "new/in/it"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.seen("new directories")
	l.write("new/in/it/c")
	l.seen("a file in a new directory")
	l.write("ignored/d")
	l.write("ignored/below/d")
	if n := l.still(); n != 0 {
		t.Errorf("%d changes in what is ignored", n)
	}
	if l.tree.Stale() {
		t.Error("stale without a cause")
	}
	// A directory that is moved may be under other rules.
	if err := os.Rename(filepath.Join(l.root, "new"), filepath.Join(l.root, "sub/moved")); err != nil {
		t.Fatal(err)
	}
	l.seen("a move")
	if !l.tree.Stale() {
		t.Error("not stale after a move")
	}
	l.reopen()
	l.write("sub/moved/in/it/e")
	l.seen("a file in a moved directory")
	if err := os.Rename(filepath.Join(l.root, "sub/moved"), filepath.Join(l.root, "ignored/moved")); err != nil {
		t.Fatal(err)
	}
	l.seen("a move to what is ignored")
	l.reopen()
	l.write("ignored/moved/in/it/f")
	if n := l.still(); n != 0 {
		t.Errorf("%d changes in a directory that was moved to what is ignored", n)
	}
	if err := os.Remove(filepath.Join(l.root, "sub/deep/b")); err != nil {
		t.Fatal(err)
	}
	l.seen("a deletion")
	if l.tree.Stale() {
		t.Error("stale without a new rule")
	}
	l.write("sub/.gitignore")
	l.seen("a new rule")
	if !l.tree.Stale() {
		t.Error("not stale after a new rule")
	}
}

// What the queue of the system had no room for may have been a directory.
func TestOverflow(t *testing.T) {
	l := open(t)
	tree := l.tree.(*tree)
	if changed, err := tree.event(-1, unix.IN_Q_OVERFLOW, 0, ""); !changed || err != nil || !tree.Stale() {
		t.Errorf("an overflow: %v, %v, stale: %v", changed, err, tree.Stale())
	}
}

func TestRootGoes(t *testing.T) {
	for what, goes := range map[string]func(root string) error{
		"moved":   func(root string) error { return os.Rename(root, root+"-moved") },
		"removed": os.RemoveAll,
	} {
		l := open(t)
		if err := goes(l.root); err != nil {
			t.Fatal(err)
		}
		end := time.After(10 * time.Second)
		for ended := false; !ended; {
			select {
			case _, ok := <-l.tree.Changed():
				ended = !ok
			case <-end:
				t.Fatalf("%s: not told of", what)
			}
		}
		if err := l.tree.Err(); !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestRootIsNotThere(t *testing.T) {
	if _, err := Open(Options{Root: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
