package scan

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// memory is a Sink that keeps manifests and the ids of contents.
type memory struct {
	root    string // what file names may begin with
	mu      sync.Mutex
	dirs    map[oid.ID][]byte
	files   map[oid.ID]string
	reads   []string                      // paths read
	prevs   map[string]oid.ID             // what a path was read with
	during  func(f *os.File, path string) // called in the middle of reading
	each    func(r io.Reader)             // called before it
	other   func(path, text string) string
	blank   bool // keeps the content of the last file only
	failing error
	loads   int
	noLoad  bool
	lean    bool // keeps nothing of files, and manifests not at all
}

func newMemory() *memory {
	return &memory{dirs: map[oid.ID][]byte{}, files: map[oid.ID]string{}, prevs: map[string]oid.ID{}}
}

func (m *memory) Content(_ int, r io.Reader, _ int64, prev oid.ID) (manifest.Kind, oid.ID, int64, error) {
	f := r.(*content)
	if m.failing != nil {
		return 0, oid.ID{}, 0, m.failing
	}
	if m.lean {
		h := sha256.New()
		n, err := io.Copy(h, f)
		return manifest.File, oid.ID(h.Sum(nil)), n, err
	}
	if m.each != nil {
		m.each(f)
	}
	data, err := io.ReadAll(f)
	if m.during != nil {
		m.during(f.f, strings.TrimPrefix(f.Path(), m.root))
	}
	if err != nil {
		return 0, oid.ID{}, 0, err
	}
	name := strings.TrimPrefix(f.Path(), m.root)
	if m.other != nil {
		data = []byte(m.other(name, string(data)))
	}
	id := oid.ID(sha256.Sum256(data))
	m.mu.Lock()
	if m.blank {
		clear(m.files)
	}
	m.files[id] = string(data)
	m.reads = append(m.reads, name)
	m.prevs[name] = prev
	m.mu.Unlock()
	return manifest.File, id, int64(len(data)), nil
}

func (m *memory) Dir(_ int, data []byte, _ oid.ID) (oid.ID, error) {
	id := oid.ID(sha256.Sum256(data))
	if m.lean {
		return id, nil
	}
	m.mu.Lock()
	m.dirs[id] = slices.Clone(data)
	m.mu.Unlock()
	return id, nil
}

func (m *memory) Load(id oid.ID) (manifest.Dir, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loads++
	data, ok := m.dirs[id]
	if !ok || m.noLoad {
		return manifest.Dir{}, fmt.Errorf("no manifest %x", id[:4])
	}
	return manifest.ParseDir(data)
}

// content is a captured file's, directly below the root.
func (m *memory) content(t failer, root oid.ID, name string) string {
	t.Helper()
	d, err := m.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := d.Lookup(name)
	return m.files[e.ID]
}

// tree lists a captured tree: path to a line that says all about it.
func (m *memory) tree(t failer, root oid.ID) map[string]string {
	t.Helper()
	out := map[string]string{}
	var walk func(path string, id oid.ID) (files, bytes uint64)
	walk = func(path string, id oid.ID) (files, bytes uint64) {
		d, err := m.Load(id)
		if err != nil {
			t.Fatalf("manifest of %q: %v", path, err)
		}
		for _, e := range d.Entries {
			p := rootfs.Join(path, e.Name)
			switch e.Kind {
			case manifest.Subdir:
				out[p] = fmt.Sprintf("dir %o", e.Mode)
				f, b := walk(p, e.ID)
				if f != e.Files || b != e.Size {
					t.Fatalf("%q: %d files, %d bytes; the manifest says %d, %d", p, f, b, e.Files, e.Size)
				}
				files, bytes = files+f, bytes+b
			case manifest.Symlink:
				out[p] = "link " + e.Target
				files++
			default:
				out[p] = fmt.Sprintf("file %o %q", e.Mode, m.files[e.ID])
				files, bytes = files+1, bytes+e.Size
			}
		}
		return files, bytes
	}
	walk("", root)
	return out
}

// failer is what testing.T and rapid.T have in common.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// project is a tree with a stat cache beside it.
type project struct {
	t     failer
	dir   string // of the tree
	cache string // file
	sink  *memory
	opts  Options // what is different from the usual
	n     int
}

func newProject(t testing.TB) *project {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: filepath.Join(base, "tree"), cache: filepath.Join(base, "head"), sink: newMemory()}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.sink.root = p.dir + "/"
	p.opts.Rules = compile(t, ignore.Config{})
	return p
}

func compile(t testing.TB, c ignore.Config) *ignore.Rules {
	t.Helper()
	r, err := ignore.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// settle waits until nothing in the tree is racy any more.
func settle() { time.Sleep(fineGrain + 15*time.Millisecond) }

// options for a scan that starts now, with the stat cache on disk.
func (p *project) options(cache bool) Options {
	p.t.Helper()
	o := p.opts
	o.Root, o.Sink, o.Start = p.dir, p.sink, time.Now()
	if o.Workers == 0 {
		o.Workers = 3
	}
	if cache {
		h, err := LoadCache(p.cache)
		if err != nil {
			p.t.Fatal(err)
		}
		o.Cache = h
	}
	return o
}

// scan runs with the stat cache and publishes.
func (p *project) scan() *Result {
	p.t.Helper()
	p.sink.reads = nil
	r, err := Run(context.Background(), p.options(true))
	if err != nil {
		p.t.Fatal(err)
	}
	p.n++
	if err := r.Publish(p.cache, Stamp{byte(p.n), 0, byte(p.n >> 8)}, nil); err != nil {
		p.t.Fatal(err)
	}
	return r
}

// plain scans without a stat cache, into the same sink.
func (p *project) plain() *Result {
	p.t.Helper()
	o := p.options(false)
	reads, prevs := p.sink.reads, maps.Clone(p.sink.prevs)
	r, err := Run(context.Background(), o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.sink.reads, p.sink.prevs = reads, prevs
	return r
}

// check scans twice, with the stat cache and without, and wants the same.
func (p *project) check() *Result {
	p.t.Helper()
	r := p.scan()
	want := p.plain()
	if r.Root != want.Root {
		p.t.Fatalf("with the stat cache:\n%swithout:\n%s", show(p.sink.tree(p.t, r.Root)), show(p.sink.tree(p.t, want.Root)))
	}
	if r.Files != want.Files || r.Bytes != want.Bytes {
		p.t.Fatalf("%d files, %d bytes; want %d, %d", r.Files, r.Bytes, want.Files, want.Bytes)
	}
	if !slices.Equal(r.Problems, want.Problems) {
		p.t.Fatalf("problems with the stat cache:\n%v\nwithout:\n%v", r.Problems, want.Problems)
	}
	return r
}

func show(m map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "  %q %s\n", k, m[k])
	}
	return b.String()
}

func (p *project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *project) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) do(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) want(r *Result, want map[string]string) {
	p.t.Helper()
	if got := p.sink.tree(p.t, r.Root); !maps.Equal(got, want) {
		p.t.Fatalf("got:\n%swant:\n%s", show(got), show(want))
	}
}

// both runs a test on the best and on the portable paths.
func both(t *testing.T, test func(t *testing.T, p *project)) {
	t.Run("best", func(t *testing.T) { test(t, newProject(t)) })
	t.Run("portable", func(t *testing.T) {
		p := newProject(t)
		p.opts.portable = true
		test(t, p)
	})
}

func TestFirstScanAndEdit(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		p.write("a.txt", "one")
		p.write("dir/sub/b.txt", "two")
		p.write("dir/c.txt", "three")
		p.do(os.Mkdir(p.path("empty"), 0o750))
		p.do(os.Symlink("nowhere", p.path("link")))
		p.do(os.Chmod(p.path("dir/c.txt"), 0o755))
		settle()
		r := p.check()
		want := map[string]string{
			"a.txt": `file 644 "one"`, "dir": "dir 755", "dir/sub": "dir 755", "dir/sub/b.txt": `file 644 "two"`,
			"dir/c.txt": `file 755 "three"`, "empty": "dir 750", "link": "link nowhere",
		}
		p.want(r, want)
		if r.Unchanged || r.Files != 4 || r.Bytes != 11 || r.Read != 3 {
			t.Fatalf("%+v", r)
		}
		r = p.check()
		if !r.Unchanged || r.Read != 0 || len(p.sink.reads) != 0 || r.top != nil {
			t.Fatalf("an unchanged tree: %+v, read %q", r, p.sink.reads)
		}
		p.write("dir/sub/b.txt", "TWO")
		settle() // else it is read twice
		before, _ := os.Stat(p.cache)
		r = p.check()
		want["dir/sub/b.txt"] = `file 644 "TWO"`
		p.want(r, want)
		if r.Unchanged || !slices.Equal(p.sink.reads, []string{"dir/sub/b.txt"}) {
			t.Fatalf("%+v, read %q", r, p.sink.reads)
		}
		if p.sink.prevs["dir/sub/b.txt"] != oid.ID(sha256.Sum256([]byte("two"))) {
			t.Fatal("the sink was not told the version before")
		}
		after, _ := os.Stat(p.cache)
		if !os.SameFile(before, after) || after.Size()-before.Size() > 200 {
			t.Fatalf("the delta of a one-line edit takes %d bytes", after.Size()-before.Size())
		}
		t.Logf("delta: %d bytes", after.Size()-before.Size())
		settle()
		p.check() // reads the file again, if it was racy, and remembers that
		r = p.check()
		if !r.Unchanged || r.top != nil {
			t.Fatalf("%+v, read %q", r, p.sink.reads)
		}
	})
}

func TestRunErrors(t *testing.T) {
	p := newProject(t)
	p.write("a", "x")
	o := p.options(false)
	o.Root += "x"
	if _, err := Run(context.Background(), o); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("root gone: %v", err)
	}
	full := errors.New("disk full")
	p.sink.failing = full
	if _, err := Run(context.Background(), p.options(false)); !errors.Is(err, full) {
		t.Fatalf("sink failed: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, p.options(false)); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	runtime.GC()
}
