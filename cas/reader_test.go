package cas

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
)

// TestReader: versions come out whole in any order and from several goroutines, staged ones too, and wrong
// bytes never do, also where the base that is kept is wrong.
func TestReader(t *testing.T) {
	s := testStore(t)
	versions := [][]byte{text(1, 50_000)}
	save(t, s, "v0", versions[0])
	for i := range 150 {
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
	s = reopen(t, s.o)
	asked := 0
	r := s.NewReader(func(dst []byte, id oid.ID) ([]byte, error) {
		asked++
		return s.Get(dst, id)
	})
	view := func(v []byte) {
		t.Helper()
		if got, err := r.View(oid.Sum(v)); err != nil || !bytes.Equal(got, v) {
			t.Errorf("%d bytes, not %d: %v", len(got), len(v), err)
		}
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for _, v := range versions {
				view(v)
			}
		})
	}
	both.Wait()
	for i := range versions {
		view(versions[len(versions)-1-i])
	}
	if asked > 0 {
		t.Errorf("%d were read in another way", asked)
	}
	for x, known := range r.memo.known {
		r.memo.known[x] = bytes.ToUpper(known)
	}
	view(versions[100])
	if asked != 1 {
		t.Errorf("wrong bytes that were kept: %d were read again", asked)
	}
	if _, err := r.View(oid.Sum([]byte("nowhere"))); err == nil {
		t.Error("what is nowhere was found")
	}
}

// TestChain: versions come out whole in any order, those that are to stay do, and what is staged or in no chain of deltas
// is read in another way.
func TestChain(t *testing.T) {
	s := testStore(t)
	versions := [][]byte{text(1, 20_000)}
	save(t, s, "v0", versions[0])
	for i := range 150 {
		base := versions[max(0, i-i%7)] // some have the same one
		next := append(bytes.Clone(base[:i*50]), fmt.Sprintf("edit %d\n", i)...)
		next = append(append(next, text(uint64(100+i), 100)...), base[i*50+i%11:]...)
		b := s.NewBatch()
		w := b.Writer()
		if _, err := w.Put(oid.Sum(next), next, oid.Sum(base)); err != nil {
			t.Fatal(err)
		}
		commitBatch(t, s, b, w, "edit")
		versions = append(versions, next)
	}
	s = reopen(t, s.o)
	asked := 0
	r := s.NewReader(func(dst []byte, id oid.ID) ([]byte, error) {
		asked++
		return s.Get(dst, id)
	})
	random := rand.New(rand.NewPCG(1, 2))
	for _, stay := range []int{0, 1, 4} {
		for name, next := range map[string]func(int) int{
			"forwards":   func(i int) int { return i },
			"backwards":  func(i int) int { return len(versions) - 1 - i },
			"to and fro": func(i int) int { return i / 2 * (1 - i%2) },
			"anywhere":   func(int) int { return random.IntN(len(versions)) },
		} {
			c := r.NewChain(stay)
			var order []int
			var got [][]byte
			for i := range versions {
				n := next(i)
				data, err := c.View(oid.Sum(versions[n]))
				if err != nil {
					t.Fatal(err)
				}
				order, got = append(order, n), append(got, data)
				for back := 0; back <= min(stay, i); back++ {
					if !bytes.Equal(got[i-back], versions[order[i-back]]) {
						t.Fatalf("%s, to stay for %d: version %d, read %d calls ago, is not what it was", name, stay, order[i-back], back)
					}
				}
			}
			if len(c.kept) > c.most {
				t.Errorf("%d are kept", len(c.kept))
			}
		}
	}
	if asked > 0 {
		t.Errorf("%d were read in another way", asked)
	}
	c := r.NewChain(0)
	if _, err := c.View(oid.Sum(versions[98])); err != nil {
		t.Fatal(err)
	}
	c.kept[0].data = bytes.ToUpper(c.kept[0].data)
	for _, n := range []int{99, 100, 101, 103} {
		if data, err := c.View(oid.Sum(versions[n])); err != nil || !bytes.Equal(data, versions[n]) {
			t.Errorf("behind a wrong base version %d is wrong: %v", n, err)
		}
	}
	if asked == 0 {
		t.Error("a wrong base was not noticed")
	}
	if _, err := c.View(oid.Sum([]byte("nowhere"))); err == nil {
		t.Error("what is nowhere was found")
	}
}

// What compresses best is still taken: a block, and a delta, of nothing but zeros.
func TestZerosExpand(t *testing.T) {
	s := testStore(t)
	zeros := make([]byte, 16<<20)
	base := text(1, 100)
	save(t, s, "base", base)
	b := s.NewBatch()
	w := b.Writer()
	for _, data := range [][]byte{zeros, append(bytes.Clone(base), zeros[:1<<20]...)} {
		if _, err := w.Put(oid.Sum(data), data, oid.Sum(base)); err != nil {
			t.Fatal(err)
		}
	}
	commitBatch(t, s, b, w, "zeros")
	mustGet(t, reopen(t, s.o), zeros)
	mustGet(t, reopen(t, s.o), append(bytes.Clone(base), zeros[:1<<20]...))
}
