package cas

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
)

// What one store bundles, in several bundles of which the later rely on the earlier, another one has byte for byte, with the
// sequence numbers; and the versions of a file go as deltas.
func TestBundleToAnotherStore(t *testing.T) {
	from, to := testStore(t), testStore(t)
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 40_000)
	for i := range text {
		text[i] = "abcdefgh \n"[r.IntN(10)]
	}
	sent := map[[16]byte]bool{}
	objects := map[oid.ID][]byte{}
	base := oid.ID{}
	for n := range 30 {
		text = bytes.Clone(text)
		copy(text[r.IntN(len(text)-20):], fmt.Sprintf("line %d of it", n))
		other := fmt.Appendf(nil, "another file %d", n)
		ids := []oid.ID{oid.Sum(text), oid.Sum(other)}
		objects[ids[0]], objects[ids[1]] = text, other
		b := from.NewBatch()
		w := b.Writer()
		if _, err := w.Put(ids[0], text, base); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Put(ids[1], other, oid.ID{}); err != nil {
			t.Fatal(err)
		}
		commitBatch(t, from, b, w, fmt.Sprint("commit ", n))
		base = ids[0]

		u := from.NewBundle(func(x [16]byte) bool { return sent[x] })
		for _, id := range ids {
			if err := u.Add(id); err != nil {
				t.Fatal(err)
			}
			sent[[16]byte(id[:])] = true
		}
		u.Commit(Commit{Seq: uint64(10 * (n + 1)), Payload: fmt.Append(nil, "commit ", n)})
		bundle := u.Bytes()
		if n > 0 && len(bundle) > 1000 {
			t.Errorf("an edit takes %d bytes", len(bundle))
		}
		rb := to.NewBatch()
		commits, _, err := rb.Receive(bundle)
		if err != nil {
			t.Fatal(err)
		}
		a, err := to.Append(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Import(rb, commits); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		// Each byte of it counts: one that is wrong is found, and nothing of it gets into the store.
		for range 20 {
			bad := bytes.Clone(bundle)
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			c, _, err := to.NewBatch().Receive(bad)
			var damaged *DamagedError
			if err == nil || !errors.As(err, &damaged) {
				t.Fatalf("bundle %d with a wrong bit: %v, %v", n, c, err)
			}
		}
	}
	for id, want := range objects {
		if got, err := to.Get(nil, id); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %v", id, err)
		}
	}
	n := uint64(0)
	for c, err := range to.Commits(1) {
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint("commit ", n); string(c.Payload) != want || c.Seq != 10*(n+1) {
			t.Fatalf("commit %d is %q, want %q", c.Seq, c.Payload, want)
		}
		n++
	}
	if n != 30 {
		t.Fatalf("%d commits came", n)
	}
	a, err := to.Append(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Import(nil, []Commit{{Seq: 300}}); err == nil {
		t.Error("a sequence number came a second time")
	}
}
