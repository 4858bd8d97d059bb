package cas

import (
	"bytes"
	"fmt"
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
