package cas

import (
	"context"
	"fmt"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
)

// stalePlan makes a store and a plan for it, which was made before something changed the packs.
func stalePlan(t *testing.T, change func(other *Store)) (s *Store, plan *RepackPlan, live map[oid.ID]bool, alive [][]byte) {
	t.Helper()
	s = testStore(t)
	live = map[oid.ID]bool{}
	for i := range 20 {
		o := noise(uint64(i), 20_000)
		if i%4 == 0 {
			alive = append(alive, o)
			live[oid.Sum(o)] = true
		}
		save(t, s, fmt.Sprint(i), o)
	}
	if err := s.RefreshIndexes(); err != nil {
		t.Fatal(err)
	}
	reader := reopen(t, s.o)
	plan, err := reader.PlanRepack(RepackOptions{Recompress: true}, func(id oid.ID) bool { return live[id] }, func(Commit) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	change(s)
	return reader, plan, live, alive
}

func TestPlanOfPacksThatWereReplaced(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, s *Store){
		"a repair": func(t *testing.T, s *Store) {
			if err := s.Repair(context.Background(), func(Repaired) {}, nil); err != nil {
				t.Fatal(err)
			}
		},
		"damage was found": func(t *testing.T, s *Store) {
			if err := s.distrust(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, plan, live, alive := stalePlan(t, func(other *Store) { change(t, other) })
			late := noise(99, 20_000)
			save(t, reopen(t, s.o), "late", late)
			done, err := plan.Apply(context.Background(), func(Commit) error {
				live[oid.Sum(late)] = true
				return nil
			})
			if done || err != nil {
				t.Errorf("a plan for packs that are others by now: %v %v", done, err)
			}
			for _, o := range append(alive, late) {
				mustGet(t, s, o)
				mustGet(t, reopen(t, s.o), o)
			}
			check(t, s)
		})
	}
}

// TestIndexOutlivesItsListing: whoever holds a pack reads its index, whatever became of the list of packs.
func TestIndexOutlivesItsListing(t *testing.T) {
	s := testStore(t)
	for i := range 4 {
		save(t, s, fmt.Sprint(i), noise(uint64(i), 20_000))
	}
	save(t, s, "index", noise(9, heavyWrite)) // writes the index
	s = reopen(t, s.o)
	packs, err := s.snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if len(packs) != 1 || packs[0].index == nil {
		t.Fatal("there is no index")
	}
	before := len(packs[0].blocks())
	if err := s.bumpGeneration(); err != nil {
		t.Fatal(err)
	}
	release, err := s.Use(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if after := len(packs[0].blocks()); after != before || before == 0 {
		t.Errorf("%d blocks, %d before", after, before)
	}
}
