package manifest

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/rewind-cli/rewind/cas/oid"
)

// Histories is History of several paths: their keys are in the same blocks, and each is read once.
func (db *DB) Histories(paths []string) (map[string][]Version, error) {
	return ask(db, func(s *state) (map[string][]Version, error) { return s.histories(db.src.Dir, paths) })
}

func (s *state) histories(load func(oid.ID) (Dir, error), paths []string) (map[string][]Version, error) {
	chains := map[uint64][]uint64{}
	chain := func(seq uint64) ([]uint64, error) {
		if known, ok := chains[seq]; ok {
			return known, nil
		}
		found, err := s.chain(seq)
		if err == nil {
			chains[seq] = found
		}
		return found, err
	}
	sets := make(map[string]map[uint64][]uint64, len(paths))
	var keys [][]byte // of what the sets say
	for _, path := range paths {
		if !inTrees(path) || sets[path] != nil {
			continue
		}
		var err error
		if sets[path], err = s.setsOf(path, chain); err != nil {
			return nil, err
		}
		for _, of := range sets[path] {
			for _, seq := range of {
				keys = append(keys, appendPath(seqKey(keyChanges, seq), path))
			}
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	values := make(map[string][]byte, len(keys))
	for _, key := range keys {
		value, err := s.gen.Get(key)
		if err != nil {
			return nil, err
		}
		values[string(key)] = value
	}
	get := func(key []byte) ([]byte, error) { return values[string(key)], nil }
	all := make(map[string][]Version, len(paths))
	load = Remember(load)
	for _, path := range slices.Sorted(maps.Keys(sets)) { // neighbours are in the same directories
		err := s.versions(path, sets[path], load, get, func(v Version) error {
			all[path] = append(all[path], v)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// TouchesOf is Touches of several paths, each of which gets its own, the oldest first.
func (db *DB) TouchesOf(q TouchQuery, paths []string) (map[string][]Touch, error) {
	return ask(db, func(s *state) (map[string][]Touch, error) { return s.touchesOf(q, paths) })
}

func (s *state) touchesOf(q TouchQuery, paths []string) (map[string][]Touch, error) {
	q.To = cmp.Or(q.To, math.MaxUint64)
	all := make(map[string][]Touch, len(paths))
	wanted := make(map[string]bool, len(paths))
	var folded []uint64
	for _, path := range paths {
		if wanted[path] {
			continue
		}
		wanted[path] = true
		if s.gen == nil || q.From > s.gen.meta.last {
			continue
		}
		err := s.touchKeys(touchedKey(path), q, func(seq uint64, _ []byte) error {
			folded = append(folded, seq)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(folded)
	for _, seq := range folded {
		t, err := s.foldedTouch(seq)
		if err != nil {
			return nil, err
		}
		all[t.Path] = append(all[t.Path], *t)
	}
	from := sort.Search(len(s.touches), func(i int) bool { return s.touches[i].Seq >= q.From })
	for _, t := range s.touches[from:] {
		if t.Seq > q.To {
			break
		}
		if wanted[t.Path] {
			all[t.Path] = append(all[t.Path], *t)
		}
	}
	return all, nil
}
