package manifest

import (
	"bytes"
	"cmp"
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

// Checkpoints yields checkpoints, newest first, with their present names and pins. It reads what it yields, not what is
// behind it.
func (db *DB) Checkpoints(q Query) iter.Seq2[Checkpoint, error] {
	return stream(db, func(s *state, visit func(Checkpoint) error) error {
		left := q.Limit
		ahead := readAhead{s: s}
		return s.sequence(q, func(seq uint64) error {
			c, err := ahead.bySeq(seq)
			if err != nil {
				return err
			}
			if q.Kinds != nil && !slices.Contains(q.Kinds, c.Kind) || q.Session != "" && c.Session != q.Session {
				return nil
			}
			if err := visit(*c); err != nil {
				return err
			}
			if left--; left == 0 {
				return errStop
			}
			return nil
		})
	})
}

// readAhead is bySeq for sequence numbers that go down. Neighbouring records lie in the same blocks: read
// together, 10,000 of them take a fifth of the time that one look-up for each does.
type readAhead struct {
	s     *state
	from  uint64        // the lowest number that was read; 0: none was
	span  uint64        // how many numbers were read at once
	ready []*Checkpoint // of the generation, the oldest first; what is behind the newest that was asked is gone
}

// span are the checkpoints of the generation from one sequence number to another, the oldest first, as a long query read
// them. Whoever looks up what lies shortly before one of its answers finds it here. It never changes.
type span struct {
	from, to uint64
	list     []*Checkpoint
}

// bySeq is nil where the span does not have it.
func (p *span) bySeq(seq uint64) *Checkpoint {
	if p == nil || seq < p.from || seq > p.to {
		return nil
	}
	i, ok := slices.BinarySearchFunc(p.list, seq, func(c *Checkpoint, seq uint64) int { return cmp.Compare(c.Seq, seq) })
	if !ok {
		return nil
	}
	return p.list[i]
}

const (
	firstSpan   = 4 // most queries look for one record close by; a long one is soon at the longest span
	longestSpan = 512
)

func (a *readAhead) bySeq(seq uint64) (*Checkpoint, error) {
	s := a.s
	if _, own := s.checkpoints[seq]; own || s.gen == nil {
		return s.bySeq(seq)
	}
	if a.from == 0 || seq < a.from {
		if c := s.recent.Load().bySeq(seq); c != nil {
			return c, nil
		}
		if err := a.read(seq); err != nil {
			return nil, err
		}
	}
	for n := len(a.ready); n > 0; n = len(a.ready) {
		c := a.ready[n-1]
		if c.Seq < seq {
			break
		}
		if a.ready = a.ready[:n-1]; c.Seq == seq {
			return c, nil
		}
	}
	return s.bySeq(seq) // which says what is wrong
}

// read reads the checkpoints up to seq that the index says are there.
func (a *readAhead) read(seq uint64) error {
	if seq+a.span < a.from { // far from what was read
		a.span = 0
	}
	a.span = min(max(2*a.span, firstSpan), longestSpan)
	a.from = seq - min(a.span, seq) + 1
	a.ready = nil
	err := a.s.gen.scanRange(seqKey(keyCheckpoint, a.from), seqKey(keyCheckpoint, seq), func(key, value []byte) error {
		at := lastSeq(key)
		if _, own := a.s.checkpoints[at]; own || a.s.index.at(at) == 0 {
			return nil
		}
		c, err := a.s.gen.parseCheckpoint(at, value)
		a.ready = append(a.ready, c)
		return err
	})
	if err == nil && a.span == longestSpan {
		a.s.recent.Store(&span{from: a.from, to: seq, list: a.ready})
	}
	return err
}

// sequence visits the sequence numbers of living checkpoints that may fit
// the query, newest first.
func (s *state) sequence(q Query, visit func(seq uint64) error) error {
	kinds := setOf(q.All, q.Kinds)
	before := cmp.Or(q.Before, math.MaxUint64)
	if q.Session == "" {
		for seq := s.index.prev(before, &kinds); seq != 0; seq = s.index.prev(seq, &kinds) {
			if err := visit(seq); err != nil {
				return err
			}
		}
		return nil
	}
	for _, seq := range slices.Backward(s.fresh) {
		if seq < before && s.checkpoints[seq].Session == q.Session && kinds[s.index.at(seq)] {
			if err := visit(seq); err != nil {
				return err
			}
		}
	}
	if s.gen == nil {
		return nil
	}
	if near := s.recent.Load(); near != nil && near.from < before && before <= near.to+1 {
		for seq := s.index.prev(before, &kinds); seq >= near.from; seq = s.index.prev(seq, &kinds) {
			c := near.bySeq(seq)
			if own, ok := s.checkpoints[seq]; ok {
				c = own
			}
			if c == nil || c.Session == q.Session {
				if err := visit(seq); err != nil { // which passes over those of others
					return err
				}
			}
		}
		before = near.from
	}
	prefix := ofSessionKey(q.Session)
	return s.gen.scanFrom(appendNewest(bytes.Clone(prefix), before-1), prefix, func(key, _ []byte) error {
		if seq := newestSeq(key); kinds[s.index.at(seq)] {
			return visit(seq)
		}
		return nil
	})
}

func find(db *DB, query func(s *state) (*Checkpoint, error)) (Checkpoint, bool, error) {
	c, err := ask(db, query)
	if err != nil || c == nil {
		return Checkpoint{}, false, err
	}
	return *c, true, nil
}

// ByID finds a living checkpoint by its id.
func (db *DB) ByID(id CheckpointID) (Checkpoint, bool, error) {
	return find(db, func(s *state) (*Checkpoint, error) { return s.byID(id) })
}

// ByName finds the checkpoint that holds the name now.
func (db *DB) ByName(name string) (Checkpoint, bool, error) {
	return find(db, func(s *state) (*Checkpoint, error) { return s.byName(name) })
}

// Nth finds the n-th newest checkpoint, from 1, safety ones not counted.
func (db *DB) Nth(n int) (Checkpoint, bool, error) {
	return find(db, func(s *state) (*Checkpoint, error) { return s.bySeq(s.index.nth(n)) })
}

// At finds the newest checkpoint at or before t (safety ones not counted).
func (db *DB) At(t time.Time) (Checkpoint, bool, error) {
	return find(db, func(s *state) (*Checkpoint, error) { return s.at(t) })
}

func (s *state) at(t time.Time) (*Checkpoint, error) {
	limit := nanos(t)
	var best uint64
	bestTime := int64(math.MinInt64)
	for _, seq := range s.fresh {
		if at := nanos(s.checkpoints[seq].Time); numbered[s.index.at(seq)] && at <= limit && at >= bestTime {
			best, bestTime = seq, at
		}
	}
	if s.gen != nil {
		err := s.gen.scanFrom(timeKey(t, math.MaxUint64), []byte{keyTime}, func(key, _ []byte) error {
			seq := newestSeq(key)
			if !numbered[s.index.at(seq)] {
				return nil
			}
			at := int64(newestSeq(key[:len(key)-8]) ^ 1<<63)
			if best == 0 || at > bestTime {
				best = seq
			}
			return errStop
		})
		if err != nil && err != errStop {
			return nil, err
		}
	}
	return s.bySeq(best)
}

// ByPrefix finds living checkpoints by the beginning of their id's letters, in
// the ids' order, at most limit (0: all). A prefix with other letters finds nothing.
func (db *DB) ByPrefix(prefix string, limit int) ([]Checkpoint, error) {
	first, last, ok := idRange(prefix)
	if !ok {
		return nil, nil
	}
	return ask(db, func(s *state) ([]Checkpoint, error) { return s.between(first, last, limit) })
}

func (s *state) between(first, last CheckpointID, limit int) ([]Checkpoint, error) {
	var all []Checkpoint
	add := func(seq uint64) error {
		c, err := s.bySeq(seq)
		if c != nil {
			all = append(all, *c)
		}
		return err
	}
	if s.gen != nil {
		err := s.gen.scanRange(idKey(first), idKey(last), func(_, value []byte) error {
			if limit > 0 && len(all) == limit {
				return errStop
			}
			return add(lastSeq(value))
		})
		if err != nil && err != errStop {
			return nil, err
		}
	}
	compare := func(a, b CheckpointID) int { return bytes.Compare(a[:], b[:]) }
	for id, seq := range s.ids { // that are not folded
		if compare(first, id) <= 0 && compare(id, last) <= 0 {
			if err := add(seq); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(all, func(a, b Checkpoint) int { return compare(a.ID, b.ID) })
	if limit > 0 {
		all = all[:min(limit, len(all))]
	}
	return all, nil
}

// Count counts living checkpoints: those with a position, and safety ones.
func (db *DB) Count() (checkpoints, safety int, err error) {
	checkpoints, safety = db.now().index.counts()
	return checkpoints, safety, nil
}

// Position is n of the checkpoint that Nth(n) finds; 0 for a safety
// checkpoint, and for none.
func (db *DB) Position(seq uint64) int { return db.now().index.position(seq) }

// Operations yields the operation log, newest first.
func (db *DB) Operations() iter.Seq2[Operation, error] {
	return stream(db, func(s *state, visit func(Operation) error) error {
		for _, o := range slices.Backward(s.operations) {
			if err := visit(*o); err != nil {
				return err
			}
		}
		if s.gen == nil {
			return nil
		}
		return s.gen.scan([]byte{keyOperation}, func(key, value []byte) error {
			r, _ := ParseRecord(value)
			if r.Operation == nil {
				return s.gen.damaged("operation")
			}
			r.Operation.Seq = newestSeq(key)
			if o := s.amended[r.Operation.Seq]; o != nil {
				return visit(*o)
			}
			return visit(*r.Operation)
		})
	})
}

// Sessions yields the newest record of each session, the newest first.
func (db *DB) Sessions() iter.Seq2[Session, error] {
	return stream(db, func(s *state, visit func(Session) error) error {
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
				return err
			}
		}
		slices.SortFunc(all, func(a, b sessionAt) int { return cmp.Compare(b.seq, a.seq) })
		for _, at := range all {
			if err := visit(at.session); err != nil {
				return err
			}
		}
		return nil
	})
}
