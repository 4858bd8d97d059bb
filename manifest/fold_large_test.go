package manifest

import (
	"fmt"
	"testing"
)

// TestLargeSet: the changes of a large checkpoint are written in several runs, and answers are as with one. Of a checkpoint
// whose tree turns out unreadable on the way, no run keeps a part.
func TestLargeSet(t *testing.T) {
	defer func(size int, set uint64) { spillSize, largeSet = size, set }(spillSize, largeSet)
	spillSize, largeSet = 4<<10, 100
	o, w := inTemp(t), newWorld()
	large := func(n byte) tree {
		tr := tree{}
		for i := range 300 {
			tr[fmt.Sprintf("some-directory-%d", i%3)] = Entry{Kind: Subdir, Mode: 0o755}
			tr[fmt.Sprintf("some-directory-%d/some-file-%04d", i%3, i)] = file(n + byte(i))
		}
		return tr
	}
	add := func(n byte, tr tree) (seq uint64) {
		return w.add(Record{Checkpoint: &Checkpoint{ID: CheckpointID{n}, Root: w.store(tr), Counts: Counts{Added: 300}, Time: at(int(n))}})
	}
	first := add(1, large(1))
	bad := add(2, large(7))
	c := w.log[len(w.log)-1].Record.Checkpoint
	root, err := w.Dir(c.Root)
	if err != nil {
		t.Fatal(err)
	}
	last, _ := root.Lookup("some-directory-2")
	w.gone[last.ID] = true
	third := add(3, large(9))
	mustFold(t, o, w)
	delete(w.gone, last.ID)
	check(t, o, w)
	gen, err := openCurrent(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	for seq, want := range map[uint64]int{first: 304, bad: 1, third: 1} {
		n := 0
		if err := gen.scan(seqKey(keyChanges, seq), func(_, _ []byte) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		if n != want {
			t.Errorf("checkpoint %d has %d keys of its changes, want %d", seq, n, want)
		}
	}
}
