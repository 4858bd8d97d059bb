package manifest

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/manifest/wire"
)

// Binding says which checkpoint has the files as they were at entries of a session's conversation:
// for agents whose entries get their ids only after the checkpoint was taken, and for many entries
// of one state. The newest binding of an entry counts.
type Binding struct {
	Seq            uint64 // not part of the payload
	Time           time.Time
	Agent, Session string
	Entries        []string // ids in the agent's own words, not empty
	Checkpoint     CheckpointID
}

// boundAt is an entry of a session.
type boundAt struct{ session, entry string }

func (b *Binding) fields(c *codec) {
	c.time(1, &b.Time)
	c.text(2, &b.Agent)
	c.packed(3, &b.Session)
	var list []byte
	for _, entry := range b.Entries {
		list = wire.AppendText(list, entry)
	}
	parts := c.list(4, list)
	for parts.More() {
		b.Entries = append(b.Entries, parts.Text())
	}
	c.fail("", parts.Err)
	c.eight(5, &b.Checkpoint)
}

// bind applies a Binding, once for each of its entries. Callers must check that the checkpoint still exists; a later binding
// may replace this one.
func (s *state) bind(seq uint64, b *Binding) {
	for _, entry := range b.Entries {
		one := *b
		one.Seq, one.Entries = seq, []string{entry}
		s.bindings[boundAt{b.Session, entry}] = &one
	}
}

func (g *generation) binding(value []byte) (*Binding, error) {
	seq, r := parseSequenced(value)
	if r.Binding == nil || len(r.Binding.Entries) != 1 {
		return nil, g.damaged("binding")
	}
	r.Binding.Seq = seq
	return r.Binding, nil
}

// Bound is the binding of a session's entry.
func (db *DB) Bound(session, entry string) (b Binding, ok bool, err error) {
	found, err := ask(db, func(s *state) (*Binding, error) { return s.bound(boundAt{session, entry}) })
	if found == nil || err != nil {
		return Binding{}, false, err
	}
	return *found, true, nil
}

func (s *state) bound(at boundAt) (*Binding, error) {
	if own := s.bindings[at]; own != nil || s.gen == nil {
		return own, nil
	}
	value, err := s.gen.Get(bindingKey(at))
	if err != nil || len(value) == 0 {
		return nil, err
	}
	return s.gen.binding(value)
}

// Bindings yields the bindings of a session, one for each entry, the newest first.
func (db *DB) Bindings(session string) iter.Seq2[Binding, error] {
	return stream(db, func(s *state, visit func(Binding) error) error {
		all, err := s.boundIn(session)
		if err != nil {
			return err
		}
		for _, b := range all {
			if err := visit(b); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *state) boundIn(session string) (all []Binding, err error) {
	for at, own := range s.bindings {
		if at.session == session {
			all = append(all, *own)
		}
	}
	if s.gen != nil {
		err = s.gen.scan(bindingsOf(session), func(_, value []byte) error {
			b, err := s.gen.binding(value)
			if err == nil && s.bindings[boundAt{session, b.Entries[0]}] == nil {
				all = append(all, *b)
			}
			return err
		})
	}
	slices.SortFunc(all, newestBinding)
	return all, err
}

func newestBinding(a, b Binding) int {
	return cmp.Or(cmp.Compare(b.Seq, a.Seq), cmp.Compare(a.Entries[0], b.Entries[0]))
}

// Bindings are those of all sessions, one for each entry, the newest first.
func (r *Replayed) Bindings() []Binding {
	var all []Binding
	for _, b := range r.s.bindings {
		all = append(all, *b)
	}
	slices.SortFunc(all, newestBinding)
	return all
}

// Sessions are the newest records of each session, in no order.
func (r *Replayed) Sessions() []Session {
	var all []Session
	for _, at := range r.s.sessions {
		all = append(all, at.session)
	}
	return all
}
