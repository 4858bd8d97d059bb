package cas

import (
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// step is one place of an object, and what it is made from.
type step struct {
	at   location
	id   pack.Prefix
	base pack.Prefix // of a delta
	bad  bool        // tried, and no good
}

// resolve is the slow and complete way to an object: of an object in several places any of them may lead to it, at every step
// of its chain of bases. An interrupted gc leaves such: an old delta whose base is gone, beside the new copy. So does the joining
// of two logs: two objects may each be a delta of the other one, beside another copy of one of them. Every place is looked at
// once, and the shortest chain to a whole copy is taken.
func (s *Store) resolve(x pack.Prefix) ([]byte, error) {
	var wholes []*step
	after := map[pack.Prefix][]*step{} // by the base that they need
	seen := map[pack.Prefix]bool{x: true}
	var last error = pack.MalformedError("the base of its delta is missing")
	for todo := []pack.Prefix{x}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, at := range s.locations(id) {
			e, _, err := s.stored(at, id)
			if err != nil {
				last = err
				continue
			}
			k := &step{at: at, id: id, base: e.Base}
			if !e.Delta {
				wholes = append(wholes, k)
				continue
			}
			after[e.Base] = append(after[e.Base], k)
			if !seen[e.Base] {
				seen[e.Base] = true
				todo = append(todo, e.Base)
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
func shortest(x pack.Prefix, wholes []*step, after map[pack.Prefix][]*step) (chain []*step) {
	way := map[pack.Prefix]*step{}
	var reached []pack.Prefix
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
			data, err = pack.ApplyDelta(nil, whole, data, e.Size)
		}
		if err == nil && oid.Sum(data) != e.ID {
			err = pack.MalformedError("its bytes do not match its id")
		}
		if err != nil {
			k.bad = true
			return nil, err
		}
		whole = data
	}
	return whole, nil
}

// locations lists every place of an object.
func (s *Store) locations(x pack.Prefix) []location {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []location
	for _, p := range s.packs {
		for at := range p.tail.Places(x) {
			all = append(all, location{p, at})
		}
		for at := range p.index.Places(x) {
			all = append(all, location{p, at})
		}
	}
	return slices.Clip(all)
}
