//go:build linux || darwin

package treeio

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

func (w *world) read(file string) string {
	w.Helper()
	data, err := os.ReadFile(file)
	must(w, err)
	return string(data)
}

// stat of a path, not followed.
func (w *world) stat(file string) *syscall.Stat_t {
	w.Helper()
	fi, err := os.Lstat(file)
	must(w, err)
	return fi.Sys().(*syscall.Stat_t)
}

// A hard link is replaced, not written through, and its other name keeps
// content and mode, even when only the mode differs.
func TestHardLinks(t *testing.T) {
	w := newWorld(t)
	w.write("content", "old")
	w.write("mode", "same")
	must(t, os.Chmod(w.file("mode"), 0o600))
	target := w.now()
	outside := filepath.Join(filepath.Dir(w.root), "outside")
	must(t, os.Mkdir(outside, 0o755))
	for _, name := range []string{"content", "mode"} {
		must(t, os.Remove(w.file(name)))
		must(t, os.WriteFile(filepath.Join(outside, name), []byte(map[string]string{"content": "new", "mode": "same"}[name]), 0o644))
		must(t, os.Link(filepath.Join(outside, name), w.file(name)))
	}
	w.restoreExactly(target)
	if got := w.read(filepath.Join(outside, "content")); got != "new" {
		t.Errorf("the other name of a hard link has %q", got)
	}
	if st := w.stat(filepath.Join(outside, "mode")); st.Mode&0o7777 != 0o644 {
		t.Errorf("the other name of a hard link has mode %o", st.Mode&0o7777)
	}
}

// A symlink in the way is replaced; neither its target's content nor its mode changes.
func TestSymlinkInTheWay(t *testing.T) {
	w := newWorld(t)
	w.write("a", "mine")
	w.write("docs/pre-commit", "a document")
	target := w.now()
	victim := filepath.Join(filepath.Dir(w.root), "victim")
	must(t, os.WriteFile(victim, []byte("theirs"), 0o600))
	w.write(".git/hooks/pre-commit", "a hook")
	must(t, os.Remove(w.file("a")))
	must(t, os.RemoveAll(w.file("docs")))
	must(t, os.Symlink(victim, w.file("a")))
	must(t, os.Symlink(".git/hooks", w.file("docs")))
	w.restoreExactly(target)
	if w.read(victim) != "theirs" || w.stat(victim).Mode&0o777 != 0o600 {
		t.Error("a link's target was changed")
	}
	if w.read(w.file(".git/hooks/pre-commit")) != "a hook" {
		t.Error("a hook was overwritten through a link")
	}
}

// A hostile or damaged tree can name what is never touched.
func TestForbiddenNamesInATree(t *testing.T) {
	w := newWorld(t)
	w.write(".git/config", "mine")
	w.write("a", "1")
	evil := w.put([]byte("evil"))
	bad := func(name string, e manifest.Entry) oid.ID {
		e.Name = name
		return w.put(manifest.Dir{Entries: []manifest.Entry{e}}.Append(nil))
	}
	file := manifest.Entry{Kind: manifest.File, Mode: 0o755, Size: 4, ID: evil}
	for _, target := range []oid.ID{
		bad(".git", manifest.Entry{Kind: manifest.Subdir, Mode: 0o755, ID: bad("config", file)}),
		bad(".GIT", manifest.Entry{Kind: manifest.Subdir, Mode: 0o755, ID: bad("config", file)}),
		bad("sub", manifest.Entry{Kind: manifest.Subdir, Mode: 0o755, ID: bad(".git", file)}),
		bad(".git", file),
		bad(rootfs.Reserved("x"), file),
		bad(strings.Repeat("x", 300), file),
		bad("store", manifest.Entry{Kind: manifest.Subdir, Mode: 0o755, ID: bad("objects", file)}),
	} {
		w.o.Own = []string{"store"}
		must(t, os.MkdirAll(w.file("store"), 0o700))
		w.ignored = []string{"store"}
		w.o.Select = NewExactly([]string{".git", ".git/config", ".GIT", ".GIT/config", "sub", "sub/.git", rootfs.Reserved("x"), strings.Repeat("x", 300), "store", "store/objects"})
		_, out := w.restore(target)
		if !slices.ContainsFunc(out.Skips, func(s problem.Problem) bool { return s.Failed }) {
			t.Errorf("nothing was skipped: %+v", out)
		}
		if w.read(w.file(".git/config")) != "mine" || w.exists("store/objects") || w.exists("sub/.git") {
			t.Fatal("something forbidden was written")
		}
	}
}

func TestModesOwnersAttributes(t *testing.T) {
	w := newWorld(t)
	w.write("prog", "old program")
	must(t, os.Chmod(w.file("prog"), 0o755|os.ModeSetuid|os.ModeSetgid))
	must(t, os.Mkdir(w.file("sticky"), 0o755))
	must(t, os.Chmod(w.file("sticky"), 0o777|os.ModeSticky))
	w.write("readonly/file", "old")
	must(t, os.Chmod(w.file("readonly"), 0o555))
	target := w.now()
	must(t, os.Chmod(w.file("readonly"), 0o755))
	w.write("readonly/file", "new")
	w.write("prog", "new program")
	must(t, os.Chmod(w.file("prog"), 0o700))
	must(t, os.Chmod(w.file("sticky"), 0o700))
	must(t, os.Chmod(w.file("readonly"), 0o500))
	root := os.Geteuid() == 0
	if root {
		must(t, os.Chown(w.file("prog"), 1234, 2345))
	}
	setAttr(t, w.file("prog"), "user.note", "kept")
	w.restoreExactly(target)
	if st := w.stat(w.file("prog")); st.Mode&0o7777 != 0o6755 || root && (st.Uid != 1234 || st.Gid != 2345) {
		t.Errorf("mode %o, owner %d:%d", st.Mode&0o7777, st.Uid, st.Gid)
	}
	wantAttr(t, w.file("prog"), "user.note", "kept")
	must(t, os.Chmod(w.file("readonly"), 0o755))
}

// An executable that is running is replaced, not written.
func TestBusyExecutable(t *testing.T) {
	w := newWorld(t)
	sleep, err := exec.LookPath("sleep")
	must(t, err)
	data, err := os.ReadFile(sleep)
	must(t, err)
	w.write("prog", "#!/bin/sh\n")
	must(t, os.Chmod(w.file("prog"), 0o755))
	target := w.now()
	must(t, os.WriteFile(w.file("prog"), data, 0o755))
	cmd := exec.Command(w.file("prog"), "60")
	must(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	w.restoreExactly(target)
}

func TestNamesOfAnyBytesAndLength(t *testing.T) {
	w := newWorld(t)
	names := []string{"\xff\xfe", "new\nline", " ", "-rf", "*", "nul", "a\\b", "\x01", strings.Repeat("l", 255), "[x]", "é", "e\u0301"}
	for _, name := range names {
		w.write(name, "old "+name)
		w.write("dir/"+name, "old")
	}
	deep := strings.Repeat("deeper than PATH_MAX allows/", 30)
	makeDeep(t, w.root, deep+"x", "old") // 3 levels of 255 would do; this is 840 bytes
	target := w.now()
	for _, name := range names {
		must(t, os.Remove(w.file("dir/"+name)))
		w.write(name, "new")
	}
	makeDeep(t, w.root, deep+"x", "new content")
	w.restoreExactly(target)
}

func makeDeep(t *testing.T, root, path, data string) {
	file := filepath.Join(root, path)
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(data), 0o644))
}

// A path far beyond PATH_MAX: the restore works component by component.
func TestPathBeyondPathMax(t *testing.T) {
	w := newWorld(t)
	fsys := w.fs()
	const levels = 30
	name := strings.Repeat("d", 200)
	var path string
	var id oid.ID
	content := w.put([]byte("deep"))
	id = w.put(manifest.Dir{Entries: []manifest.Entry{{Name: "f", Kind: manifest.File, Mode: 0o644, Size: 4, ID: content}}}.Append(nil))
	for range levels {
		id = w.put(manifest.Dir{Entries: []manifest.Entry{{Name: name, Kind: manifest.Subdir, Mode: 0o755, Size: 4, Files: 1, ID: id}}}.Append(nil))
		path = rootfs.Join(name, path)
	}
	path = strings.TrimSuffix(path, "/")
	empty := w.now()
	w.restore(id)
	d, err := fsys.OpenDir(path)
	must(t, err)
	if info, err := d.Lstat("f"); err != nil || info.Size != 4 {
		t.Errorf("the deep file: %+v %v", info, err)
	}
	d.Close()
	o := Options{FS: fsys, Source: w.memStore, Current: id, Target: empty}
	p, err := NewPlan(t.Context(), o)
	must(t, err)
	must(t, p.Read(t.Context(), memSink{w.memStore}))
	_, err = p.Apply(t.Context(), w.options())
	must(t, err)
	w.same(empty, "after the way back")
}

// A content that the store cannot give is that path's failure; the others go on.
func TestDamagedContent(t *testing.T) {
	w := newWorld(t)
	w.write("whole", "old")
	w.write("damaged", "old, and lost")
	target := w.now()
	w.write("whole", "new")
	w.write("damaged", "new")
	p := w.plan(target)
	e, _, err := manifest.Find(w.Load, target, "damaged")
	must(t, err)
	delete(w.objects, e.ID)
	out, err := p.Apply(t.Context(), w.options())
	must(t, err)
	w.noTemps()
	if w.read(w.file("whole")) != "old" || w.read(w.file("damaged")) != "new" {
		t.Error("the trees are mixed up")
	}
	if len(out.Skips) != 1 || out.Skips[0].Path != "damaged" || !out.Skips[0].Failed {
		t.Errorf("skips %v", out.Skips)
	}
}
