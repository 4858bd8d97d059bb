//go:build linux || darwin

package treeio

import (
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/engine/rootfs"
)

// grow makes a random tree. Few names, so that two trees collide in every way.
func (w *world) grow(t *rapid.T, dir string, depth int) {
	names := []string{"a", "b", "A", "\xff", "long name with spaces"}
	for _, name := range names {
		path := rootfs.Join(dir, name)
		file := w.file(path)
		switch rapid.IntRange(0, 9).Draw(t, path) {
		case 0, 1, 2:
		case 3, 4:
			content := rapid.SampledFrom([]string{"", "x", "y", "longer content"}).Draw(t, "content")
			must(w, os.WriteFile(file, []byte(content), 0o600))
			must(w, os.Chmod(file, rapid.SampledFrom([]os.FileMode{0o600, 0o644, 0o755, 0o400}).Draw(t, "mode")))
		case 5:
			must(w, os.Symlink(rapid.SampledFrom([]string{"a", "b", "/nowhere", "..", "a/b"}).Draw(t, "target"), file))
		case 6, 7:
			must(w, os.Mkdir(file, 0o755))
		default:
			must(w, os.Mkdir(file, 0o755))
			if depth < 3 {
				w.grow(t, path, depth+1)
			}
			if rapid.Bool().Draw(t, "private") {
				must(w, os.Chmod(file, 0o700))
			}
		}
	}
}

// A restore from any tree to any tree gives exactly the target, and the way
// back exactly the start.
func TestAnyTreeToAnyTree(t *testing.T) {
	w := newWorld(t)
	reset := func() {
		must(t, os.RemoveAll(w.root))
		must(t, os.Mkdir(w.root, 0o755))
	}
	rapid.Check(t, func(r *rapid.T) {
		reset()
		w.grow(r, "", 0)
		target := w.now()
		reset()
		w.grow(r, "", 0)
		start := w.now()
		p := w.restoreExactly(target)
		if p.Before != start || p.After != target {
			r.Fatal("the plan's trees are not those that were and are")
		}
		for i := range p.Changes {
			c := &p.Changes[i]
			if sameEntry(c.Before, c.After) && !isDir(c.Before) {
				r.Fatal(fmt.Sprintf("%s is changed to what it was", c.Path))
			}
		}
		if again := w.plan(target); !again.Empty() || len(again.Skips) > 0 {
			r.Fatal("there is something left to do")
		}
		w.restoreExactly(start)
	})
}
