package manifest

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/cas/oid"
)

// state is what the log says up to a record: a generation (none for nothing) and,
// in memory, what the records after it change. Fold writes the latter into the next
// generation, so folded or not, the answers come from the same code.
type state struct {
	gen    *generation // may be nil
	last   uint64      // newest sequence number applied
	newest *Record     // that record; nil: it is the generation's

	index       index
	checkpoints map[uint64]*Checkpoint // new ones, and old ones that are not as the generation has them
	fresh       []uint64               // sequence numbers of the new ones, deleted ones included
	ids         map[CheckpointID]uint64
	names       map[string]uint64 // 0: taken away
	operations  []*Operation
	sessions    map[sessionName]*sessionAt
	bindings    map[boundAt]*Binding
	touches     []*Touch              // new ones, by sequence number
	untouched   map[uint64]*Touch     // those of the generation that are gone
	retouched   map[uint64]*Touch     // those that are not the generation's
	forgotten   bool                  // a touch was dropped of which no table may tell
	rewritten   map[uint64]bool       // root is not the generation's
	rewrote     bool                  // a record replaced others
	amended     map[uint64]*Operation // that are not the generation's
	died        int                   // checkpoints of the generation that were deleted

	recent atomic.Pointer[span] // what a long query read last; nil: nothing
}

type sessionName struct{ agent, id string }

type sessionAt struct {
	seq     uint64
	session Session
}

// newState begins at gen, or at an empty log.
func newState(gen *generation) (*state, error) {
	s := &state{
		gen:         gen,
		checkpoints: map[uint64]*Checkpoint{},
		ids:         map[CheckpointID]uint64{},
		names:       map[string]uint64{},
		sessions:    map[sessionName]*sessionAt{},
		bindings:    map[boundAt]*Binding{},
		untouched:   map[uint64]*Touch{},
		retouched:   map[uint64]*Touch{},
		rewritten:   map[uint64]bool{},
		amended:     map[uint64]*Operation{},
	}
	if gen == nil {
		return s, nil
	}
	s.last = gen.meta.last
	err := gen.scan([]byte{keyBucket}, func(key, value []byte) error {
		if len(key) != 9 || len(value) > bucketSize {
			return gen.damaged("bucket of the index")
		}
		s.index.buckets = append(s.index.buckets, bucket{number: lastSeq(key), codes: slices.Clone(value)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// fingerprint tells records apart that got the same sequence number: the log can lose its last
// commits in a power cut after somebody read them, and go on with others.
func fingerprint(r Record) uint64 { return xxhash.Sum64(r.Append(nil)) }

// mark is the fingerprint of the newest record.
func (s *state) mark() uint64 {
	switch {
	case s.newest != nil:
		return fingerprint(*s.newest)
	case s.gen != nil:
		return s.gen.meta.mark
	}
	return 0
}

// apply adds the next record. Records that cannot be (of no checkpoint, of
// one deleted, a second commit of the same checkpoint) change nothing.
func (s *state) apply(r Sequenced) error {
	if r.Seq <= s.last {
		return &FormatError{What: "log", Offset: int(r.Seq), Reason: "sequence numbers not in ascending order"}
	}
	s.last, s.newest = r.Seq, &r.Record
	switch rec := r.Record; {
	case rec.Checkpoint != nil:
		return s.applyCheckpoint(r.Seq, *rec.Checkpoint)
	case rec.Mark != nil:
		return s.applyMark(rec.Mark)
	case rec.Delete != nil:
		if err := s.deleteAll(rec.Delete.Checkpoints); err != nil {
			return err
		}
		for _, seq := range rec.Delete.Touches {
			if err := s.dropTouch(seq); err != nil {
				return err
			}
		}
	case rec.Rewrite != nil:
		s.rewrote = true
		for i, id := range rec.Rewrite.Checkpoints {
			c, err := s.byID(id)
			if err != nil {
				return err
			}
			if c == nil || i >= len(rec.Rewrite.Roots) {
				continue
			}
			c = s.alter(c)
			c.Root = rec.Rewrite.Roots[i]
			s.rewritten[c.Seq] = true
		}
	case rec.Amend != nil:
		s.rewrote = true
		return s.amend(rec.Amend)
	case rec.Operation != nil:
		o := *rec.Operation
		o.Seq = r.Seq
		s.operations = append(s.operations, &o)
	case rec.Session != nil:
		n := *rec.Session
		s.sessions[sessionName{n.Agent, n.ID}] = &sessionAt{seq: r.Seq, session: n}
	case rec.Binding != nil:
		s.bind(r.Seq, rec.Binding)
	case rec.Touch != nil:
		s.applyTouch(r.Seq, *rec.Touch)
	}
	return nil
}

func (s *state) applyCheckpoint(seq uint64, c Checkpoint) error {
	if known, err := s.seqOf(c.ID); err != nil || known != 0 {
		return err
	}
	c.Seq = seq
	s.ids[c.ID] = seq
	s.checkpoints[seq] = &c
	s.fresh = append(s.fresh, seq)
	s.index.set(seq, codeOf(c.Kind))
	name := c.Name
	c.Name = ""
	return s.rename(&c, name)
}

func (s *state) applyMark(m *Mark) error {
	c, err := s.byID(m.Checkpoint)
	if err != nil || c == nil {
		return err
	}
	c = s.alter(c)
	if m.Pinned != nil {
		c.Pinned = *m.Pinned
	}
	if m.Name != nil {
		return s.rename(c, *m.Name)
	}
	return nil
}

// rename gives c, which is the state's own, a name and takes it from its holder.
func (s *state) rename(c *Checkpoint, name string) error {
	if c.Name == name {
		return nil
	}
	if c.Name != "" {
		s.names[c.Name] = 0
	}
	c.Name = name
	if name == "" {
		return nil
	}
	holder, err := s.byName(name)
	if err != nil {
		return err
	}
	if holder != nil && holder.Seq != c.Seq {
		s.alter(holder).Name = ""
	}
	s.names[name] = c.Seq
	return nil
}

// deleteAll deletes checkpoints. Their windows, and the times at which paths were written, move to the next one
// that lives; where none does, it is gone with them.
func (s *state) deleteAll(ids []CheckpointID) error {
	var gone []*Checkpoint
	for _, id := range ids {
		c, err := s.delete(id)
		if err != nil {
			return err
		}
		if c != nil && (c.Windows != "" || c.Changed != "" || c.untimed()) {
			gone = append(gone, c)
		}
	}
	slices.SortFunc(gone, func(a, b *Checkpoint) int { return cmp.Compare(a.Seq, b.Seq) })
	for len(gone) > 0 {
		heir := s.index.next(gone[0].Seq, &anyKind)
		n := 1
		for n < len(gone) && (heir == 0 || gone[n].Seq < heir) {
			n++
		}
		if heir != 0 {
			c, err := s.bySeq(heir)
			if err != nil {
				return err
			}
			s.alter(c).inherit(gone[:n])
		}
		gone = gone[n:]
	}
	return nil
}

// inherit takes over what checkpoints before it held that are gone, oldest first. Where it cannot hold when all paths were
// written it says so, as of windows.
func (c *Checkpoint) inherit(gone []*Checkpoint) {
	windows, changed := make([]string, 0, len(gone)+2), ""
	for _, g := range append(slices.Clone(gone), c) {
		windows = append(windows, g.Windows)
		joined := joinChanged(changed, g.Changed)
		if joined == "" && changed+g.Changed != "" || g.untimed() {
			windows = append(windows, string(AppendWindows(nil, []Window{{Time: g.Time, Edge: WindowLost, Summary: "0"}})))
		}
		changed = joined
	}
	if strings.Join(windows, "") != "" {
		c.Windows = joinWindows(windows...)
	}
	c.Changed = changed
}

// untimed reports whether more paths changed than it can hold the times of.
func (c *Checkpoint) untimed() bool {
	return c.Changed == "" && c.Parent != (CheckpointID{}) && c.Added+c.Modified+c.Deleted > MaxChanged
}

// delete gives the checkpoint that was deleted, nil for none.
func (s *state) delete(id CheckpointID) (*Checkpoint, error) {
	c, err := s.byID(id)
	if err != nil || c == nil {
		return nil, err
	}
	if c.Name != "" {
		s.names[c.Name] = 0
	}
	if _, fresh := slices.BinarySearch(s.fresh, c.Seq); !fresh {
		s.died++
		s.alter(c) // kept, for the keys that the next fold takes away
	}
	s.index.set(c.Seq, 0)
	return c, nil
}

// alter makes c one that may be changed.
func (s *state) alter(c *Checkpoint) *Checkpoint {
	if own, ok := s.checkpoints[c.Seq]; ok {
		return own
	}
	own := *c
	s.checkpoints[c.Seq] = &own
	return &own
}

// seqOf is the sequence number that id was first committed with, deleted or not; 0 for none.
func (s *state) seqOf(id CheckpointID) (uint64, error) {
	if seq, ok := s.ids[id]; ok || s.gen == nil {
		return seq, nil
	}
	return s.gen.number(idKey(id))
}

// bySeq is a living checkpoint, nil for none. It belongs to the state.
func (s *state) bySeq(seq uint64) (*Checkpoint, error) {
	if s.index.at(seq) == 0 {
		return nil, nil
	}
	if c, ok := s.checkpoints[seq]; ok {
		return c, nil
	}
	return s.gen.checkpoint(seq)
}

func (s *state) byID(id CheckpointID) (*Checkpoint, error) {
	seq, err := s.seqOf(id)
	if err != nil || seq == 0 {
		return nil, err
	}
	return s.bySeq(seq)
}

func (s *state) byName(name string) (*Checkpoint, error) {
	seq, ok := s.names[name]
	if !ok && s.gen != nil {
		var err error
		if seq, err = s.gen.number(nameKey(name)); err != nil {
			return nil, err
		}
	}
	if seq == 0 {
		return nil, nil
	}
	return s.bySeq(seq)
}

// rootBefore is the tree of the living checkpoint before a sequence number, zero for none.
func (s *state) rootBefore(seq uint64) (root oid.ID, err error) {
	c, err := s.bySeq(s.index.prev(seq, &anyKind))
	if err == nil && c != nil {
		root = c.Root
	}
	return root, err
}
