package manifest

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
)

// bigWorld makes a tree of directories with 30 files each, and checkpoints that edit one file
// each, with the records of a day's work between them.
type bigWorld struct {
	*world
	random *rand.Rand
	top    Dir
	subs   []Dir
	seq    int
	root   oid.ID
	parent CheckpointID
}

func newBigWorld(files int) *bigWorld {
	b := &bigWorld{world: newWorld(), random: rand.New(rand.NewPCG(1, 2))}
	for i := range (files + 29) / 30 {
		var d Dir
		for j := range 30 {
			d.Entries = append(d.Entries, Entry{Name: fmt.Sprintf("source_file_%02d.c", j), Kind: File, Mode: 0o644,
				Size: uint64(b.random.IntN(40000)), ID: b.id()})
		}
		b.subs = append(b.subs, d)
		id := b.id()
		b.dirs[id] = d
		b.top.Entries = append(b.top.Entries, Entry{Name: fmt.Sprintf("directory_%05d", i), Kind: Subdir, Mode: 0o755, ID: id, Files: 30})
	}
	b.commit()
	return b
}

func (b *bigWorld) id() (id oid.ID) {
	for i := 0; i < len(id); i += 8 {
		binary.LittleEndian.PutUint64(id[i:], b.random.Uint64())
	}
	return id
}

func (b *bigWorld) commit() {
	delete(b.dirs, b.root)
	b.root = b.id()
	b.dirs[b.root] = Dir{Entries: append([]Entry(nil), b.top.Entries...)}
	c := Checkpoint{Time: at(b.seq), Kind: PreTool, Root: b.root, Files: 15000, Bytes: 200 << 20, Counts: Counts{Modified: 1}, Parent: b.parent,
		StoredBytes: 500, Agent: "claude", Tool: "Edit", Session: fmt.Sprintf("%08x-cb23-4d0c-9a58-2b9f1c1d0e11", b.seq/200),
		GitHead: "3f786850e387550fdab836ed7e6dc881de23001b", GitBranch: "main", Rules: oid.ID{1, 2, 3}}
	binary.LittleEndian.PutUint64(c.ID[:], b.random.Uint64())
	if b.seq%10 == 0 {
		c.Kind, c.Prompt = Prompt, "please rename the function and all of its callers, then run the tests"
	}
	if b.seq%50 == 49 {
		c.Kind = Safety
	}
	b.seq++
	b.parent = c.ID
	b.add(Record{Checkpoint: &c})
}

// edit changes one file and takes a checkpoint.
func (b *bigWorld) edit() {
	i := b.random.IntN(min(len(b.subs), 40))
	d := Dir{Entries: append([]Entry(nil), b.subs[i].Entries...)}
	d.Entries[b.random.IntN(30)].ID = b.id()
	b.subs[i] = d
	id := b.id()
	b.dirs[id] = d
	b.top.Entries[i].ID = id
	old := b.root
	keep := b.dirs[old]
	b.commit()
	b.dirs[old] = keep // the next fold compares with it
}

// folded makes a database of n checkpoints, folded every 50, and tells what it took.
func folded(tb testing.TB, n int) (Options, *bigWorld) {
	b := newBigWorld(15000)
	o := Options{Dir: filepath.Join(tb.TempDir(), "manifests")}
	var took, longest time.Duration
	for i := range n {
		b.edit()
		if i%50 == 49 || i == n-1 {
			start := time.Now()
			if err := Fold(background, o, b); err != nil {
				tb.Fatal(err)
			}
			took += time.Since(start)
			longest = max(longest, time.Since(start))
		}
	}
	bytes, tables := diskUse(tb, o.Dir)
	tb.Logf("%d checkpoints: %d bytes, %d tables; folds of 50: mean %v, longest %v", n, bytes, tables,
		took/time.Duration(max(n/50, 1)), longest)
	return o, b
}

func diskUse(tb testing.TB, dir string) (bytes int64, tables int) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if strings.HasSuffix(path, ".sst") {
			tables++
		}
		bytes += info.Size()
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return bytes, tables
}

// BenchmarkDatabase: what a command asks must cost the same with any number of checkpoints behind it.
func BenchmarkDatabase(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		if n > 10_000 && testing.Short() {
			continue
		}
		o, w := folded(b, n)
		b.Run(fmt.Sprintf("checkpoints=%d", n), func(b *testing.B) { benchmarkQueries(b, o, w) })
	}
}

func benchmarkQueries(b *testing.B, o Options, w *bigWorld) {
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			db, err := Open(background, o, w)
			if err != nil {
				b.Fatal(err)
			}
			db.Close()
		}
	})
	db, err := Open(background, o, w)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	last, _, err := db.Nth(1)
	if err != nil {
		b.Fatal(err)
	}
	for _, q := range []struct {
		name string
		ask  func() error
	}{
		{"last", func() error { _, _, err := db.Nth(1); return err }},
		{"list20", func() error {
			for c, err := range db.Checkpoints(Query{Limit: 20}) {
				if err != nil || db.Position(c.Seq) == 0 {
					return err
				}
			}
			return nil
		}},
		{"listAll", func() error {
			for _, err := range db.Checkpoints(Query{}) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"middle", func() error {
			n, _, _ := db.Count()
			c, _, err := db.Nth(n / 2)
			db.Position(c.Seq)
			return err
		}},
		{"prefix", func() error { _, err := db.ByPrefix(last.ID.String()[:6], 2); return err }},
		{"at", func() error { _, _, err := db.At(last.Time); return err }},
		{"changes", func() error {
			for _, err := range db.Changes(last.Seq) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"history", func() error {
			for _, err := range db.History("directory_00003/source_file_07.c") {
				if err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				if err := q.ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFirstFold folds the first checkpoint of a real tree: MANIFEST_TREE names its directory.
func BenchmarkFirstFold(b *testing.B) {
	w := &bigWorld{world: newWorld(), random: rand.New(rand.NewPCG(1, 2))}
	files := 0
	dir := os.Getenv("MANIFEST_TREE")
	if dir == "" {
		w, files = newBigWorld(79_000), 79_000
	} else {
		root := w.readTree(b, dir, &files)
		w.add(Record{Checkpoint: &Checkpoint{ID: CheckpointID{1}, Root: root}})
	}
	o := Options{Dir: filepath.Join(b.TempDir(), "manifests")}
	for b.Loop() {
		if err := os.RemoveAll(o.Dir); err != nil {
			b.Fatal(err)
		}
		if err := Fold(background, o, w); err != nil {
			b.Fatal(err)
		}
	}
	bytes, _ := diskUse(b, o.Dir)
	b.ReportMetric(float64(bytes)/1e6, "MB")
	b.ReportMetric(float64(bytes)/float64(files), "B/file")
}

func (b *bigWorld) readTree(tb testing.TB, dir string, files *int) oid.ID {
	list, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var d Dir
	for _, e := range list {
		entry := Entry{Name: e.Name(), Kind: File, Mode: 0o644, ID: b.id()}
		*files++
		switch {
		case e.IsDir():
			entry.Kind, entry.Mode = Subdir, 0o755
			entry.ID = b.readTree(tb, filepath.Join(dir, e.Name()), files)
		case e.Type()&fs.ModeSymlink != 0:
			entry = Entry{Name: e.Name(), Kind: Symlink, Target: "elsewhere"}
		default:
			info, err := e.Info()
			if err != nil {
				tb.Fatal(err)
			}
			entry.Size = uint64(info.Size())
		}
		d.Entries = append(d.Entries, entry)
	}
	id := b.id()
	b.dirs[id] = d
	return id
}
