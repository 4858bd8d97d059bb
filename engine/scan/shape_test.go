//go:build unix

package scan

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/manifest"
)

func TestWideDirectory(t *testing.T) {
	count := 20000
	if testing.Short() {
		count = 3 * runEntries
	}
	p := newProject(t)
	for i := range count {
		p.do(os.WriteFile(p.path(fmt.Sprintf("f%05d", i)), nil, 0o644))
	}
	settle()
	p.check()
	if r := p.check(); r.top != nil || r.Files != uint64(count) {
		t.Fatalf("%d files", r.Files)
	}
	// One in each of the pieces that workers share.
	var want []string
	for i := runEntries / 2; i < count; i += runEntries {
		name := fmt.Sprintf("f%05d", i)
		p.write(name, "x")
		want = append(want, name)
	}
	settle() // else they are read twice
	p.check()
	slices.Sort(p.sink.reads)
	if !slices.Equal(p.sink.reads, want) {
		t.Fatalf("read %q", p.sink.reads)
	}
	// Names come and go: the directory is listed, and workers share the looks at its entries.
	want = nil
	for i := manyLooks / 2; i < count; i += manyLooks {
		name := fmt.Sprintf("f%05d", i)
		p.write(name, "other")
		want = append(want, name)
	}
	p.do(os.Rename(p.path("f00001"), p.path("g")))
	want = append(want, "g")
	for _, name := range []string{"f00002", "f00003", "f00004"} {
		p.do(os.Remove(p.path(name)))
	}
	p.do(os.Mkdir(p.path("f00003"), 0o755))
	p.do(os.Symlink("g", p.path("f00004")))
	settle()
	p.check()
	slices.Sort(p.sink.reads)
	if !slices.Equal(p.sink.reads, want) {
		t.Fatalf("read %q", p.sink.reads)
	}
}

// TestDeepTree goes far below what a path can name, with something beside
// some steps, so that directories are opened again on the way back.
func TestDeepTree(t *testing.T) {
	t.Run("2000", func(t *testing.T) { testDeepTree(t, 2000) })
	if !testing.Short() {
		t.Run("10000", func(t *testing.T) { testDeepTree(t, 10000) })
	}
}

func testDeepTree(t *testing.T, depth int) {
	p := newProject(t)
	root, err := os.OpenRoot(p.dir)
	p.do(err)
	for i := range depth {
		if i%10 == 0 {
			p.do(root.Mkdir("a", 0o755))
		}
		p.do(root.Mkdir("d", 0o755))
		next, err := root.OpenRoot("d")
		p.do(err)
		p.do(root.Close())
		root = next
	}
	p.do(root.WriteFile("file", []byte("1"), 0o644))
	t.Cleanup(func() { _ = os.RemoveAll(p.dir) })
	settle()
	before := openFiles(t)
	r := p.scan()
	if depth > manifest.MaxDepth {
		below := problem.Read(strings.Repeat("d/", manifest.MaxDepth)+"d", "deeper than 4096 directories", true)
		if r.Files != 0 || !slices.Equal(r.Problems, []problem.Problem{below}) {
			t.Fatalf("%d files, %d problems", r.Files, len(r.Problems))
		}
	} else if r.Files != 1 || len(r.Problems) != 0 {
		t.Fatalf("%d files, %d problems", r.Files, len(r.Problems))
	}
	again := p.scan()
	if !again.Unchanged || again.Read != 0 || !slices.Equal(again.Problems, r.Problems) {
		t.Fatal("changed")
	}
	p.do(root.WriteFile("file", []byte("2"), 0o644))
	if r = p.scan(); r.Unchanged != (r.Files == 0) {
		t.Fatalf("%d read", r.Read)
	}
	if want := p.plain(); want.Root != r.Root {
		t.Fatal("another root without the stat cache")
	}
	p.do(root.Close())
	if after := openFiles(t); after > before {
		t.Fatalf("%d files open, %d before", after, before)
	}
}

func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs /proc")
	}
	return len(list)
}

// TestLongPath is one of 4,000 characters, which programs can still name.
func TestLongPath(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		name := strings.Repeat(strings.Repeat("n", 199)+"/", 19) + "file"
		p.write(name, "x")
		settle()
		r := p.check()
		if got := p.sink.tree(t, r.Root)[name]; got != `file 644 "x"` {
			t.Fatal(got)
		}
		p.write(name, "y")
		r = p.check()
		if got := p.sink.tree(t, r.Root)[name]; got != `file 644 "y"` {
			t.Fatal(got)
		}
	})
}

func TestEmptyTree(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		settle()
		r := p.check()
		if r.Files != 0 || r.Root != oid.ID(sha256.Sum256([]byte{0xD1})) {
			t.Fatalf("%+v", r)
		}
		if r = p.check(); !r.Unchanged || r.top != nil {
			t.Fatal("changed")
		}
	})
}

// TestRuleFiles: they decide anew about everything below, and only that.
func TestRuleFiles(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		p.write("a.o", "1")
		p.write("in/.gitignore", "*.o\n")
		p.write("in/b.o", "2")
		p.write("in/deep/c.o", "3")
		p.write("in/deep/d.c", "4")
		p.write("out/e.o", "5")
		settle()
		want := map[string]string{
			"a.o": `file 644 "1"`, "in": "dir 755", "in/.gitignore": `file 644 "*.o\n"`,
			"in/deep": "dir 755", "in/deep/d.c": `file 644 "4"`, "out": "dir 755", "out/e.o": `file 644 "5"`,
		}
		p.want(p.check(), want)
		// The same size, and the time put back.
		info, err := os.Stat(p.path("in/.gitignore"))
		p.do(err)
		p.write("in/.gitignore", "*.c\n")
		p.do(os.Chtimes(p.path("in/.gitignore"), time.Time{}, info.ModTime()))
		delete(want, "in/deep/d.c")
		want["in/.gitignore"], want["in/b.o"], want["in/deep/c.o"] = `file 644 "*.c\n"`, `file 644 "2"`, `file 644 "3"`
		p.want(p.check(), want)
		if !slices.Contains(p.sink.reads, "in/b.o") || slices.Contains(p.sink.reads, "out/e.o") {
			t.Fatalf("read %q", p.sink.reads)
		}
		// A rule file that ignores itself still rules, and is captured.
		p.write("in/.gitignore", "*.c\n.gitignore\n")
		want["in/.gitignore"] = `file 644 "*.c\n.gitignore\n"`
		settle()
		p.want(p.check(), want)
		p.write("in/.gitignore", ".gitignore\n")
		want["in/.gitignore"] = `file 644 ".gitignore\n"`
		want["in/deep/d.c"] = `file 644 "4"`
		p.want(p.check(), want)
		// Other rules from outside.
		p.opts.Rules = compile(t, ignore.Config{Ignore: []string{"out"}})
		delete(want, "out")
		delete(want, "out/e.o")
		p.want(p.check(), want)
		settle()
		p.check()
		if r := p.check(); r.top != nil {
			t.Fatal("the rules are not remembered")
		}
	})
}

// TestDirectoryIdentity: a directory that took another's name is not taken for it.
func TestDirectoryIdentity(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		for _, d := range []string{"one", "two"} {
			p.write(d+"/sub/file", d)
		}
		settle()
		p.check()
		p.do(os.Rename(p.path("one"), p.path("three")))
		p.do(os.Rename(p.path("two"), p.path("one")))
		r := p.check()
		if got := p.sink.tree(t, r.Root)["one/sub/file"]; got != `file 644 "two"` {
			t.Fatal(got)
		}
		p.do(os.Rename(p.path("one"), p.path("four")))
		p.do(os.Symlink("four", p.path("one")))
		p.want(p.check(), map[string]string{
			"one": "link four", "four": "dir 755", "four/sub": "dir 755", "four/sub/file": `file 644 "two"`,
			"three": "dir 755", "three/sub": "dir 755", "three/sub/file": `file 644 "one"`,
		})
	})
}

func TestRehash(t *testing.T) {
	p := newProject(t)
	p.write("a", "1")
	p.write("dir/b", "2")
	settle()
	p.check()
	p.opts.Rehash = true
	r := p.scan()
	if !r.Unchanged || r.Read != 2 || p.sink.prevs["dir/b"] == (oid.ID{}) {
		t.Fatalf("%+v", r)
	}
}

// TestLostManifest: a manifest that the store has lost costs a full scan, no error.
func TestLostManifest(t *testing.T) {
	p := newProject(t)
	p.write("a", "1")
	p.write("dir/b", "2")
	settle()
	p.check()
	p.write("a", "3")
	p.sink.noLoad = true
	r := p.scan()
	p.sink.noLoad = false
	p.want(r, map[string]string{"a": `file 644 "3"`, "dir": "dir 755", "dir/b": `file 644 "2"`})
	if want := p.plain(); want.Root != r.Root {
		t.Fatal("another root")
	}
	if h, err := LoadCache(p.cache); err != nil || h.Root() != r.Root {
		t.Fatal("the stat cache was not replaced")
	}
}

// exclusive is a Sink that sees whether two goroutines are the same worker.
type exclusive struct {
	*memory
	busy   [4]atomic.Bool
	shared atomic.Bool
	after  func()
}

func (s *exclusive) Content(worker int, f io.Reader, size int64, prev oid.ID) (manifest.Kind, oid.ID, int64, error) {
	if !s.busy[worker].CompareAndSwap(false, true) {
		s.shared.Store(true)
	}
	defer s.busy[worker].Store(false)
	if s.after != nil {
		s.after()
	}
	return s.memory.Content(worker, f, size, prev)
}

func TestWorkersAndCancel(t *testing.T) {
	p := newProject(t)
	for i := range 600 {
		p.write(fmt.Sprintf("d%d/e%d/f%d", i%7, i%3, i), "x")
	}
	sink := &exclusive{memory: p.sink}
	o := p.options(false)
	o.Sink, o.Workers = sink, 4
	calls := 0
	o.Progress = func(files, _ int64) { calls++ }
	r := must(t)(Run(context.Background(), o))
	if sink.shared.Load() || calls == 0 || r.Files != 600 {
		t.Fatalf("worker shared: %v; %d calls of Progress; %d files", sink.shared.Load(), calls, r.Files)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var count atomic.Int32
	sink.after = func() {
		if count.Add(1) == 20 {
			cancel()
		}
	}
	before := openFiles(t)
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := count.Load(); n > 200 {
		t.Fatalf("%d files were read after the end", n)
	}
	// On a busy machine, workers can be left behind that end a moment later: see letGo.
	after := openFiles(t)
	for until := time.Now().Add(10 * time.Second); after > before && time.Now().Before(until); after = openFiles(t) {
		time.Sleep(time.Millisecond)
	}
	if after > before {
		t.Fatalf("%d files open, %d before", after, before)
	}
}

// TestNoAllocationPerFile: an unchanged scan allocates for the stat cache, the
// workers and the result, and nothing for a file.
func TestNoAllocationPerFile(t *testing.T) {
	p := newProject(t)
	allocations := func() float64 {
		settle()
		p.scan()
		p.scan()
		o := p.options(true)
		return testing.AllocsPerRun(3, func() {
			h, err := LoadCache(p.cache)
			p.do(err)
			o.Cache = h
			if r := must(t)(Run(context.Background(), o)); r.top != nil {
				t.Fatal("changed")
			}
		})
	}
	p.write("dir/file", "x")
	few := allocations()
	for i := range 1500 {
		p.write(fmt.Sprintf("dir/d%d/file%d", i%50, i), "x")
	}
	if many := allocations(); many > few+50 {
		t.Fatalf("%v allocations for 1 file, %v for 1,500 in 50 directories", few, many)
	}
}
