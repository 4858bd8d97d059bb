package cas

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// joinedStore is a store in which every version of a file is in two places, as after the logs of two accounts were joined: as
// a delta of the version before it, and every second one, which is found first, as a delta of the version behind it.
func joinedStore(t *testing.T) (s *Store, versions [][]byte) {
	t.Helper()
	tag := uint64(1000)
	s = testStore(t, func(o *Options) {
		o.Random = func() uint64 { tag--; return tag } // a later pack is found first
	})
	version := text(1, 4000)
	for i := range 50 {
		version = append(bytes.Clone(version), fmt.Sprintf("version %d %x\n", i, rand.New(rand.NewPCG(uint64(i), 1)).Uint64())...)
		versions = append(versions, version)
	}
	put := func(pairs [][2]int) {
		b := &Batch{s: s, dense: true}
		w := b.Writer()
		for _, p := range pairs {
			var base oid.ID
			if p[1] >= 0 {
				base = oid.Sum(versions[p[1]])
			}
			if _, err := w.Put(oid.Sum(versions[p[0]]), versions[p[0]], base); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := b.finish(); err != nil {
			t.Fatal(err)
		}
	}
	var forward, back [][2]int
	for i := range versions {
		forward = append(forward, [2]int{i, i - 1})
		if i%2 == 0 && i > 0 && i+1 < len(versions) {
			back = append(back, [2]int{i, i + 1})
		}
	}
	put(forward)
	put(back)
	save(t, s, "a commit")
	return s, versions
}

func readable(t *testing.T, s *Store, versions [][]byte) {
	t.Helper()
	for i, v := range versions {
		if got, err := s.Get(nil, oid.Sum(v)); err != nil || !bytes.Equal(got, v) {
			t.Fatalf("version %d: %v", i, err)
		}
	}
	check(t, s)
}

func TestTwoPlacesOfEveryVersion(t *testing.T) {
	s, versions := joinedStore(t)
	readable(t, s, versions)
}

func TestRepairKeepsWhatCanBeMade(t *testing.T) {
	s, versions := joinedStore(t)
	if err := s.Repair(context.Background(), func(r Repaired) { t.Errorf("%+v", r) }, nil); err != nil {
		t.Fatal(err)
	}
	readable(t, reopen(t, s.o), versions)
}

// TestRepackOfTwoPlaces: the places that a sweep leaves must lead to each object.
func TestRepackOfTwoPlaces(t *testing.T) {
	for name, o := range map[string]RepackOptions{"all packs": {Recompress: true}, "a purge": {Purge: true}} {
		for _, dead := range []int{-1, 0, 7, 24} {
			t.Run(fmt.Sprint(name, dead), func(t *testing.T) {
				s, versions := joinedStore(t)
				live := func(id oid.ID) bool { return dead < 0 || id != oid.Sum(versions[dead]) }
				for range 3 {
					plan, err := s.PlanRepack(o, live, func(Commit) bool { return true })
					if err != nil {
						t.Fatal(err)
					}
					for _, k := range plan.packs {
						k.victim = k.pack.name.Kind == pack.Data // they are dense already
					}
					if done, err := plan.Apply(context.Background(), func(Commit) error { return nil }); !done || err != nil {
						t.Fatal(done, err)
					}
				}
				if dead >= 0 {
					versions = append(versions[:dead:dead], versions[dead+1:]...)
				}
				readable(t, reopen(t, s.o), versions)
			})
		}
	}
}

// TestOnePackOfTwoPlacesGoes: an object that stays in one pack may need what goes with another one.
func TestOnePackOfTwoPlacesGoes(t *testing.T) {
	for going := range 2 {
		s, versions := joinedStore(t)
		plan, err := s.PlanRepack(RepackOptions{}, func(oid.ID) bool { return true }, func(Commit) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, k := range plan.packs {
			if k.pack.name.Kind == pack.Data {
				k.victim = n == going
				n++
			}
		}
		if done, err := plan.Apply(context.Background(), func(Commit) error { return nil }); !done || err != nil {
			t.Fatal(done, err)
		}
		readable(t, reopen(t, s.o), versions)
	}
}

// TestChainOverAllPlaces: a save counts the bases as they are found, and not as they were when the base was stored.
func TestChainOverAllPlaces(t *testing.T) {
	s, versions := joinedStore(t)
	version := versions[len(versions)-1]
	for i := range 20 {
		before := oid.Sum(version)
		version = append(bytes.Clone(version), fmt.Sprintf("later %d\n", i)...)
		b := s.NewBatch()
		w := b.Writer()
		if _, err := w.Put(oid.Sum(version), version, before); err != nil {
			t.Fatal(err)
		}
		commitBatch(t, s, b, w, fmt.Sprint("later ", i))
		s = reopen(t, s.o)
		if err := s.prepare(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.get(nil, oid.Sum(version)); err != nil {
			t.Fatalf("later version %d is not found at once: %v", i, err)
		}
	}
}
