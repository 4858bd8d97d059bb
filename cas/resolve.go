package cas

import (
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
)

// maxTries bounds the stored forms that are tried for one object.
const maxTries = 4 * maxDepth

// resolve is the patient way to an object: of an object that stands in several
// places every place is tried, at every step of its chain of bases. An interrupted gc leaves
// such: an old delta whose base is gone, beside the new copy.
func (s *Store) resolve(x prefix, depth int, tries *int) ([]byte, error) {
	var last error = malformedError("the base of its delta is missing")
	for _, at := range s.locations(x) {
		if *tries--; depth < 0 || *tries < 0 {
			return nil, malformedError("its chain of bases is too long")
		}
		data, err := s.resolveAt(at, x, depth, tries)
		if err == nil {
			return data, nil
		}
		last = err
	}
	return nil, last
}

func (s *Store) resolveAt(at location, x prefix, depth int, tries *int) ([]byte, error) {
	blk, err := s.block(at)
	if err != nil {
		return nil, err
	}
	e, data, err := blk.at(at.pos)
	if err != nil {
		return nil, err
	}
	if prefixOf(e.id) != x {
		return nil, malformedError("another object lies in its place")
	}
	if e.delta {
		base, err := s.resolve(e.base, depth-1, tries)
		if err != nil {
			return nil, err
		}
		if data, err = applyDelta(nil, base, data, e.size); err != nil {
			return nil, err
		}
	}
	if oid.Sum(data) != e.id {
		return nil, malformedError("its bytes do not match its id")
	}
	return data, nil
}

// locations lists every place of an object.
func (s *Store) locations(x prefix) []location {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []location
	for _, p := range s.packs {
		for i := p.tail.byPrefix[x]; i != 0; i = p.tail.previous[i-1] {
			o := &p.tail.objects[i-1]
			all = append(all, location{p, p.tail.blocks[o.block], int(o.pos)})
		}
		if p.index == nil {
			continue
		}
		for i := p.index.firstAt(x[:]); i < p.index.objects(); i++ {
			o := p.index.object(i)
			if prefixOf(o.id) != x {
				break
			}
			if ref, ok := p.index.ref(o); ok {
				all = append(all, location{p, ref, int(o.pos)})
			}
		}
	}
	return slices.Clip(all)
}
