package cas

import (
	"errors"
	"fmt"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// Has reports whether the object is in the store, including what other
// processes added up to now.
func (s *Store) Has(id oid.ID) (bool, error) {
	known, err := s.known(id)
	if known || err != nil {
		return known, err
	}
	if err := s.refresh(); err != nil {
		return false, err
	}
	if _, ok := s.find(id); ok {
		return true, nil
	}
	if !s.checkIndexes() {
		return false, nil
	}
	if err := s.refresh(); err != nil {
		return false, err
	}
	_, ok := s.find(id)
	return ok, nil
}

// known is Has for what is to be stored: it may miss what was added a moment
// ago, and what an interrupted batch left, since storing twice does no harm. What was found
// damaged is not known, so that the store mends itself with what is saved.
func (s *Store) known(id oid.ID) (bool, error) {
	if err := s.prepare(); err != nil {
		return false, err
	}
	if _, ok := s.find(id); !ok {
		return false, nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return !s.bad[id], nil
}

// Get appends the object's bytes to dst. Every byte is checked against the id.
// Errors: *NotFoundError, *DamagedError.
func (s *Store) Get(dst []byte, id oid.ID) ([]byte, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	out, err := s.get(dst, id)
	if err == nil {
		return out, nil
	}
	var missing *NotFoundError
	var damaged *DamagedError
	if !errors.As(err, &missing) && !errors.As(err, &damaged) {
		return nil, err
	}
	// It may be new, or an index may be wrong: look again, at the packs themselves.
	s.checkIndexes()
	if rerr := s.refresh(); rerr != nil {
		return nil, rerr
	}
	if out, err = s.get(dst, id); err == nil {
		return out, nil
	}
	if data, rerr := s.resolve(pack.PrefixOf(id)); rerr == nil && oid.Sum(data) == id {
		return append(dst, data...), nil
	}
	if errors.As(err, &missing) {
		if p := s.firstProblem(); p != nil {
			err = &DamagedError{ID: id, Pack: p.Pack, Offset: p.Offset, Reason: "it is nowhere else, and this record cannot be read: " + p.Reason}
		}
	}
	if errors.As(err, &damaged) {
		s.mu.Lock()
		if s.bad == nil {
			s.bad = map[oid.ID]bool{}
		}
		s.bad[id] = true
		s.mu.Unlock()
		if derr := s.distrust(); derr != nil {
			err = errors.Join(err, derr)
		}
	}
	return nil, err
}

// firstProblem is a part of a pack that could not be read, if there is one.
func (s *Store) firstProblem() *DamagedError {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		if p.problem != nil {
			return p.problem
		}
	}
	return nil
}

// checkIndexes drops the indexes whose bytes are wrong, so that their packs
// are walked. It reports whether there were any.
func (s *Store) checkIndexes() (dropped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.packs {
		if p.index != nil && !p.index.Intact() {
			s.dropIndex(p)
			dropped = true
		}
	}
	return dropped
}

// get is Get with what is known of the packs by now.
func (s *Store) get(dst []byte, id oid.ID) ([]byte, error) {
	at, ok := s.find(id)
	if !ok {
		return nil, &NotFoundError{ID: id}
	}
	start := len(dst)
	e, data, err := s.stored(at, pack.PrefixOf(id))
	if err == nil {
		dst, err = pack.AppendObject(dst, e, data, s.baseOf)
	}
	if err == nil && oid.Sum(dst[start:]) != id {
		err = pack.MalformedError("its bytes do not match its id")
	}
	return dst, at.pack.damaged(id, at.Offset, err)
}

// baseOf finds the stored form of the base of a delta.
func (s *Store) baseOf(x pack.Prefix) (*pack.Entry, []byte, error) {
	at, ok := s.findPrefix(x)
	if !ok {
		return nil, nil, pack.MalformedError(fmt.Sprintf("the base %x of its delta is missing", x))
	}
	return s.stored(at, x)
}

// stored reads an object as it is stored at a place.
func (s *Store) stored(at location, x pack.Prefix) (*pack.Entry, []byte, error) {
	blk, err := s.block(at)
	if err != nil {
		return nil, nil, err
	}
	e, data, err := blk.At(at.Pos)
	if err == nil && pack.PrefixOf(e.ID) != x {
		err = pack.MalformedError("another object lies in its place")
	}
	return e, data, err
}

// block reads and decodes the block at a place.
func (s *Store) block(at location) (*pack.Block, error) {
	return s.cache.get(cacheKey{at.pack, at.Offset}, func() (*pack.Block, error) {
		f, err := at.pack.open()
		if err != nil {
			return nil, err
		}
		b, err := pack.ReadBlock(f, at.pack.seed, at.BlockRef)
		if err == nil {
			err = b.Decompress()
		}
		return &b, err
	})
}
