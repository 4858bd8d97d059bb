package cas

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// tree is a file and the directories above it, each of which holds the id of the one below.
func tree(depth, version int) (objects [][]byte) {
	line := fmt.Appendf(nil, "version %d\n", version)
	objects = append(objects, append(append(text(1, 3000), line...), text(2, 3000)...))
	for i := range depth {
		below := oid.Sum(objects[i])
		objects = append(objects, append(append(text(uint64(i+10), 1000), below[:]...), text(uint64(i+50), 900)...))
	}
	return objects
}

// saveTree saves a version of a tree as the change of another, the file and the directories by writers of their own.
func saveTree(t testing.TB, s *Store, now, before [][]byte) (taken, counted int64) {
	t.Helper()
	b := s.NewBatch()
	for i, o := range now {
		base := oid.ID{}
		if before != nil {
			base = oid.Sum(before[i])
		}
		w := b.Writer()
		if _, err := w.Put(oid.Sum(o), o, base); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Join(); err != nil {
		t.Fatal(err)
	}
	for _, o := range now { // as it is staged
		if got, err := b.Get(nil, oid.Sum(o)); err != nil || !bytes.Equal(got, o) {
			t.Fatal("not what was staged", err)
		}
	}
	counted = b.StoredBytes()
	was := logSize(t, s)
	commitBatch(t, s, b, nil, "c")
	return logSize(t, s) - was, counted
}

func logSize(t testing.TB, s *Store) (size int64) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(s.o.Dir, "log-*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range logs {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	return size
}

// TestEditTakesLittleForEachDirectory: whichever writers had the deltas, they are in one block, which names each object once.
func TestEditTakesLittleForEachDirectory(t *testing.T) {
	s := testStore(t)
	taken := map[int]int64{}
	for _, depth := range []int{1, 5} {
		versions := [][][]byte{tree(depth, 1), tree(depth, 2), tree(depth, 3)}
		saveTree(t, s, versions[0], nil)
		saveTree(t, s, versions[1], versions[0])
		var counted int64
		taken[depth], counted = saveTree(t, s, versions[2], versions[1])
		if record := taken[depth] - counted; record < 0 || record > 50 {
			t.Errorf("%d bytes are taken, %d are counted", taken[depth], counted)
		}
		for _, again := range []*Store{s, reopen(t, s.o)} {
			for _, v := range versions {
				for _, o := range v {
					mustGet(t, again, o)
				}
			}
		}
	}
	if each := (taken[5] - taken[1]) / 4; each > 62 || taken[1] > 180 {
		t.Errorf("%d bytes, and %d for each directory more", taken[1], each)
	}
	check(t, s)
	ids := map[oid.ID]bool{}
	for _, o := range tree(5, 3) {
		ids[oid.Sum(o)] = true
	}
	repack(t, s, ids, nil)
	check(t, s)
	for _, o := range tree(5, 3) {
		mustGet(t, s, o)
	}
}

// TestPackOfAnEarlierVersionTakesNoMore: the program that wrote it could not read what this one adds.
func TestPackOfAnEarlierVersionTakesNoMore(t *testing.T) {
	s := testStore(t, func(o *Options) { o.Mirror = "" })
	saveTree(t, s, tree(2, 1), nil)
	o := s.o
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(o.Dir, "log-00000001.pack")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	older := pack.Header{Name: pack.Name{Kind: pack.Log, Tag: 1}, Store: o.StoreID, Older: true}
	copy(old, older.Append(nil))
	write(t, file, old)

	s = reopen(t, o)
	saveTree(t, s, tree(2, 2), tree(2, 1))
	saveTree(t, s, tree(2, 3), tree(2, 2))
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, old) {
		t.Error("the older pack was changed", err)
	}
	for version := 1; version <= 3; version++ {
		for _, o := range tree(2, version) {
			mustGet(t, s, o)
		}
	}
	if logs, _ := filepath.Glob(filepath.Join(o.Dir, "log-*.pack")); len(logs) != 2 {
		t.Errorf("the log is %q", logs)
	}
	check(t, s)
}
