package cas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// holdsAll fails unless every payload and object is there, and nothing is said to be damaged.
func holdsAll(t *testing.T, s *Store, want []string, objects ...[]byte) {
	t.Helper()
	got := payloadsOf(t, s)
	for _, p := range want {
		if !slices.Contains(got, p) {
			t.Errorf("%q is not in the log: %q", p, got)
		}
	}
	for _, o := range objects {
		if _, err := s.Get(nil, oid.Sum(o)); err != nil {
			t.Error(err)
		}
	}
	check(t, s)
}

// A log pack that was continued by another one is the newest again where that one is lost, under both names: what is added
// to it, or to the next pack of that number, is seen by whoever has the store open, whoever opens it, and after its indexes are made.
func TestIndexOfALostFollower(t *testing.T) {
	for _, more := range []bool{false, true} { // the first pack takes more
		for _, saves := range []int{1, 5} {
			t.Run(fmt.Sprint(more, saves), func(t *testing.T) {
				s := testStore(t)
				s.limits.logCommits = 3
				var want []string
				var objects [][]byte
				add := func(n int) {
					want, objects = append(want, fmt.Sprint("save ", n)), append(objects, noise(uint64(n), 10_000))
					save(t, s, want[len(want)-1], objects[len(objects)-1])
				}
				for n := range 5 {
					add(n)
				}
				last := pack.Name{Kind: pack.Log, Tag: 2}
				if err := s.reindex(last, false); err != nil {
					t.Fatal(err)
				}
				seen := reopen(t, s.o) // and knows the indexes
				holdsAll(t, seen, want, objects...)
				for _, dir := range []string{s.o.Dir, s.o.Mirror} {
					if err := os.Remove(filepath.Join(dir, last.File())); err != nil {
						t.Fatal(err)
					}
				}
				want, objects = want[:3], objects[:3]
				s = reopen(t, s.o)
				s.limits.logCommits = 3
				if more {
					s.limits.logCommits = 4
				}
				for n := range saves {
					add(10 + n)
				}
				release, err := seen.Use(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				got := payloadsOf(t, seen)
				release()
				if !slices.Equal(got, want) {
					t.Errorf("whoever had it open sees %q", got)
				}
				if more && saves == 1 { // the lost one is still missed
					if err := s.remove(filepath.Join(s.o.Dir, last.IndexFile())); err != nil {
						t.Fatal(err)
					}
				}
				holdsAll(t, s, want, objects...)
				s = reopen(t, s.o)
				holdsAll(t, s, want, objects...)
				if err := s.RefreshIndexes(); err != nil {
					t.Fatal(err)
				}
				holdsAll(t, s, want, objects...)
				holdsAll(t, reopen(t, s.o), want, objects...)
			})
		}
	}
}

// Two accounts: one puts the store in order, all packs are removed but no index, and the other's mirror brings back the log as
// that one knew it. What it saves on top of that is seen, and so is what the first account's mirror gives back.
func TestIndexesWithoutPacks(t *testing.T) {
	first := testStore(t)
	o := first.o
	o.Mirror += "-b"
	save(t, first, "a 1", text(1, 3000))
	b := reopen(t, o)
	if err := b.Mirror(); err != nil {
		t.Fatal(err)
	}
	save(t, b, "b 1", text(2, 3000))
	if err := b.Repair(context.Background(), func(Repaired) {}, nil); err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(o.Dir, "*"+pack.Suffix))
	if err != nil || len(packs) != 2 {
		t.Fatal(packs, err)
	}
	for _, file := range packs {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a 1"}
	objects := [][]byte{text(1, 3000)}
	for n := range 3 {
		want, objects = append(want, fmt.Sprint("a further ", n)), append(objects, text(uint64(10+n), 3000))
		save(t, reopen(t, first.o), want[len(want)-1], objects[len(objects)-1])
	}
	if got := payloadsOf(t, reopen(t, first.o)); !slices.Equal(got, want) {
		t.Errorf("account a sees %q", got)
	}
	b = reopen(t, o)
	if !b.Diverged() {
		t.Fatal("account b's mirror has another end of the log, which is not seen")
	}
	a, err := b.Append(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want, objects = append(want, "b 1"), append(objects, text(2, 3000))
	batch := b.NewBatch()
	w := batch.Writer()
	if _, err := w.Put(oid.Sum(objects[4]), objects[4], oid.ID{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Commit(batch, []byte("b 1")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Joined(), a.Close()); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{first.o, o} {
		holdsAll(t, reopen(t, o), want, objects...)
	}
}

// What gc wrote into a log pack is known by its last commit: nothing is added to it, not even where the pack behind it is lost.
func TestNothingIsAddedToWhatGCWrote(t *testing.T) {
	s := testStore(t)
	live := map[oid.ID]bool{}
	for n := range 4 {
		data := noise(uint64(n), 10_000)
		live[oid.Sum(data)] = n != 0
		save(t, s, fmt.Sprint("save ", n), data)
	}
	plan, err := s.PlanRepack(RepackOptions{Log: true}, func(id oid.ID) bool { return live[id] }, func(c Commit) bool { return c.Seq != 1 })
	if err != nil {
		t.Fatal(err)
	}
	if done, err := plan.Apply(context.Background(), func(Commit) error { return nil }); !done || err != nil {
		t.Fatal(done, err)
	}
	names, err := s.names()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{s.o.Dir, s.o.Mirror} {
		if err := os.Remove(filepath.Join(dir, names[0].File())); err != nil {
			t.Fatal(err)
		}
	}
	s = reopen(t, s.o)
	dense, err := s.standsAlone(names[1])
	if !dense || err != nil {
		t.Fatalf("%s was not written by gc: %v", names[1].File(), err)
	}
	if at := save(t, s, "further", text(1, 3000)); uint64(at.Pack) <= names[1].Tag {
		t.Errorf("it was added to log pack %d", at.Pack)
	}
	holdsAll(t, reopen(t, s.o), []string{"save 1", "save 2", "save 3", "further"}, text(1, 3000))
}

// A backup that has the indexes of replaced log packs, and not the packs, is no sign of a loss: the pack that gc wrote stands for them.
func TestIndexOfAReplacedPack(t *testing.T) {
	s := testStore(t)
	save(t, s, "save 0", noise(0, 10_000))
	save(t, s, "save 1", noise(1, 10_000))
	if err := s.reindex(pack.Name{Kind: pack.Log, Tag: 1}, false); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.o.Dir, pack.Name{Kind: pack.Log, Tag: 1}.IndexFile())
	index, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.PlanRepack(RepackOptions{Log: true}, func(oid.ID) bool { return true }, func(c Commit) bool { return c.Seq > 1 })
	if err != nil {
		t.Fatal(err)
	}
	if done, err := plan.Apply(context.Background(), func(Commit) error { return nil }); !done || err != nil {
		t.Fatal(done, err)
	}
	write(t, file, index)
	holdsAll(t, reopen(t, s.o), []string{"save 1"}, noise(1, 10_000))
	if err := s.Complete(context.Background()); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(s.o.Dir, pack.Name{Kind: pack.Log, Tag: 9}.IndexFile()), index)
	if err := s.Complete(context.Background()); err == nil {
		t.Error("a newer pack is gone, and nothing is said")
	}
}

// A log pack that is shorter than its index says has lost commits, and reading the log fails: without its index it would pass for
// a log that ends earlier.
func TestLogPackShorterThanItsIndex(t *testing.T) {
	s := testStore(t)
	s.limits.logCommits = 3
	for n := range 5 {
		save(t, s, fmt.Sprint("save ", n), noise(uint64(n), 1000))
	}
	first := pack.Name{Kind: pack.Log, Tag: 1}
	if err := s.reindex(first, true); err != nil {
		t.Fatal(err)
	}
	var end int64 // of the second commit
	for c, err := range s.Commits(1) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Seq == 2 {
			end = c.Position.Offset
		}
	}
	for _, dir := range []string{s.o.Dir, s.o.Mirror} {
		if err := os.Truncate(filepath.Join(dir, first.File()), end); err != nil {
			t.Fatal(err)
		}
	}
	s = reopen(t, s.o)
	var seen []uint64
	var failed error
	for c, err := range s.Commits(1) {
		if failed = err; err != nil {
			break
		}
		seen = append(seen, c.Seq)
	}
	var damaged *DamagedError
	if !errors.As(failed, &damaged) {
		t.Errorf("the log is read as %d, and the error is %v", seen, failed)
	}
}
