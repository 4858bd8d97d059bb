package cas

import "github.com/rewind-cli/rewind/cas/oid"

// Reader reads objects that are made of each other, as the versions of a file are: read in their order, oldest
// first, each costs one delta instead of its whole chain. It keeps up to 32 MB of them, and is safe for concurrent use.
type Reader struct {
	memo  *objectMemo
	other func(dst []byte, id oid.ID) ([]byte, error)
}

// NewReader makes a Reader. What cannot be read so is asked of other, which is Get of the store or of a batch.
func (s *Store) NewReader(other func(dst []byte, id oid.ID) ([]byte, error)) *Reader {
	return &Reader{newObjectMemo(s), other}
}

// View gives an object's bytes, all of them checked against the id. They are not to be changed. Errors: those of other.
func (r *Reader) View(id oid.ID) ([]byte, error) {
	if data := r.read(id); data != nil && oid.Sum(data) == id {
		return data, nil
	}
	return r.other(nil, id)
}

// read gives what may be the object; nil where it is not to be had so.
func (r *Reader) read(id oid.ID) []byte {
	m := r.memo
	m.mu.Lock()
	known := m.known[prefixOf(id)]
	m.mu.Unlock()
	if known != nil || m.s.prepare() != nil {
		return known
	}
	at, ok := m.s.find(id)
	if !ok {
		return nil
	}
	blk, err := m.s.block(at)
	if err != nil {
		return nil
	}
	e, data, err := blk.at(at.pos)
	if err != nil || e.id != id {
		return nil
	}
	if e.delta {
		if data, err = m.whole(e, data); err != nil {
			return nil
		}
	}
	return data
}
