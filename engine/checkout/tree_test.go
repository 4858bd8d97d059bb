package checkout

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// world holds contents by id, and makes walks of states.
type world struct{ contents map[oid.ID]string }

// state is path to content; "/" ends a directory, "->" begins a link's target.
func (w *world) walk(state map[string]string) Walk {
	all := map[string]manifest.Entry{}
	for path, text := range state {
		for i := range len(path) {
			if path[i] == '/' {
				all[path[:i]] = manifest.Entry{Kind: manifest.Subdir, Mode: 0o755}
			}
		}
		if path = strings.TrimSuffix(path, "/"); all[path].Kind == manifest.Subdir {
			continue
		}
		if target, ok := strings.CutPrefix(text, "->"); ok {
			all[path] = manifest.Entry{Kind: manifest.Symlink, Target: target}
			continue
		}
		id := oid.Sum([]byte(text))
		w.contents[id] = text
		all[path] = manifest.Entry{Kind: manifest.File, Mode: 0o644, Size: uint64(len(text)), ID: id}
	}
	return func(visit func(string, manifest.Entry) error) error {
		var paths []string
		for path := range all {
			paths = append(paths, path)
		}
		slices.SortFunc(paths, func(a, b string) int {
			return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
		})
		for _, path := range paths {
			if err := visit(path, all[path]); err != nil {
				return err
			}
		}
		return nil
	}
}

func (w *world) tree(t *testing.T) (*Tree, string) {
	dir := t.TempDir()
	fs, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fs.Close() })
	return New(Options{Path: dir, FS: fs, Workers: 2, Open: func(e manifest.Entry) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(w.contents[e.ID])), nil
	}}), dir
}

func read(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, file)
		switch {
		case err != nil || rel == ".":
			return err
		case d.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(file)
			out[rel] = "->" + target
			return err
		case d.IsDir():
			if list, err := os.ReadDir(file); err == nil && len(list) == 0 {
				out[rel+"/"] = ""
			}
			return nil
		}
		data, err := os.ReadFile(file)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// From state to state only what differs is written, and what a command has done in between to
// paths of a state is made good. What it added elsewhere stays.
func TestMove(t *testing.T) {
	w := &world{map[oid.ID]string{}}
	tree, dir := w.tree(t)
	one := map[string]string{"a": "1", "d/x": "x", "d/y": "y", "l": "->a", "e/": "", "k/deep/er": "z", "turn": "file"}
	two := map[string]string{"a": "2", "d/x": "x", "d/n": "n", "l": "->d", "k": "a file now", "turn/into": "a directory"}
	move := func(state map[string]string, written int64) {
		t.Helper()
		m, err := tree.Move(context.Background(), w.walk(state), nil)
		if err != nil || len(m.Problems) > 0 || m.Written != written {
			t.Fatalf("%+v %v, want %d written", m, err, written)
		}
	}
	same := func(want map[string]string) {
		t.Helper()
		if got := read(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
	move(one, 6)
	same(one)
	move(two, 5)
	same(two)
	move(one, 5)
	same(one)
	move(one, 0)

	outside := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(filepath.Join(outside, "x"), []byte("theirs"), 0o644),
		os.WriteFile(file("a"), []byte("9"), 0o644),             // changed
		os.RemoveAll(file("d")), os.Symlink(outside, file("d")), // a link to elsewhere where a directory was
		os.Remove(file("l")), os.MkdirAll(file("l/built/o"), 0o755), // a directory where a link was
		os.Remove(file("turn")),                                 // gone
		os.WriteFile(file("k/artefact"), []byte("kept"), 0o644), // a neighbour
		os.WriteFile(file("out.o"), []byte("kept"), 0o644),
		os.Chmod(file("k/deep"), 0o500),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	move(one, 5)
	want := map[string]string{"k/artefact": "kept", "out.o": "kept"}
	for k, v := range one {
		want[k] = v
	}
	same(want)
	if data, err := os.ReadFile(filepath.Join(outside, "x")); err != nil || string(data) != "theirs" {
		t.Errorf("outside: %q, %v", data, err)
	}
	move(two, 5) // k, with an artefact in it, becomes a file
	delete(want, "k/artefact")
	two["out.o"] = "kept"
	same(two)
}

// A file whose content was put back with its times is written again: its ctime is another.
func TestTimesPutBack(t *testing.T) {
	w := &world{map[oid.ID]string{}}
	tree, dir := w.tree(t)
	walk := w.walk(map[string]string{"a": "one"})
	if _, err := tree.Move(context.Background(), walk, nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	if err := os.WriteFile(file, []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Move(context.Background(), walk, nil); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir); got["a"] != "one" {
		t.Errorf("%v", got)
	}
}

// A donor gives only files that cannot have changed since its scan.
func TestDonor(t *testing.T) {
	w := &world{map[oid.ID]string{}}
	tree, dir := w.tree(t)
	from := t.TempDir()
	fs, err := rootfs.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	state := map[string]string{"old": "same", "differs": "here", "late": "asis", "short": "12345"}
	for name, text := range map[string]string{"old": "same", "differs": "ther", "short": "1234"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond)
	scanned := time.Now()
	if err := os.WriteFile(filepath.Join(from, "late"), []byte("asit"), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := tree.Move(context.Background(), w.walk(state), &Donor{FS: fs, Scanned: scanned.UnixNano(), Differs: func(p string) bool { return p == "differs" }})
	if err != nil || len(m.Problems) > 0 || m.Shared > 1 {
		t.Fatalf("%+v %v", m, err)
	}
	if got := read(t, dir); fmt.Sprint(got) != fmt.Sprint(state) {
		t.Errorf("%v", got)
	}
}

// One path that cannot be written is named, and voids no other.
func TestProblems(t *testing.T) {
	w := &world{map[oid.ID]string{}}
	tree, dir := w.tree(t)
	walk := w.walk(map[string]string{"a": "1", ".git/hooks/x": "bad", "sub/.GIT": "bad", "lost": "gone", "z": "2"})
	delete(w.contents, oid.Sum([]byte("gone")))
	m, err := tree.Move(context.Background(), walk, nil)
	if err != nil || len(m.Problems) != 3 {
		t.Fatalf("%+v %v", m, err)
	}
	if got := read(t, dir); fmt.Sprint(got) != fmt.Sprint(map[string]string{"a": "1", "z": "2", "sub/": ""}) {
		t.Errorf("%v", got)
	}
}

// Whether files can be shared is found out with a file that is gone again.
func TestShares(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(from, "a"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	can := exec.Command("cp", "--reflink=always", filepath.Join(from, "a"), filepath.Join(t.TempDir(), "a")).Run() == nil
	tree := func(dir string) rootfs.FS {
		fs, err := rootfs.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { fs.Close() })
		return fs
	}
	w := &world{map[oid.ID]string{}}
	if got := Shares(tree(from), tree(to), w.walk(map[string]string{"gone": "x", "l": "->a", "a": "content"})); got != can {
		t.Errorf("%v, but cp: %v", got, can)
	}
	if Shares(tree(from), tree(to), w.walk(map[string]string{"gone": "x", "empty": ""})) {
		t.Error("nothing was there to share")
	}
	if left := read(t, to); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
