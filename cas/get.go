package cas

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
)

func isEOF(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// Has reports whether the object is in the store, including what other
// processes added up to now.
func (s *Store) Has(id oid.ID) (bool, error) {
	known, err := s.known(id)
	if known || err != nil {
		return known, err
	}
	if err := s.refresh(true); err != nil {
		return false, err
	}
	if _, ok := s.find(id); ok {
		return true, nil
	}
	if !s.checkIndexes() {
		return false, nil
	}
	if err := s.refresh(true); err != nil {
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
	if rerr := s.refresh(true); rerr != nil {
		return nil, rerr
	}
	if out, err = s.get(dst, id); err == nil {
		return out, nil
	}
	if data, rerr := s.resolve(prefixOf(id)); rerr == nil && oid.Sum(data) == id {
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
		if derr := s.Distrust(); derr != nil {
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
		if p.index != nil && !p.index.intact() {
			s.dropIndex(p)
			dropped = true
		}
	}
	return dropped
}

func (s *Store) get(dst []byte, id oid.ID) ([]byte, error) {
	at, ok := s.find(id)
	if !ok {
		return nil, &NotFoundError{ID: id}
	}
	return s.read(dst, at, id)
}

// read reads the object at a place, checked against its id.
func (s *Store) read(dst []byte, at location, id oid.ID) ([]byte, error) {
	damaged := func(err error) error {
		if !isMalformed(err) {
			return err
		}
		return &DamagedError{ID: id, Pack: at.pack.name.file(), Offset: at.offset, Reason: err.Error()}
	}
	start := len(dst)
	dst, err := s.object(dst, at, &id)
	if err != nil {
		return nil, damaged(err)
	}
	if oid.Sum(dst[start:]) != id {
		return nil, damaged(malformedError("its bytes do not match its id"))
	}
	return dst, nil
}

// object appends the bytes of the object at a place, following its bases. They
// are not checked against the id, but the table must agree with it, if it is given.
func (s *Store) object(dst []byte, at location, id *oid.ID) ([]byte, error) {
	blk, err := s.block(at)
	if err != nil {
		return nil, err
	}
	e, data, err := blk.at(at.pos)
	if err != nil {
		return nil, err
	}
	if id != nil && e.id != *id {
		return nil, malformedError("another object lies in its place")
	}
	if !e.delta {
		return append(dst, data...), nil
	}
	return s.undelta(dst, e, data, s.baseOf)
}

// baseOf finds the stored form of the base of a delta.
func (s *Store) baseOf(x prefix) (*entry, []byte, error) {
	at, ok := s.findPrefix(x)
	if !ok {
		return nil, nil, malformedError(fmt.Sprintf("the base %x of its delta is missing", x))
	}
	blk, err := s.block(at)
	if err != nil {
		return nil, nil, err
	}
	return blk.at(at.pos)
}

// undelta appends the object that a delta leads to.
func (s *Store) undelta(dst []byte, e *entry, data []byte, baseOf func(prefix) (*entry, []byte, error)) ([]byte, error) {
	type step struct {
		e    *entry
		data []byte
	}
	chain := []step{{e, data}}
	for e.delta {
		if len(chain) > maxDepth {
			return nil, malformedError("its chain of bases is too long")
		}
		base, data, err := baseOf(e.base)
		if err != nil {
			return nil, err
		}
		if prefixOf(base.id) != e.base {
			return nil, malformedError("another object lies in the place of its base")
		}
		e = base
		chain = append(chain, step{e, data})
	}
	// The chain is walked back from the whole copy. Two buffers take turns.
	whole := chain[len(chain)-1].data
	var spare [2][]byte
	for i := len(chain) - 2; i >= 0; i-- {
		d := chain[i]
		if i == 0 {
			return applyDelta(slices.Grow(dst, d.e.size), whole, d.data, d.e.size)
		}
		buf := spare[i%2]
		if cap(buf) < d.e.size {
			buf = make([]byte, 0, d.e.size+d.e.size/8)
		}
		next, err := applyDelta(buf[:0], whole, d.data, d.e.size)
		if err != nil {
			return nil, err
		}
		spare[i%2], whole = next, next
	}
	return append(dst, whole...), nil
}

// at returns entry i and its bytes in the body.
func (b *decoded) at(i int) (*entry, []byte, error) {
	if i < 0 || i >= len(b.entries) {
		return nil, nil, malformedError("its block has no such place")
	}
	from, to := (&block{entries: b.entries}).at(i)
	return &b.entries[i], b.body[from:to:to], nil
}

// block reads and decodes the block at a place.
func (s *Store) block(at location) (*decoded, error) {
	return s.cache.get(cacheKey{at.pack, at.offset}, func() (*decoded, error) {
		f, err := at.pack.open()
		if err != nil {
			return nil, err
		}
		buf := make([]byte, at.size)
		ok, err := readFull(f, buf, at.offset)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, malformedError("the pack ends before it")
		}
		r, err := parseRecord(buf, at.pack.seed, at.offset)
		if err != nil {
			return nil, err
		}
		if r.typ != blockRecord || r.end != at.offset+int64(at.size) {
			return nil, malformedError("another record lies in its place")
		}
		return s.decode(r.payload)
	})
}

// decode decompresses a block's payload. The result may alias it.
func (s *Store) decode(payload []byte) (*decoded, error) {
	b, err := parseBlock(payload)
	if err != nil {
		return nil, err
	}
	if b.codec == codecRaw {
		return &decoded{b.entries, b.body}, nil
	}
	if !canExpand(len(b.body), b.total) {
		return nil, malformedError("its block claims to hold more than its bytes can")
	}
	d, err := s.decoder()
	if err != nil {
		return nil, err
	}
	defer s.zstd.Put(d)
	body, err := d.DecodeAll(b.body, make([]byte, 0, b.total))
	if err != nil {
		return nil, malformedError("its block cannot be decompressed: " + err.Error())
	}
	if len(body) != b.total {
		return nil, malformedError("its block does not have the length its table says")
	}
	return &decoded{b.entries, body}, nil
}

// canExpand reports whether a zstd frame can have so many bytes when it is
// decompressed: its shortest block takes 4 bytes and holds at most 128 KiB. Without this, a size
// that somebody made up would be allocated.
func canExpand(frame, size int) bool { return size>>15 <= frame }
