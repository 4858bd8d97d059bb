//go:build linux || darwin

package treeio

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// folding is a file system that ignores letter case but keeps it, as those of
// macOS and Windows do. It is played here, since few kernels of build machines have one.
type folding struct{ rootfs.FS }

type foldingDir struct{ rootfs.Dir }

func (x folding) OpenDir(path string) (rootfs.Dir, error) {
	d, err := x.FS.OpenDir("")
	if err != nil {
		return nil, err
	}
	at := rootfs.Dir(foldingDir{d})
	for _, name := range strings.Split(path, "/") {
		if name == "" {
			continue
		}
		next, err := at.Subdir(name)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// real is the name that the directory has for name.
func (d foldingDir) real(name string) string {
	names, err := d.Names()
	if err != nil || slices.Contains(names, name) {
		return name
	}
	for _, other := range names {
		if strings.EqualFold(other, name) {
			return other
		}
	}
	return name
}

func (d foldingDir) Lstat(name string) (rootfs.Info, error) { return d.Dir.Lstat(d.real(name)) }
func (d foldingDir) OpenFile(name string) (*os.File, rootfs.Info, error) {
	return d.Dir.OpenFile(d.real(name))
}
func (d foldingDir) Readlink(name string) (string, error) { return d.Dir.Readlink(d.real(name)) }
func (d foldingDir) Subdir(name string) (rootfs.Dir, error) {
	sub, err := d.Dir.Subdir(d.real(name))
	if err != nil {
		return nil, err
	}
	return foldingDir{sub}, nil
}
func (d foldingDir) Create(name string) (rootfs.File, error) { return d.Dir.Create(d.real(name)) }
func (d foldingDir) Mkdir(name string) error                 { return d.Dir.Mkdir(d.real(name)) }
func (d foldingDir) Symlink(target, name string) error       { return d.Dir.Symlink(target, d.real(name)) }
func (d foldingDir) Rename(from, to string) error            { return d.Dir.Rename(d.real(from), d.real(to)) }
func (d foldingDir) Exchange(a, b string) error              { return d.Dir.Exchange(d.real(a), d.real(b)) }
func (d foldingDir) Unlink(name string) error                { return d.Dir.Unlink(d.real(name)) }
func (d foldingDir) Rmdir(name string) error                 { return d.Dir.Rmdir(d.real(name)) }
func (d foldingDir) Chmod(name string, mode uint32) error    { return d.Dir.Chmod(d.real(name), mode) }
func (d foldingDir) Chown(name string, uid, gid uint32) error {
	return d.Dir.Chown(d.real(name), uid, gid)
}

// caseRenames are names that differ in letter case alone. A file is then renamed, both ways. A
// directory keeps its name, and what is in it is restored; where that is not possible
// either, all stays as it is. In each case what is not done is named.
var caseRenames = []struct {
	what           string
	from, to, want map[string]string // want: nil for to
	back           map[string]string // after to has been brought to from; nil for from
}{
	{what: "a file", from: map[string]string{"README": "old"}, to: map[string]string{"readme": "new"}},
	{what: "the same content", from: map[string]string{"a": "1", "Read": "same"}, to: map[string]string{"a": "1", "rEAD": "same"}},
	{what: "below", from: map[string]string{"d/File": "1", "d/g": "1"}, to: map[string]string{"d/file": "2", "d/g": "1", "d/h": "1"}},
	{what: "a directory",
		from: map[string]string{"Src/a": "1", "Src/b": "2"}, to: map[string]string{"src/a": "1", "src/b": "3", "src/c": "4"},
		want: map[string]string{"Src/a": "1", "Src/b": "3", "Src/c": "4"}, back: map[string]string{"src/a": "1", "src/b": "2"}},
	{what: "a directory and what is in it",
		from: map[string]string{"SRC/Deep/A": "1"}, to: map[string]string{"Src/deep/a": "2", "Src/deep/b": "2"},
		want: map[string]string{"SRC/Deep/a": "2", "SRC/Deep/b": "2"}, back: map[string]string{"Src/deep/A": "1"}},
	{what: "a directory becomes a file",
		from: map[string]string{"Src/a": "1"}, to: map[string]string{"src": "a file"},
		want: map[string]string{"Src/a": "1"}, back: map[string]string{"src": "a file"}},
}

// fill makes the tree hold these files alone.
func (w *world) fill(files map[string]string) oid.ID {
	w.Helper()
	must(w, os.RemoveAll(w.root))
	must(w, os.Mkdir(w.root, 0o755))
	for path, data := range files {
		w.write(path, data)
	}
	return w.now()
}

func foldingWorld(t *testing.T) *world {
	w := newWorld(t)
	w.wrap = func(f rootfs.FS) rootfs.FS { return folding{f} }
	return w
}

func TestCaseOnlyRename(t *testing.T) {
	for _, c := range caseRenames {
		for _, back := range []bool{false, true} {
			from, to, want := c.from, c.to, c.want
			if back {
				from, to, want = to, from, c.back
			}
			w := foldingWorld(t)
			target := w.fill(to)
			end := target
			if want != nil {
				end = w.fill(want)
			}
			w.fill(from)
			p, out := w.restore(target)
			if now := w.now(); now != end || p.After != end || (len(out.Skips) > 0) != (want != nil) {
				t.Errorf("%s, back %v: skips %v, the plan's tree as expected: %v", c.what, back, out.Skips, p.After == end)
				manifest.Diff(w.Load, now, end, func(c manifest.Change) error {
					t.Errorf("    %s: is %+v, should be %+v", c.Path, c.Old, c.New)
					return nil
				})
			}
		}
	}
}

// Two names of the target that are one here: the second is named, and the first is whole.
func TestTwoNamesThatFold(t *testing.T) {
	w := foldingWorld(t)
	w.wrap = nil
	both := w.fill(map[string]string{"Makefile": "one", "makefile": "two", "x": "1"})
	w.wrap = func(f rootfs.FS) rootfs.FS { return folding{f} }
	for _, from := range []map[string]string{{"x": "2"}, {"Makefile": "one"}, {"makefile": "two"}, {"MAKEFILE": "other"}} {
		w.fill(from)
		_, out := w.restore(both)
		names, err := os.ReadDir(w.root)
		must(t, err)
		if len(names) != 2 || len(out.Skips) != 1 {
			t.Errorf("from %v: %v, skips %v", from, names, out.Skips)
		}
		for name, data := range map[string]string{"Makefile": "one", "makefile": "two", "MAKEFILE": "other", "x": "1"} {
			if w.exists(name) && w.read(w.file(name)) != data {
				t.Errorf("from %v: %s holds %q", from, name, w.read(w.file(name)))
			}
		}
	}
}

// A case-only rename that is interrupted anywhere is one or the other, and can be finished or put back.
func TestCaseOnlyRenameCrash(t *testing.T) {
	from, to := map[string]string{"README": "old", "z": "1"}, map[string]string{"readme": "new", "z": "2"}
	for i, crash := range []error{nil, syscall.ENOSPC, nil} {
		for k := 1; ; k++ {
			w := foldingWorld(t)
			target := w.fill(to)
			start := w.fill(from)
			w.o.Workers = 1
			f := &faults{at: k, err: crash}
			w.wrap = func(inner rootfs.FS) rootfs.FS { return f.wrap(folding{inner}) }
			p := w.plan(target)
			opts := w.options()
			opts.Files = faultyFiles{vfs.OS, f}
			var err error
			f.run(func() { _, err = p.Apply(t.Context(), opts) })
			w.wrap = func(f rootfs.FS) rootfs.FS { return folding{f} }
			if f.n < k {
				must(t, err)
				break
			}
			j, err := Open(w.store)
			must(t, err)
			if j != nil {
				_, err = j.Recover(t.Context(), w.fs(), w.memStore, i == 0 || j.Committed, w.options())
				must(t, err)
			}
			w.noTemps()
			if now := w.now(); now != start && now != target {
				t.Errorf("operation %d (%s), %v:", k, f.failed, crash)
				manifest.Diff(w.Load, now, start, func(c manifest.Change) error {
					t.Errorf("    %s: is %+v, was %+v", c.Path, c.Old, c.New)
					return nil
				})
			}
		}
	}
}
