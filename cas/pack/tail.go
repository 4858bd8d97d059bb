package pack

import (
	"io"
	"iter"

	"github.com/rewind-cli/rewind/cas/oid"
)

// Tail is what a walk found in a pack behind what its index covers.
type Tail struct {
	Contents
	From     int64            // where the walk began, in bytes
	byPrefix map[Prefix]int32 // 1 + the last of objects with that prefix
	previous []int32          // the same for the one before it, per object
}

// TailFrom is an empty tail that begins at an offset.
func TailFrom(from int64) Tail { return Tail{From: from, Contents: Contents{Covered: from}} }

// Walk adds the records from t.Covered up to the last good commit of the pack's first size bytes. damage is called where
// there is no good record. Errors: those of reading.
func (t *Tail) Walk(file io.ReaderAt, seed uint64, size int64, damage func(offset int64, reason error)) error {
	end, err := goodEnd(file, seed, t.Covered, size)
	if err != nil {
		return err
	}
	err = EachRecord(file, seed, t.Covered, end, damage, func(r Record) error {
		if r.Type == BlockRecord {
			b, err := ParseBlock(r.Payload)
			if err != nil {
				damage(r.Offset, err)
				return nil
			}
			t.AddBlock(r.Offset, r.End, b.Entries)
			return nil
		}
		c, err := ParseCommit(r.Payload)
		if err != nil {
			damage(r.Offset, err)
			return nil
		}
		t.AddCommit(c.Seq, r.Offset, r.End)
		return nil
	})
	if err != nil {
		return err
	}
	t.Covered = max(t.Covered, end)
	t.extend()
	return nil
}

// extend makes the objects that were added since the last call known.
func (t *Tail) extend() {
	if t.byPrefix == nil {
		t.byPrefix = make(map[Prefix]int32, len(t.objects))
	}
	for i := len(t.previous); i < len(t.objects); i++ {
		p := PrefixOf(t.objects[i].id)
		t.previous = append(t.previous, t.byPrefix[p])
		t.byPrefix[p] = int32(i) + 1
	}
}

// place is where object i-1 lies.
func (t *Tail) place(i int32) Place {
	o := &t.objects[i-1]
	return Place{t.Blocks[o.block], int(o.pos)}
}

// Find looks an object up by its id.
func (t *Tail) Find(id oid.ID) (Place, bool) {
	for i := t.byPrefix[PrefixOf(id)]; i != 0; i = t.previous[i-1] {
		if t.objects[i-1].id == id {
			return t.place(i), true
		}
	}
	return Place{}, false
}

// FindPrefix looks up the base of a delta.
func (t *Tail) FindPrefix(x Prefix) (Place, bool) {
	if i := t.byPrefix[x]; i != 0 {
		return t.place(i), true
	}
	return Place{}, false
}

// Places yields every place of an object.
func (t *Tail) Places(x Prefix) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for i := t.byPrefix[x]; i != 0 && yield(t.place(i)); i = t.previous[i-1] {
		}
	}
}
