package cas

import "github.com/rewind-cli/rewind/cas/oid"

// Versions reads objects that are mostly deltas of each other, as the versions of a file are: read oldest first, each costs
// one step of its chain instead of all of it. It keeps what it made, up to 32 MiB. It is safe for concurrent use.
type Versions struct{ m *objectMemo }

// Versions begins such reading.
func (s *Store) Versions() *Versions { return &Versions{newObjectMemo(s)} }

// Get is the object's bytes, checked against the id; ok is false where they are not read so easily: then Store.Get knows
// more, or says why. The result is not to be changed.
func (v *Versions) Get(id oid.ID) (data []byte, ok bool) {
	s := v.m.s
	if s.prepare() != nil {
		return nil, false
	}
	at, ok := s.find(id)
	if !ok {
		return nil, false
	}
	blk, err := s.block(at)
	if err != nil {
		return nil, false
	}
	e, data, err := blk.at(at.pos)
	if err != nil || e.id != id {
		return nil, false
	}
	if e.delta {
		if data, err = v.m.whole(e, data); err != nil {
			return nil, false
		}
	}
	return data, oid.Sum(data) == id
}
