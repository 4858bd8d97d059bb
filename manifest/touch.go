package manifest

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/rewind-cli/rewind/manifest/wire"
)

// Touch is one path as a hook saw it, without a look at the tree: before an edit, where it differs
// from the newest checkpoint, or after it. Its content is an object, as that of an entry of a directory.
type Touch struct {
	Seq      uint64    // the commit's sequence number; not part of the payload
	Time     time.Time // when the path was looked at, UTC
	Agent    string
	Session  string
	Subagent string
	PromptID string
	Tool     string
	Call     string // the agent's id of the tool call
	Path     string // below the root, slashes between its names; the bytes on disk
	After    bool   // after the call; else before it
	Entry    *Entry // nil: nothing was there. Its name is the path's last; never a directory
	// Changed is the path's change time then, UTC, of one that is gone that of its directory: when it was written last.
	// Zero: not known.
	Changed time.Time
	Alone   bool // after the call: it is known to have made all that differs from the look before
}

// MaxTouchPath is the longest path of a touch, in bytes: longer ones are not recorded.
const MaxTouchPath = 4096

func (t *Touch) fields(c *codec) {
	c.time(1, &t.Time)
	c.text(2, &t.Agent)
	c.packed(3, &t.Session)
	c.packed(4, &t.Subagent)
	c.packed(5, &t.PromptID)
	c.text(6, &t.Tool)
	c.text(7, &t.Call)
	c.text(8, &t.Path)
	c.flag(9, &t.After)
	if t.Entry != nil {
		data := string(appendBody(appendHead(nil, t.Entry), t.Entry))
		c.presentText(10, &data)
	} else if data := ""; c.reading && c.presentText(10, &data) {
		t.Entry = t.entry(c, data)
	}
	c.time(11, &t.Changed)
	c.flag(12, &t.Alone)
}

// entry reads what was there.
func (t *Touch) entry(c *codec, data string) *Entry {
	d := wire.Decoder{What: c.in.What, Data: data}
	e := nameless(&d, t.Path)
	switch {
	case d.Err != nil:
		c.fail("entry: ", d.Err)
	case d.More():
		c.in.Fail("entry: more than one")
	case e.Kind == Subdir:
		c.in.Fail("entry: a directory")
	}
	return e
}

// dropped reports whether the touch says nothing: an amendment leaves such a one of what is forgotten.
func (t *Touch) dropped() bool { return t.Path == "" }

// applyTouch adds a touch.
func (s *state) applyTouch(seq uint64, t Touch) {
	if t.dropped() {
		return
	}
	t.Seq = seq
	s.touches = append(s.touches, &t)
}

// dropTouch takes a touch out, whether it is in memory or in the generation. What is not there is no matter.
func (s *state) dropTouch(seq uint64) error {
	if i, ok := s.freshTouch(seq); ok {
		s.touches = slices.Delete(s.touches, i, i+1)
		return nil
	}
	if s.gen == nil || s.untouched[seq] != nil {
		return nil
	}
	t, err := s.gen.touch(seq)
	if err != nil || t == nil {
		return err
	}
	s.untouched[seq] = t
	return nil
}

func (s *state) freshTouch(seq uint64) (i int, ok bool) {
	i = sort.Search(len(s.touches), func(i int) bool { return s.touches[i].Seq >= seq })
	return i, i < len(s.touches) && s.touches[i].Seq == seq
}

// amendTouch gives a touch another meaning; one that says nothing goes. The path stays: of another
// one nothing changes.
func (s *state) amendTouch(seq uint64, t Touch) error {
	if t.dropped() {
		s.forgotten = true
		return s.dropTouch(seq)
	}
	t.Seq = seq
	if i, ok := s.freshTouch(seq); ok {
		if s.touches[i].Path == t.Path {
			s.touches[i] = &t
		}
		return nil
	}
	if s.gen == nil || s.untouched[seq] != nil {
		return nil
	}
	old, err := s.gen.touch(seq)
	if err != nil || old == nil || old.Path != t.Path {
		return err
	}
	s.retouched[seq] = &t
	return nil
}

// touch is a touch of the generation, nil for none.
func (g *generation) touch(seq uint64) (*Touch, error) {
	value, err := g.Get(seqKey(keyTouch, seq))
	if err != nil || len(value) == 0 {
		return nil, err
	}
	return g.parseTouch(seq, value)
}

func (g *generation) parseTouch(seq uint64, value []byte) (*Touch, error) {
	r, _ := ParseRecord(value)
	if r.Touch == nil || r.Touch.dropped() {
		return nil, g.damaged("touch")
	}
	r.Touch.Seq = seq
	return r.Touch, nil
}

// TouchQuery selects touches.
type TouchQuery struct {
	From, To uint64 // sequence numbers, both inclusive; To 0: up to the newest
}

// Touches yields touches, the oldest first.
func (db *DB) Touches(q TouchQuery) iter.Seq2[Touch, error] {
	return stream(db, func(s *state, visit func(Touch) error) error { return s.findTouches(q, visit) })
}

func (s *state) findTouches(q TouchQuery, visit func(Touch) error) error {
	q.To = cmp.Or(q.To, math.MaxUint64)
	if s.gen != nil && q.From <= s.gen.meta.last {
		err := s.touchKeys([]byte{keyTouch}, q, func(seq uint64, value []byte) (err error) {
			t := s.retouched[seq]
			if t == nil {
				if t, err = s.gen.parseTouch(seq, value); err != nil {
					return err
				}
			}
			return visit(*t)
		})
		if err != nil {
			return err
		}
	}
	from := sort.Search(len(s.touches), func(i int) bool { return s.touches[i].Seq >= q.From })
	for _, t := range s.touches[from:] {
		if t.Seq > q.To {
			break
		}
		if err := visit(*t); err != nil {
			return err
		}
	}
	return nil
}

// foldedTouch is one that is there.
func (s *state) foldedTouch(seq uint64) (*Touch, error) {
	if t := s.retouched[seq]; t != nil {
		return t, nil
	}
	t, err := s.gen.touch(seq)
	if err == nil && t == nil {
		err = s.gen.damaged("touch")
	}
	return t, err
}

// touchKeys visits the keys of living touches of a family, within a query's bounds.
func (s *state) touchKeys(prefix []byte, q TouchQuery, visit func(seq uint64, value []byte) error) error {
	first, last := appendSeq(slices.Clone(prefix), q.From), appendSeq(slices.Clone(prefix), q.To)
	return s.gen.scanRange(first, last, func(key, value []byte) error {
		if len(key) != len(first) {
			return s.gen.damaged("key of a touch")
		}
		seq := lastSeq(key)
		if s.untouched[seq] != nil {
			return nil
		}
		return visit(seq, value)
	})
}

// Touches are those that are left, the oldest first.
func (r *Replayed) Touches() []Touch {
	list := make([]Touch, 0, len(r.s.touches))
	for _, t := range r.s.touches {
		list = append(list, *t)
	}
	return list
}

// emitTouches writes what the state holds of touches in the keys of a generation.
func (f *folder) emitTouches() {
	s, b := f.state, &f.batch
	for _, t := range s.touches {
		b.Add(seqKey(keyTouch, t.Seq), Record{Touch: t}.Append(nil))
		b.Add(appendSeq(touchedKey(t.Path), t.Seq), one)
	}
	for seq, t := range s.untouched {
		b.Add(seqKey(keyTouch, seq), nil)
		b.Add(appendSeq(touchedKey(t.Path), seq), nil)
	}
}
