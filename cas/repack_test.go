package cas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// storeBytes is the size of all packs.
func storeBytes(t testing.TB, s *Store) int64 {
	t.Helper()
	names, err := s.names()
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	for _, p := range names {
		info, err := s.fs.Lstat(filepath.Join(s.o.Dir, p.File()))
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// check verifies the store to the last byte.
func check(t testing.TB, s *Store) {
	t.Helper()
	for _, readData := range []bool{false, true} {
		v, err := s.Verify(context.Background(), readData, func(d Damage) {
			t.Errorf("damage (data %v): %+v", readData, d)
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v.Packs == 0 {
			t.Error("verify saw no pack")
		}
	}
}

func repack(t testing.TB, s *Store, live map[oid.ID]bool, keep func(Commit) bool) bool {
	t.Helper()
	if keep == nil {
		keep = func(Commit) bool { return true }
	}
	plan, err := s.PlanRepack(RepackOptions{Recompress: true}, func(id oid.ID) bool { return live[id] }, keep)
	if err != nil {
		t.Fatal(err)
	}
	done, err := plan.Apply(context.Background(), func(Commit) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestRepackDropsWhatIsDead(t *testing.T) {
	s := testStore(t)
	live := map[oid.ID]bool{}
	var alive, dead [][]byte
	for i := range 40 {
		o := noise(uint64(i), 50_000)
		if i%4 == 0 {
			alive = append(alive, o)
			live[oid.Sum(o)] = true
		} else {
			dead = append(dead, o)
		}
		save(t, s, fmt.Sprint(i), o)
	}
	before := storeBytes(t, s)
	generation, _ := s.Generation()
	if !repack(t, s, live, func(c Commit) bool { return c.Seq%2 == 0 }) {
		t.Fatal("not done")
	}
	if after := storeBytes(t, s); after > before/3 {
		t.Errorf("%d bytes before, %d after", before, after)
	}
	if g, _ := s.Generation(); g == generation {
		t.Error("the generation is the same")
	}
	for _, st := range []*Store{s, reopen(t, s.o)} {
		for _, o := range alive {
			mustGet(t, st, o)
		}
		for _, o := range dead {
			var missing *NotFoundError
			if _, err := st.Get(nil, oid.Sum(o)); !errors.As(err, &missing) {
				t.Fatalf("a dead object: %v", err)
			}
		}
		if got := payloads(t, st, 0); len(got) != 20 || got[0] != "2:1" || got[19] != "40:39" {
			t.Fatal(got)
		}
	}
	check(t, s)
	if err := s.Mirrored(); err != nil {
		t.Error(err)
	}
	next := save(t, s, "after", []byte("more"))
	if next.Seq != 41 {
		t.Errorf("sequence number %d after 40", next.Seq)
	}
	if got := payloads(t, s, 40); len(got) != 2 {
		t.Fatal(got)
	}
	mirror, _ := os.ReadDir(s.o.Mirror)
	names, _ := s.names()
	if len(mirror) != len(names)+1 { // and the list of what was dropped
		t.Errorf("%d names in the mirror for %d packs", len(mirror), len(names))
	}
}

func TestRepackRebasesDeltas(t *testing.T) {
	s := testStore(t)
	versions := [][]byte{text(1, 60_000)}
	save(t, s, "v0", versions[0])
	live := map[oid.ID]bool{}
	for i := range 30 {
		last := versions[len(versions)-1]
		next := append([]byte(fmt.Sprintf("edit %d\n", i)), last...)
		b := s.NewBatch()
		w := b.Writer()
		if _, err := w.Put(oid.Sum(next), next, oid.Sum(last)); err != nil {
			t.Fatal(err)
		}
		commitBatch(t, s, b, w, "edit")
		versions = append(versions, next)
	}
	for i, v := range versions {
		live[oid.Sum(v)] = i%7 == 3
	}
	if !repack(t, s, live, nil) {
		t.Fatal("not done")
	}
	again := reopen(t, s.o)
	for i, v := range versions {
		if live[oid.Sum(v)] {
			mustGet(t, again, v)
		} else if ok, err := again.Has(oid.Sum(v)); ok || err != nil {
			t.Errorf("version %d is still there (%v)", i, err)
		}
	}
	info, err := again.Info(oid.Sum(versions[10]))
	if err != nil || !info.Delta {
		t.Errorf("version 10 is no delta any more: %+v %v", info, err)
	}
	if n := storeBytes(t, again); n > 30_000 {
		t.Errorf("%d bytes", n)
	}
	check(t, again)
}

// A base in a pack that stays is kept although nobody else needs it.
func TestRepackKeepsBasesOfPacksThatStay(t *testing.T) {
	s := testStore(t)
	base := text(1, 400_000)
	// The base goes into a data pack, with much that dies.
	b := s.NewBatch()
	w := b.Writer()
	w.Put(oid.Sum(base), base, oid.ID{})
	for i := range 120 {
		o := noise(uint64(i), 100_000)
		w.Put(oid.Sum(o), o, oid.ID{})
	}
	commitBatch(t, s, b, w, "bulk")
	edited := append([]byte("edit"), base...)
	b = s.NewBatch()
	w = b.Writer()
	w.Put(oid.Sum(edited), edited, oid.Sum(base))
	commitBatch(t, s, b, w, "edit")
	if info, _ := s.Info(oid.Sum(edited)); !info.Delta {
		t.Fatal("not a delta")
	}
	plan, err := s.PlanRepack(RepackOptions{}, func(id oid.ID) bool { return id == oid.Sum(edited) }, func(Commit) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if plan.logs {
		t.Fatal("the log is rewritten: the test means another case")
	}
	if done, err := plan.Apply(context.Background(), func(Commit) error { return nil }); !done || err != nil {
		t.Fatal(done, err)
	}
	mustGet(t, reopen(t, s.o), edited)
	if n := storeBytes(t, s); n > 1<<20 {
		t.Errorf("%d bytes", n)
	}
	check(t, s)
}

func TestRepackIsDeferredWhileSomebodyReads(t *testing.T) {
	s := testStore(t)
	keep, drop := noise(1, 50_000), noise(2, 500_000)
	save(t, s, "one", keep)
	save(t, s, "two", drop)
	live := map[oid.ID]bool{oid.Sum(keep): true}
	other := reopen(t, s.o)
	release, err := other.Use(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if repack(t, s, live, func(c Commit) bool { return c.Seq != 1 }) {
		t.Fatal("done while another store is in use")
	}
	mustGet(t, other, drop)
	save(t, s, "three", []byte("3"))
	live[oid.Sum([]byte("3"))] = true
	release()
	if !repack(t, s, live, func(c Commit) bool { return c.Seq != 1 }) {
		t.Fatal("not done")
	}
	again := reopen(t, s.o)
	mustGet(t, again, keep)
	mustGet(t, again, []byte("3"))
	if got := fmt.Sprint(payloads(t, again, 0)); got != "[2:two 3:three]" {
		t.Error(got)
	}
	if ok, _ := again.Has(oid.Sum(drop)); ok {
		t.Error("what is dead is still there")
	}
	check(t, again)
}

// A save that counts on an object which the plan takes for dead, committed
// between plan and sweep, keeps it alive.
func TestRepackMarksAgain(t *testing.T) {
	s := testStore(t)
	old, fresh := noise(1, 300_000), noise(2, 300_000)
	save(t, s, "one", old)
	save(t, s, "two", fresh)
	live := map[oid.ID]bool{oid.Sum(fresh): true}
	plan, err := s.PlanRepack(RepackOptions{Recompress: true}, func(id oid.ID) bool { return live[id] }, func(c Commit) bool { return c.Seq != 1 })
	if err != nil {
		t.Fatal(err)
	}
	save(t, reopen(t, s.o), "again", old)
	var seen []string
	done, err := plan.Apply(context.Background(), func(c Commit) error {
		seen = append(seen, string(c.Payload))
		live[oid.Sum(old)] = true
		return nil
	})
	if !done || err != nil {
		t.Fatal(done, err)
	}
	if strings.Join(seen, ",") != "again" {
		t.Errorf("marked again: %v", seen)
	}
	s2 := reopen(t, s.o)
	mustGet(t, s2, old)
	mustGet(t, s2, fresh)
	check(t, s2)
}

// Info says how one object is stored: *NotFoundError, *DamagedError.
func (s *Store) Info(id oid.ID) (ObjectInfo, error) {
	if ok, err := s.Has(id); err != nil {
		return ObjectInfo{}, err
	} else if !ok {
		return ObjectInfo{}, &NotFoundError{ID: id}
	}
	at, ok := s.find(id)
	if !ok {
		return ObjectInfo{}, &NotFoundError{ID: id}
	}
	b, err := at.pack.table(at.BlockRef)
	if err == nil && (at.Pos >= len(b.Entries) || b.Entries[at.Pos].ID != id) {
		err = pack.MalformedError("another object lies in its place")
	}
	if err != nil {
		return ObjectInfo{}, at.pack.damaged(id, at.Offset, err)
	}
	return infoOf(at.pack, at.BlockRef, &b, at.Pos), nil
}
