package timeline

import (
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Teller is the row that tells of a change between a checkpoint and the one before it: the tool call
// or the prompt that the one before was taken for, else the checkpoint itself. moved says of two trees
// whether the change is between them, and so whether an operation made it. A row whose side is Did or
// After and whose checkpoint is the one asked for did not make the change: it came before it.
func Teller(db *manifest.DB, l project.Listed, moved func(from, to oid.ID) (bool, error)) (*Row, error) {
	before, err := db.Previous(l.Seq)
	if err != nil {
		return nil, err
	}
	own := newRow(&l)
	if err := ended(db, own); err != nil || before == nil {
		return own, err
	}
	for o, err := range db.Operations() { // the newest first
		switch {
		case err != nil:
			return nil, err
		case o.Seq > l.Seq || !o.Kind.Moves() || !movedTree(&o):
			continue
		}
		if o.Seq < before.Seq {
			break
		}
		if did, err := moved(o.Before, o.After); err != nil {
			return nil, err
		} else if did {
			r := &Row{Kind: Operation, Seq: o.Seq, Time: o.Time, Operation: &o, Session: o.Session, Side: Did}
			if r.Target, err = listed(db, o.Checkpoint); err != nil {
				return nil, err
			}
			return r, targetEnds(db, r)
		}
	}
	older := newRow(&project.Listed{Checkpoint: *before, N: db.Position(before.Seq)})
	if err := ended(db, older); err != nil {
		return nil, err
	}
	switch {
	case older.Side == Since, own.Side == Since && own.Kind != Manual && own.Kind != Safety:
		return own, nil
	case own.Kind == Manual && older.Kind != Tool:
		return own, nil // a person said what it is
	}
	return older, nil
}

// ended is ends for the rows that end a turn.
func ended(db *manifest.DB, r *Row) error {
	if r.Kind != Stop && r.Kind != SessionEnd {
		return nil
	}
	return ends(db, r)
}
