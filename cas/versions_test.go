package cas

import (
	"bytes"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
)

// TestVersions: each version of a text is what it was, in any order, and what is not there is left to Get. Each costs
// one step of its chain.
func TestVersions(t *testing.T) {
	s := testStore(t)
	data := text(1, 20_000)
	var all [][]byte
	var ids []oid.ID
	var base oid.ID
	for i := range 20 {
		data = append(bytes.Clone(data[:1000*i]), append([]byte("a new line\n"), data[1000*i:]...)...)
		id := oid.Sum(data)
		b := s.NewBatch()
		w := b.Writer()
		if _, err := w.Put(id, data, base); err != nil {
			t.Fatal(err)
		}
		commitBatch(t, s, b, w, "version")
		all, ids, base = append(all, data), append(ids, id), id
	}
	v := s.Versions()
	for _, i := range []int{0, 1, 2, 19, 3, 18, 4, 4, 17} {
		if got, ok := v.Get(ids[i]); !ok || !bytes.Equal(got, all[i]) {
			t.Errorf("version %d: %v, %d bytes", i, ok, len(got))
		}
	}
	if len(v.m.known) < 5 {
		t.Errorf("%d versions are kept", len(v.m.known))
	}
	if _, ok := v.Get(oid.Sum([]byte("nothing"))); ok {
		t.Error("what is not there was read")
	}
}
