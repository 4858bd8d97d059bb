package manifest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest/table"
)

var background = context.Background()

// diary is a small world in which something of everything happened.
func diary() *world {
	w := newWorld()
	t := tree{}
	for i := range 12 {
		d := fmt.Sprintf("d%d", i%3)
		t[d] = folderOf(0o755)
		t[fmt.Sprintf("%s/f%d", d, i%5)] = file(byte(i))
		c := Checkpoint{ID: CheckpointID{byte(i + 1)}, Time: at(i), Kind: Manual, Session: "s", Root: w.store(t)}
		if i%4 == 3 {
			c.Kind = Safety
		}
		w.add(Record{Checkpoint: &c})
	}
	name := "first"
	w.add(Record{Mark: &Mark{Checkpoint: CheckpointID{1}, Name: &name}})
	w.add(Record{Delete: &Delete{Checkpoints: []CheckpointID{{2}, {3}}}})
	w.add(Record{Operation: &Operation{Kind: OpRestore, Checkpoint: CheckpointID{1}}})
	w.add(Record{Session: &Session{ID: "s", Agent: "claude"}})
	return w
}

// upTo is the world when its log had n records.
func (w *world) upTo(n int) *world {
	return &world{log: w.log[:n], dirs: w.dirs, gone: w.gone}
}

func mustFold(t *testing.T, o Options, w *world) {
	t.Helper()
	if err := Fold(background, o, w); err != nil {
		t.Fatal(err)
	}
}

// check opens the database and compares everything; damage is an error unless expected.
func check(t *testing.T, o Options, w *world) {
	t.Helper()
	db, err := Open(background, o, w)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	m := newModel(w)
	m.check(t, db)
	m.checkReplay(t)
	if err := db.Damaged(); err != nil {
		t.Errorf("damaged: %v", err)
	}
}

func inTemp(t *testing.T) Options { return Options{Dir: filepath.Join(t.TempDir(), "manifests")} }

// A generation is a Badger database: badger.Open reads the same keys and values.
func TestGenerationIsABadgerDatabase(t *testing.T) {
	o, w := inTemp(t), diary()
	for _, n := range []int{3, 7, 8, len(w.log)} {
		mustFold(t, o, w.upTo(n))
	}
	gen, err := openCurrent(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	want := map[string]string{}
	if err := gen.Runs.Ascend(nil, func([]byte) bool { return true }, func(key, value []byte) error {
		want[string(key)] = string(value)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	db, err := badger.Open(badger.DefaultOptions(gen.name).WithReadOnly(true).WithLogger(nil).WithBypassLockGuard(true))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	got := map[string]string{}
	err = db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			v, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			got[string(it.Item().KeyCopy(nil))] = string(v)
		}
		for key, value := range want {
			item, err := txn.Get([]byte(key))
			if err != nil {
				return fmt.Errorf("%q: %w", key, err)
			}
			if v, err := item.ValueCopy(nil); err != nil || string(v) != value {
				return fmt.Errorf("%q is %q, want %q (%v)", key, v, value, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 50 || !maps.Equal(got, want) {
		t.Errorf("badger reads %d keys, we %d", len(got), len(want))
	}
}

// Short sessions must not leave a table each.
func TestRunsStayFew(t *testing.T) {
	o, w := inTemp(t), newWorld()
	tr := tree{}
	for i := range 200 {
		tr[fmt.Sprintf("f%03d", i)] = file(1)
	}
	most := 0
	for i := range 120 {
		tr[fmt.Sprintf("f%03d", i%200)] = file(byte(i))
		w.add(Record{Checkpoint: &Checkpoint{ID: CheckpointID{1, byte(i)}, Root: w.store(tr), Time: at(i)}})
		mustFold(t, o, w)
		tables, err := filepath.Glob(filepath.Join(o.Dir, "*", "*.sst"))
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, len(tables))
	}
	if most > table.MaxRuns+1 || most < 2 {
		t.Errorf("up to %d tables", most)
	}
	check(t, o, w)
}

// A name that was taken away stays away when the runs that say so are merged above an older one.
func TestTakenAwayAboveALargeRun(t *testing.T) {
	o, w := inTemp(t), newWorld()
	tr := tree{}
	for i := range 3000 {
		e := file(byte(i))
		e.ID = oid.ID{byte(i), byte(i >> 8), 3}
		e.ID[9], e.ID[20] = byte(i*7), byte(i*13)
		tr[fmt.Sprintf("some-file-%04d", i)] = e
	}
	w.add(Record{Checkpoint: &Checkpoint{ID: CheckpointID{1}, Root: w.store(tr), Name: "mine", Time: at(1)}})
	mustFold(t, o, w)
	none := ""
	w.add(Record{Mark: &Mark{Checkpoint: CheckpointID{1}, Name: &none}})
	mustFold(t, o, w)
	yes := true
	for range 3 {
		w.add(Record{Mark: &Mark{Checkpoint: CheckpointID{1}, Pinned: &yes}})
		mustFold(t, o, w)
	}
	gen, err := openCurrent(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(gen.Runs); n != 2 {
		t.Errorf("%d runs: the test is about two", n)
	}
	if err := gen.Close(); err != nil {
		t.Fatal(err)
	}
	check(t, o, w)
}

func TestFoldWithNothingNewWritesNothing(t *testing.T) {
	o, w := inTemp(t), diary()
	mustFold(t, o, w)
	before := listing(t, o.Dir)
	mustFold(t, o, w)
	if after := listing(t, o.Dir); !maps.Equal(before, after) {
		t.Errorf("files changed from %v to %v", before, after)
	}
	empty := inTemp(t)
	mustFold(t, empty, newWorld())
	check(t, empty, newWorld())
}

// listing maps the files below dir to their bytes.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestModesAndOwners(t *testing.T) {
	o, w := inTemp(t), diary()
	owned := map[string]bool{}
	o.Owner = func(file string) error { owned[file] = true; return nil }
	mustFold(t, o, w.upTo(5))
	mustFold(t, o, w)
	err := filepath.WalkDir(o.Dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		// The pointer was given away under its temporary name.
		if !owned[path] && !owned[path+".new"] && !strings.HasSuffix(path, ".sst") {
			t.Errorf("%s was not given to its owner", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadOnlyNeverWrites(t *testing.T) {
	o, w := inTemp(t), diary()
	mustFold(t, o, w.upTo(8))
	before := listing(t, o.Dir)
	o.ReadOnly = true
	check(t, o, w)
	if err := Fold(background, o, w); !errors.Is(err, os.ErrPermission) {
		t.Errorf("Fold: %v", err)
	}
	if after := listing(t, o.Dir); !maps.Equal(before, after) {
		t.Error("files changed")
	}
}

// Folds at once, beside readers: one at a time, no reader waits or fails.
func TestConcurrentFoldsAndReaders(t *testing.T) {
	o, w := inTemp(t), diary()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := i; n < len(w.log); n += 4 {
				if err := Fold(background, o, w); err != nil {
					t.Errorf("fold: %v", err)
				}
			}
		})
		wg.Go(func() {
			for range 8 {
				db, err := Open(background, o, w)
				if err != nil {
					t.Errorf("open: %v", err)
					return
				}
				if c, ok, err := db.ByName("first"); !ok || err != nil || c.ID != (CheckpointID{1}) {
					t.Errorf("%v, %v, %v", c.ID, ok, err)
				}
				if err := db.Damaged(); err != nil {
					t.Errorf("damaged: %v", err)
				}
				db.Close()
			}
		})
	}
	wg.Wait()
	check(t, o, w)
}

func TestOpenHonoursContext(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := Open(ctx, inTemp(t), diary()); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: %v", err)
	}
	if err := Fold(ctx, inTemp(t), diary()); !errors.Is(err, context.Canceled) {
		t.Errorf("Fold: %v", err)
	}
}
