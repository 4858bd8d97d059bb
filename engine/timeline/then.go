package timeline

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// untold gives a row what came after its state, where neither it nor the next one has that: after a save or an
// operation, up to the beginning of a session, a turn or a call. told: a turn's row has it.
func (t *Timeline) untold(db *manifest.DB, r *Row, state *State, told bool) error {
	n := t.last
	if told || n == nil || n.tellsBefore() || r.Kind != Operation && r.Side != Since || same(state, t.newer) {
		return nil
	}
	if r.Kind != Operation { // an older turn ends before it
		if running, err := t.running(db, n, state.Seq); err != nil || running {
			return err
		}
	}
	r.Then = &Row{Kind: Manual, Side: After, Time: n.Time, From: state, To: t.newer}
	if c := n.Checkpoint; c.Parent == state.ID {
		r.Then.counts = &c.Counts
	}
	return nil
}

// tellsBefore reports whether a row tells of what came before its state.
func (r *Row) tellsBefore() bool { return r.Side == Since || r.Kind == Operation }

// running reports whether a row is in a turn that began before a place in the log, after the operations there, and had not
// ended: the row of its prompt tells of all that came since.
func (t *Timeline) running(db *manifest.DB, r *Row, seq uint64) (bool, error) {
	of := t.turns[sessionKey{r.Agent, r.Session}]
	if r.Kind == Prompt || r.Kind == SessionStart || of == nil || of.end == nil || !of.end.Now && of.end.Seq <= seq {
		return false, nil
	}
	q := manifest.Query{Session: r.Session, Before: seq + 1, Kinds: []manifest.CheckpointKind{manifest.Prompt, manifest.Stop, manifest.SessionStart}}
	for before, err := range db.Checkpoints(q) {
		switch {
		case err != nil:
			return false, err
		case before.Agent != r.Agent || before.Subagent != "":
			continue
		case t.movedSince(before.Seq):
			return false, nil
		}
		return before.Kind != manifest.Stop && before.Prompt != "", nil
	}
	return false, nil
}

// alone reports whether a safety checkpoint has changes of which no other row tells.
func (t *Timeline) alone(ctx context.Context, db *manifest.DB, r *Row, older *event) (bool, error) {
	if older == nil || same(r.From, r.To) {
		return false, nil
	}
	if older.op == nil {
		if told, err := t.tells(db, older.checkpoint); err != nil || told {
			return false, err
		}
	}
	return t.differs(ctx, r)
}

// differs counts a row's changes, and reports whether there are any. What is damaged may have some: verify tells of it.
func (t *Timeline) differs(ctx context.Context, r *Row) (bool, error) {
	n, known := r.Known()
	if !known {
		if err := r.changes(ctx, t.p, nil, t.p.LoadDir, n.Count); err != nil {
			if err = t.p.Classify(err); project.IsDamage(err) {
				return true, nil
			}
			return false, err
		}
		r.counts = &n
	}
	return !n.None(), nil
}

// tells reports whether the row of the checkpoint taken in next has the changes up to the one taken in last.
func (t *Timeline) tells(db *manifest.DB, c *manifest.Checkpoint) (bool, error) {
	r := newRow(&project.Listed{Checkpoint: *c})
	switch r.Kind {
	case Stop:
		err := ends(db, r) // it may be the row of a prompt that has none
		return r.Side == After, err
	case Prompt:
		of := t.turns[sessionKey{r.Agent, r.Session}]
		return !slices.ContainsFunc(t.due, func(d dueEnd) bool { return d.of == of }), nil
	}
	return r.From != nil, nil
}
