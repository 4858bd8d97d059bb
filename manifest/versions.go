package manifest

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
)

// Version is a path in the checkpoint that changed it.
type Version struct {
	Seq      uint64 // of the checkpoint
	Old, New *Entry // before and after; nil: absent
}

// History yields the checkpoints that changed one path, newest first: what Changes
// of all living checkpoints says about it.
func (db *DB) History(path string) iter.Seq2[Version, error] {
	return stream(db, func(s *state, visit func(Version) error) error {
		return s.history(db.src.Dir, path, visit)
	})
}

func (s *state) history(load func(oid.ID) (Dir, error), path string, visit func(Version) error) error {
	if !inTrees(path) {
		return nil
	}
	sets, err := s.setsOf(path, s.chain)
	if err != nil {
		return err
	}
	return s.versions(path, sets, Remember(load), s.gen.Get, visit)
}

// inTrees reports whether there can be such a path in a tree: else its key would be another's.
func inTrees(path string) bool {
	return path != "" && path[0] != '/' && path[len(path)-1] != '/' && !strings.Contains(path, "//") && !strings.Contains(path, "\x00")
}

// versions visits what the checkpoints that may have changed a path did to it, newest first.
func (s *state) versions(path string, sets map[uint64][]uint64, load func(oid.ID) (Dir, error), get func([]byte) ([]byte, error), visit func(Version) error) error {
	for _, seq := range slices.Backward(slices.Sorted(maps.Keys(sets))) {
		v, err := s.version(seq, path, sets[seq], load, get)
		if err != nil {
			return err
		}
		if differs(v.Old, v.New) {
			if err := visit(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// setsOf maps the living checkpoints that may have changed path to the sets that say so,
// newest first; to nil where the trees themselves must be asked.
func (s *state) setsOf(path string, chain func(uint64) ([]uint64, error)) (map[uint64][]uint64, error) {
	sets := map[uint64][]uint64{}
	if s.gen != nil {
		if err := s.foldedSets(path, sets, chain); err != nil {
			return nil, err
		}
	}
	return sets, s.unlisted(func(seq uint64) {
		if seq != 0 && s.index.at(seq) != 0 {
			sets[seq] = nil
		}
	})
}

// unlisted visits the checkpoints of which no key of a history says what they changed: new ones, those whose set could not
// be made or whose tree was rewritten, and the one after each of these.
func (s *state) unlisted(visit func(seq uint64)) error {
	withNext := func(seq uint64) {
		visit(seq)
		visit(s.index.next(seq, &anyKind))
	}
	for seq := range s.rewritten {
		withNext(seq)
	}
	for _, seq := range s.fresh {
		visit(seq)
	}
	if s.gen == nil {
		return nil
	}
	return s.gen.scan([]byte{keyUnfolded}, func(key, _ []byte) error {
		withNext(lastSeq(key))
		return nil
	})
}

func (s *state) foldedSets(path string, sets map[uint64][]uint64, chainOf func(uint64) ([]uint64, error)) error {
	prefix := historyKey(path)
	if len(prefix)+8 > longestKey {
		// No set has it: checkpoints with paths so long are unfolded, those without do not hold it.
		return nil
	}
	var heir uint64
	var chain []uint64
	return s.gen.scan(prefix, func(key, _ []byte) error {
		if len(key) != len(prefix)+8 {
			return s.gen.damaged("key of a history")
		}
		seq := newestSeq(key)
		living := seq
		if s.index.at(seq) == 0 {
			living = s.index.next(seq, &anyKind)
		}
		if living == 0 {
			return nil
		}
		if living != heir {
			var err error
			if chain, err = chainOf(living); err != nil {
				return err
			}
			heir = living
		}
		if slices.Contains(chain, seq) {
			sets[living] = append(sets[living], seq)
		}
		return nil
	})
}

// version is what living checkpoint seq did to path.
func (s *state) version(seq uint64, path string, sets []uint64, load func(oid.ID) (Dir, error), get func([]byte) ([]byte, error)) (Version, error) {
	if sets == nil {
		c, err := s.bySeq(seq)
		if err != nil {
			return Version{}, err
		}
		before, err := s.rootBefore(seq)
		if err != nil {
			return Version{}, err
		}
		v := Version{Seq: seq}
		if v.New, err = findBare(load, c.Root, path); err == nil {
			v.Old, err = findBare(load, before, path)
		}
		return v, err
	}
	v := Version{Seq: seq}
	for i, at := range sets {
		value, err := get(appendPath(seqKey(keyChanges, at), path))
		if err != nil {
			return v, err
		}
		c, err := parseChange(path, value)
		if err != nil {
			return v, s.gen.damaged(err.Error())
		}
		if i == 0 {
			v.New = c.New
		}
		v.Old = c.Old
	}
	return v, nil
}

func findBare(load func(oid.ID) (Dir, error), root oid.ID, path string) (*Entry, error) {
	e, ok, err := Find(load, root, path)
	if err != nil || !ok {
		return nil, err
	}
	return e.bare(), nil
}
