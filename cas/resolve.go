package cas

import (
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
)

// step is one place of an object, and what it is made from.
type step struct {
	at   location
	id   prefix
	base prefix // of a delta
	bad  bool   // tried, and no good
}

// resolve is the slow and complete way to an object: of an object in several places any of them may lead to it, at every step
// of its chain of bases. An interrupted gc leaves such: an old delta whose base is gone, beside the new copy. So does the joining
// of two logs: two objects may each be a delta of the other one, beside another copy of one of them. Every place is looked at
// once, and the shortest chain to a whole copy is taken.
func (s *Store) resolve(x prefix) ([]byte, error) {
	var wholes []*step
	after := map[prefix][]*step{} // by the base that they need
	seen := map[prefix]bool{x: true}
	var last error = malformedError("the base of its delta is missing")
	for todo := []prefix{x}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, at := range s.locations(id) {
			e, _, err := s.stored(at, id)
			if err != nil {
				last = err
				continue
			}
			k := &step{at: at, id: id, base: e.base}
			if !e.delta {
				wholes = append(wholes, k)
				continue
			}
			after[e.base] = append(after[e.base], k)
			if !seen[e.base] {
				seen[e.base] = true
				todo = append(todo, e.base)
			}
		}
	}
	for {
		chain := shortest(x, wholes, after)
		if chain == nil {
			return nil, last
		}
		data, err := s.follow(chain)
		if err == nil {
			return data, nil
		}
		last = err
	}
}

// shortest is the shortest chain from a whole copy to x, through places that are not bad; nil: there is none.
func shortest(x prefix, wholes []*step, after map[prefix][]*step) (chain []*step) {
	way := map[prefix]*step{}
	var reached []prefix
	reach := func(steps []*step) {
		for _, k := range steps {
			if !k.bad && way[k.id] == nil {
				way[k.id] = k
				reached = append(reached, k.id)
			}
		}
	}
	reach(wholes)
	for i := 0; i < len(reached) && way[x] == nil; i++ {
		reach(after[reached[i]])
	}
	for k := way[x]; k != nil; k = way[k.base] {
		chain = append(chain, k)
		if slices.Contains(wholes, k) {
			break
		}
	}
	slices.Reverse(chain)
	return chain
}

// follow makes the object at the end of a chain. The place that leads to wrong bytes is bad from then on.
func (s *Store) follow(chain []*step) (whole []byte, err error) {
	for i, k := range chain {
		e, data, err := s.stored(k.at, k.id)
		if err == nil && i > 0 {
			data, err = applyDelta(nil, whole, data, e.size)
		}
		if err == nil && oid.Sum(data) != e.id {
			err = malformedError("its bytes do not match its id")
		}
		if err != nil {
			k.bad = true
			return nil, err
		}
		whole = data
	}
	return whole, nil
}

// stored reads an object as it is stored at a place.
func (s *Store) stored(at location, x prefix) (*entry, []byte, error) {
	blk, err := s.block(at)
	if err != nil {
		return nil, nil, err
	}
	e, data, err := blk.at(at.pos)
	if err == nil && prefixOf(e.id) != x {
		err = malformedError("another object lies in its place")
	}
	return e, data, err
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
