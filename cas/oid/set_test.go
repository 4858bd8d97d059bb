package oid

import (
	"fmt"
	"testing"
)

// TestSet: a set has what was added to it and nothing else, under the number of its turn, also by the first half of its id,
// and ids that begin alike or share a hash are different ids.
func TestSet(t *testing.T) {
	var s Set
	want := map[ID]int{}
	add := func(id ID) {
		n, added := s.Add(id)
		old, had := want[id]
		if !had {
			old = len(want)
			want[id] = old
		}
		if added == had || n != old {
			t.Fatalf("Add gave %d, %v; want %d, %v", n, added, old, !had)
		}
	}
	if _, ok := s.Find(ID{}); ok {
		t.Error("an empty set has the zero id")
	}
	add(ID{})
	for i := range 5000 {
		id := Sum(fmt.Append(nil, i%4000))
		add(id)
		alike := id
		alike[31] ^= 1 // the same half, the same hash
		add(alike)
		near := ID{15: id[15], 0: byte(i), 1: byte(i >> 8)}
		add(near)
	}
	for id, n := range want {
		if got, ok := s.Find(id); !ok || got != n || s.All()[n] != id {
			t.Fatalf("Find gave %d, %v, want %d", got, ok, n)
		}
		if got, ok := s.FindHalf([16]byte(id[:16])); !ok || [16]byte(s.All()[got][:16]) != [16]byte(id[:16]) {
			t.Fatalf("FindHalf gave %d, %v", got, ok)
		}
	}
	if len(s.All()) != len(want) {
		t.Errorf("it has %d ids, want %d", len(s.All()), len(want))
	}
	if _, ok := s.Find(Sum([]byte("another"))); ok {
		t.Error("it has an id that was not added")
	}
}
