package gitstate

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// kept are directories in memory.
type kept map[oid.ID]manifest.Dir

func (k kept) put(d manifest.Dir) oid.ID {
	id := oid.Sum(d.Append(nil))
	k[id] = d
	return id
}

func (k kept) Load(id oid.ID) (manifest.Dir, error) {
	d, ok := k[id]
	if !ok {
		return d, fmt.Errorf("%v is not there", id)
	}
	return d, nil
}

func (k kept) Open(manifest.Entry) (io.ReadCloser, error) { return nil, io.EOF }

func (k kept) inPieces(d manifest.Dir) oid.ID {
	var top manifest.Dir
	for _, p := range pieces(d) {
		top.Entries = append(top.Entries, piece(p.Entries, k.put(p)))
	}
	return k.put(top)
}

// TestDirectoriesInPiecesAndWhole: a state of before there were pieces, and one with them, differ in what differs.
func TestDirectoriesInPiecesAndWhole(t *testing.T) {
	k := kept{}
	var d manifest.Dir
	for i := range 1000 {
		d.Entries = append(d.Entries, manifest.Entry{Name: fmt.Sprintf("b%04d", i), Kind: manifest.File, Mode: 0o644, Size: 41, ID: oid.Sum([]byte{byte(i), byte(i >> 8)})})
	}
	next := manifest.Dir{Entries: slices.Clone(d.Entries)}
	next.Entries[10].ID = oid.Sum([]byte("moved"))
	next.Entries = slices.Delete(next.Entries, 500, 520)
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprintf("b%04d", 500+i))
	}
	want = append([]string{"b0010"}, want...)
	was, is := []oid.ID{k.put(d), k.inPieces(d)}, []oid.ID{k.put(next), k.inPieces(next)}
	for i, a := range was {
		if got, err := Whole(k).Load(a); err != nil || !slices.Equal(got.Entries, d.Entries) {
			t.Errorf("%d: %d entries, %v", i, len(got.Entries), err)
		}
		for j, b := range is {
			var got []string
			if err := Diff(k, a, b, func(c manifest.Change) error { got = append(got, c.Path); return nil }); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d, %d: %q, %v", i, j, got, err)
			}
		}
	}
	top := k[was[1]]
	slices.Reverse(top.Entries)
	if _, err := Whole(k).Load(k.put(top)); err == nil {
		t.Error("pieces in a wrong order are taken")
	}
}
