package manifest

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// Paths yields every path below a directory ("" is the root) that a living checkpoint changed, and so
// every one that there ever was, with those of directories: folded ones in path order, each once, then
// those of checkpoints that are not folded yet, of which some may come again.
func (db *DB) Paths(below string) iter.Seq2[string, error] {
	return stream(db, func(s *state, visit func(string) error) error {
		return s.paths(db, below, visit)
	})
}

func (s *state) paths(db *DB, below string, visit func(string) error) error {
	if s.gen != nil {
		if err := s.foldedPaths(db, below, visit); err != nil {
			return err
		}
	}
	ask := slices.Clone(s.fresh)
	for seq := range s.rewritten {
		ask = append(ask, seq)
	}
	for _, seq := range ask {
		err := s.changes(db.src.Dir, seq, func(c Change) error {
			if below == "" || strings.HasPrefix(c.Path, below+"/") {
				return visit(c.Path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *state) foldedPaths(db *DB, below string, visit func(string) error) error {
	prefix := []byte{keyHistory}
	if below != "" {
		prefix = append(appendPath(prefix, below), 0)
	}
	last := ""
	return s.gen.scan(prefix, func(key, _ []byte) error {
		if len(key) < len(prefix)+10 || key[len(prefix)] == 0 {
			return nil // the directory's own
		}
		path := pathOf(key[1 : len(key)-10])
		if path == last {
			return nil
		}
		seq := newestSeq(key)
		if s.index.at(seq) == 0 && s.index.next(seq, &anyKind) == 0 {
			return nil // of a checkpoint that is gone, and nothing came after it
		}
		last = path
		if len(s.rewritten) > 0 { // what was forgotten is not to be named
			known := false
			err := s.history(db.src.Dir, path, func(Version) error {
				known = true
				return errStop
			})
			if err != nil && err != errStop || !known {
				return err
			}
		}
		return visit(path)
	})
}

// Previous is the living checkpoint before a sequence number, safety ones too; nil for none.
func (db *DB) Previous(seq uint64) (*Checkpoint, error) {
	return ask(db, func(s *state) (*Checkpoint, error) { return s.bySeq(s.index.prev(seq, &anyKind)) })
}

// Pair is a living checkpoint, and the living one before it, safety ones too; nil for none.
type Pair struct{ Checkpoint, Before *Checkpoint }

// Touching yields the living checkpoints that may have changed a directory ("" is the root) or something below it,
// newest first. It reads what it yields, not what is behind it.
func (db *DB) Touching(dir string) iter.Seq2[Pair, error] {
	return stream(db, func(s *state, visit func(Pair) error) error {
		ahead, before := readAhead{s: s}, (*Checkpoint)(nil)
		read := func(seq uint64) (*Checkpoint, error) {
			if seq == 0 || before != nil && before.Seq == seq {
				return before, nil
			}
			return ahead.bySeq(seq)
		}
		pair := func(seq uint64) error {
			c, err := read(seq)
			if err != nil {
				return err
			}
			before = nil
			if before, err = read(s.index.prev(seq, &anyKind)); err != nil {
				return err
			}
			return visit(Pair{c, before})
		}
		if dir == "" {
			return s.sequence(Query{All: true}, pair)
		}
		seqs, err := s.touched(dir)
		for _, seq := range seqs {
			if err := pair(seq); err != nil {
				return err
			}
		}
		return err
	})
}

// touched are the sequence numbers of the living checkpoints that may have changed a directory, but for the root, or
// something below it, newest first.
func (s *state) touched(dir string) ([]uint64, error) {
	sets := map[uint64]bool{}
	add := func(seq uint64) {
		if seq != 0 && s.index.at(seq) == 0 {
			seq = s.index.next(seq, &anyKind)
		}
		if seq != 0 {
			sets[seq] = true
		}
	}
	if s.gen != nil {
		err := s.gen.scan(append(appendPath([]byte{keyHistory}, dir), 0), func(key, _ []byte) error {
			add(newestSeq(key))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if err := s.unlisted(add); err != nil {
		return nil, err
	}
	seqs := slices.Sorted(maps.Keys(sets))
	slices.Reverse(seqs)
	return seqs, nil
}
