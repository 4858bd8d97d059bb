//go:build linux || darwin

package treeio

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// memStore is a Source and a Sink in memory.
type memStore struct {
	mu      sync.Mutex
	objects map[oid.ID][]byte
}

func newStore() *memStore { return &memStore{objects: map[oid.ID][]byte{}} }

func (m *memStore) put(data []byte) oid.ID {
	id := oid.ID(sha256.Sum256(data))
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[id]; !ok {
		m.objects[id] = bytes.Clone(data)
	}
	return id
}

func (m *memStore) get(id oid.ID) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.objects[id]
	if !ok {
		return nil, errors.New("no such object")
	}
	return data, nil
}

func (m *memStore) Load(id oid.ID) (manifest.Dir, error) {
	data, err := m.get(id)
	if err != nil {
		return manifest.Dir{}, err
	}
	return manifest.ParseDir(data)
}

func (m *memStore) Open(e manifest.Entry) (io.ReadCloser, error) {
	data, err := m.get(e.ID)
	return io.NopCloser(bytes.NewReader(data)), err
}

// sink is the memStore's other half.
type memSink struct{ *memStore }

func (m memSink) Content(_ int, f io.Reader, _ int64, _ oid.ID) (manifest.Kind, oid.ID, int64, error) {
	data, err := io.ReadAll(f)
	if err != nil {
		return 0, oid.ID{}, 0, err
	}
	return manifest.File, m.put(data), int64(len(data)), nil
}

func (m memSink) Dir(_ int, data []byte, _ oid.ID) (oid.ID, error) {
	return m.put(data), nil
}

// scan captures a directory; ignored names are left out, and so is what a
// checkpoint never has.
func (m *memStore) scan(t testing.TB, root string, ignored ...string) oid.ID {
	t.Helper()
	var walk func(dir, rel string) (manifest.Dir, uint64, uint64)
	walk = func(dir, rel string) (d manifest.Dir, files, size uint64) {
		list, err := os.ReadDir(dir)
		if err != nil {
			return d, 0, 0 // unreadable: as a scan that names it in the coverage
		}
		for _, de := range list {
			name := de.Name()
			path := rootfs.Join(rel, name)
			if name == ".git" || rootfs.IsReserved(name) || slices.Contains(ignored, path) {
				continue
			}
			file := filepath.Join(dir, name)
			fi, err := os.Lstat(file)
			must(t, err)
			st := fi.Sys().(*syscall.Stat_t)
			e := manifest.Entry{Name: name, Mode: uint32(st.Mode) & 0o7777}
			switch {
			case fi.Mode().IsRegular():
				data, err := os.ReadFile(file)
				if errors.Is(err, fs.ErrPermission) {
					continue
				}
				must(t, err)
				e.Kind, e.Size, e.ID = manifest.File, uint64(len(data)), m.put(data)
				files++
			case fi.IsDir():
				sub, n, b := walk(file, path)
				e.Kind, e.Files, e.Size, e.ID = manifest.Subdir, n, b, m.put(sub.Append(nil))
				files += n
			case fi.Mode()&fs.ModeSymlink != 0:
				e.Kind, e.Mode = manifest.Symlink, 0
				e.Target, err = os.Readlink(file)
				must(t, err)
				files++
			default:
				continue
			}
			size += e.Size
			d.Entries = append(d.Entries, e)
		}
		slices.SortFunc(d.Entries, func(a, b manifest.Entry) int { return strings.Compare(a.Name, b.Name) })
		return d, files, size
	}
	d, _, _ := walk(root, "")
	return m.put(d.Append(nil))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a working tree with a store beside it.
type world struct {
	testing.TB
	*memStore
	root, store string
	ignored     []string
	wrap        func(rootfs.FS) rootfs.FS
	apply       ApplyOptions
	o           Options
}

func newWorld(t testing.TB) *world {
	dir := t.TempDir()
	w := &world{TB: t, memStore: newStore(), root: filepath.Join(dir, "root"), store: filepath.Join(dir, "store")}
	must(t, os.Mkdir(w.root, 0o755))
	return w
}

func (w *world) file(path string) string { return filepath.Join(w.root, path) }

func (w *world) write(path, data string) {
	w.Helper()
	must(w, os.MkdirAll(filepath.Dir(w.file(path)), 0o755))
	must(w, os.WriteFile(w.file(path), []byte(data), 0o644))
}

func (w *world) exists(path string) bool {
	_, err := os.Lstat(w.file(path))
	return err == nil
}

func (w *world) now() oid.ID { return w.scan(w, w.root, w.ignored...) }

func (w *world) fs() rootfs.FS {
	w.Helper()
	f, err := rootfs.Open(w.root)
	must(w, err)
	w.Cleanup(func() { f.Close() })
	if w.wrap != nil {
		f = w.wrap(f)
	}
	if _, bench := w.TB.(*testing.B); bench {
		return f
	}
	return calm{f}
}

// plan makes and reads the plan to bring the tree to target.
func (w *world) plan(target oid.ID) *Plan {
	w.Helper()
	o := w.o
	o.FS, o.Source, o.Current, o.Target = w.fs(), w.memStore, w.now(), target
	p, err := NewPlan(w.Context(), o)
	must(w, err)
	must(w, p.Read(w.Context(), memSink{w.memStore}))
	return p
}

func (w *world) options() ApplyOptions {
	o := w.apply
	o.Dir, o.Sink = w.store, memSink{w.memStore}
	return o
}

// restore brings the tree to target, and returns the plan and the outcome.
func (w *world) restore(target oid.ID) (*Plan, *Outcome) {
	w.Helper()
	p := w.plan(target)
	out, err := p.Apply(w.Context(), w.options())
	must(w, err)
	w.noTemps()
	return p, out
}

// restoreExactly fails unless the tree is then the target.
func (w *world) restoreExactly(target oid.ID) *Plan {
	w.Helper()
	p, out := w.restore(target)
	if len(out.Skips) > 0 {
		w.Fatalf("skipped: %v", out.Skips)
	}
	w.same(target, "after the restore")
	if p.After != target {
		w.Fatalf("the plan's After differs from the target")
	}
	return p
}

func (w *world) same(target oid.ID, when string) {
	w.Helper()
	if now := w.now(); now != target {
		w.diff(now, target, when)
	}
}

func (w *world) diff(is, should oid.ID, when string) {
	w.Helper()
	manifest.Diff(w.Load, is, should, func(c manifest.Change) error {
		w.Errorf("%s: %s: is %+v, should be %+v", when, c.Path, c.Old, c.New)
		return nil
	})
	w.Fatal(when)
}

// noTemps fails if a reserved name or a journal is left.
func (w *world) noTemps() {
	w.Helper()
	filepath.WalkDir(w.root, func(file string, d fs.DirEntry, err error) error {
		if err == nil && rootfs.IsReserved(d.Name()) {
			w.Fatalf("left behind: %s", file)
		}
		return nil
	})
	if _, err := os.Lstat(filepath.Join(w.store, journalName)); err == nil {
		w.Fatal("the journal is left behind")
	}
}
