package manifest

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"time"
)

// Query selects checkpoints, newest first.
type Query struct {
	Before  uint64 // sequence number, exclusive; 0: from the newest
	Limit   int    // 0: all
	Session string
	Kinds   []CheckpointKind // nil: all but safety
	All     bool             // safety checkpoints too
}

// Checkpoints yields checkpoints, newest first, with names and pins as they are
// now. It reads what it yields, not what is behind it.
func (db *DB) Checkpoints(q Query) iter.Seq2[Checkpoint, error] {
	return func(yield func(Checkpoint, error) bool) {
		left := q.Limit
		if left <= 0 {
			left = math.MaxInt
		}
		before := q.Before
		if before == 0 {
			before = math.MaxUint64
		}
		kinds := setOf(q.All, q.Kinds)
		for seq, err := range db.sequence(q.Session, before, &kinds) {
			var c *Checkpoint
			if err == nil {
				c, err = db.state.bySeq(seq)
			}
			if err != nil {
				yield(Checkpoint{}, err)
				return
			}
			if c == nil || q.Kinds != nil && !slices.Contains(q.Kinds, c.Kind) || q.Session != "" && c.Session != q.Session {
				continue
			}
			if !yield(*c, nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// sequence yields the sequence numbers below before of living checkpoints of
// the kinds, of one session ("": of all), newest first.
func (db *DB) sequence(session string, before uint64, kinds *kindSet) iter.Seq2[uint64, error] {
	s := db.state
	return func(yield func(uint64, error) bool) {
		if session == "" {
			for seq := s.index.prev(before, kinds); seq != 0; seq = s.index.prev(seq, kinds) {
				if !yield(seq, nil) {
					return
				}
			}
			return
		}
		for _, seq := range slices.Backward(s.fresh) {
			if seq < before && s.checkpoints[seq].Session == session && kinds[s.index.at(seq)] && !yield(seq, nil) {
				return
			}
		}
		if s.gen == nil {
			return
		}
		prefix := ofSessionKey(session)
		err := s.gen.scanBack(prefix, appendSeq(bytes.Clone(prefix), before-1), func(key, _ []byte) error {
			if seq := lastSeq(key); kinds[s.index.at(seq)] && !yield(seq, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			yield(0, err)
		}
	}
}

func found(c *Checkpoint, err error) (Checkpoint, bool, error) {
	if err != nil || c == nil {
		return Checkpoint{}, false, err
	}
	return *c, true, nil
}

// BySeq, ByID and ByName find a living checkpoint.
func (db *DB) BySeq(seq uint64) (Checkpoint, bool, error) { return found(db.state.bySeq(seq)) }

// ByID finds a living checkpoint by its id.
func (db *DB) ByID(id CheckpointID) (Checkpoint, bool, error) { return found(db.state.byID(id)) }

// ByName finds the checkpoint that holds the name now.
func (db *DB) ByName(name string) (Checkpoint, bool, error) { return found(db.state.byName(name)) }

// ByPrefix finds living checkpoints by the beginning of their id's letters, in
// the ids' order, at most limit (0: all). A prefix with other letters finds nothing.
func (db *DB) ByPrefix(prefix string, limit int) ([]Checkpoint, error) {
	first, last, ok := idRange(prefix)
	if !ok {
		return nil, nil
	}
	s := db.state
	var all []Checkpoint
	add := func(seq uint64) error {
		c, err := s.bySeq(seq)
		if err == nil && c != nil {
			all = append(all, *c)
		}
		return err
	}
	fresh := s.freshIDs(first, last)
	before := func(id []byte) error { // the ids in memory that come before this one
		for len(fresh) > 0 && (id == nil || bytes.Compare(fresh[0][:], id) < 0) && (limit <= 0 || len(all) < limit) {
			if err := add(s.ids[fresh[0]]); err != nil {
				return err
			}
			fresh = fresh[1:]
		}
		if limit > 0 && len(all) >= limit {
			return errStop
		}
		return nil
	}
	var err error
	if s.gen != nil {
		err = s.gen.scanRange(idKey(first), idKey(last), func(key, value []byte) error {
			if err := before(key[1:]); err != nil {
				return err
			}
			return add(lastSeq(value))
		})
	}
	if err == nil {
		err = before(nil)
	}
	if err != nil && err != errStop {
		return nil, err
	}
	return all, nil
}

// At finds the newest checkpoint at or before t (safety ones not counted).
func (db *DB) At(t time.Time) (Checkpoint, bool, error) {
	s := db.state
	limit := sortNanos(t)
	var best uint64
	bestTime := int64(math.MinInt64)
	for _, seq := range s.fresh {
		if at := sortNanos(s.checkpoints[seq].Time); numbered[s.index.at(seq)] && at <= limit && at >= bestTime {
			best, bestTime = seq, at
		}
	}
	if s.gen != nil {
		err := s.gen.scanBack([]byte{keyTime}, timeKey(t, math.MaxUint64), func(key, _ []byte) error {
			seq := lastSeq(key)
			if !numbered[s.index.at(seq)] {
				return nil
			}
			at := int64(lastSeq(key[:len(key)-8]) ^ 1<<63)
			if best == 0 || at > bestTime {
				best = seq
			}
			return errStop
		})
		if err != nil && err != errStop {
			return Checkpoint{}, false, err
		}
	}
	return found(s.bySeq(best))
}

// Count counts living checkpoints: those with a position, and safety ones.
func (db *DB) Count() (checkpoints, safety int, err error) {
	checkpoints, safety = db.state.index.counts()
	return checkpoints, safety, nil
}

// Nth finds the n-th newest checkpoint, from 1, safety ones not counted.
func (db *DB) Nth(n int) (Checkpoint, bool, error) {
	return found(db.state.bySeq(db.state.index.nth(n)))
}

// Position is n of the checkpoint that Nth(n) finds; 0 for a safety
// checkpoint, and for none.
func (db *DB) Position(seq uint64) int { return db.state.index.position(seq) }

// Prev is the sequence number of the living checkpoint before seq, safety
// ones counted: the one that Changes compares with. 0 for none.
func (db *DB) Prev(seq uint64) uint64 { return db.state.index.prev(seq, &anyKind) }

// Last is the newest sequence number that the answers know of; 0 for an empty log.
func (db *DB) Last() uint64 { return db.state.last }

// Operations yields the operation log, newest first.
func (db *DB) Operations() iter.Seq2[Operation, error] {
	s := db.state
	return func(yield func(Operation, error) bool) {
		for _, o := range slices.Backward(s.operations) {
			if !yield(*o, nil) {
				return
			}
		}
		if s.gen == nil {
			return
		}
		err := s.gen.scanBack([]byte{keyOperation}, seqKey(keyOperation, math.MaxUint64), func(key, value []byte) error {
			r, err := ParseRecord(value)
			if err != nil || r.Operation == nil {
				return s.gen.damaged("operation")
			}
			r.Operation.Seq = lastSeq(key)
			if !yield(*r.Operation, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			yield(Operation{}, err)
		}
	}
}

// Sessions yields the newest record of each session, the newest first.
func (db *DB) Sessions() iter.Seq2[Session, error] {
	s := db.state
	return func(yield func(Session, error) bool) {
		var all []sessionAt
		for _, at := range s.sessions {
			all = append(all, *at)
		}
		if s.gen != nil {
			err := s.gen.scan([]byte{keySession}, func(_, value []byte) error {
				at, err := s.gen.session(value)
				if err == nil && s.sessions[sessionName{at.session.Agent, at.session.ID}] == nil {
					all = append(all, at)
				}
				return err
			})
			if err != nil {
				yield(Session{}, err)
				return
			}
		}
		slices.SortFunc(all, func(a, b sessionAt) int {
			if a.seq > b.seq {
				return -1
			}
			return 1
		})
		for _, at := range all {
			if !yield(at.session, nil) {
				return
			}
		}
	}
}
