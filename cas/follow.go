package cas

import "github.com/rewind-cli/rewind/cas/oid"

// Follower reads objects of which the one is mostly the base of the next: the versions of a file, oldest
// first. It remembers up to 32 MiB of what deltas led to, so that each costs one step and not its whole chain. It is safe
// for concurrent use.
type Follower struct {
	s    *Store
	memo *objectMemo
}

// Follow makes a follower.
func (s *Store) Follow() *Follower { return &Follower{s, newObjectMemo(s)} }

// Get returns the object's bytes, which belong to the store: they must not be changed. Every byte is
// checked against the id. Errors: *NotFoundError, *DamagedError.
func (f *Follower) Get(id oid.ID) ([]byte, error) {
	if err := f.s.prepare(); err != nil {
		return nil, err
	}
	data, err := f.get(id)
	if err == nil && oid.Sum(data) == id {
		return data, nil
	}
	return f.s.Get(nil, id) // it looks further, and says what is wrong
}

func (f *Follower) get(id oid.ID) ([]byte, error) {
	at, ok := f.s.find(id)
	if !ok {
		return nil, &NotFoundError{ID: id}
	}
	blk, err := f.s.block(at)
	if err != nil {
		return nil, err
	}
	e, data, err := blk.at(at.pos)
	if err != nil {
		return nil, err
	}
	if e.id != id {
		return nil, malformedError("another object lies in its place")
	}
	if e.delta {
		return f.memo.whole(e, data)
	}
	return data, nil
}
