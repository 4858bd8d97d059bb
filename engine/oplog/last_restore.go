package oplog

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/manifest"
)

// LastRestore is the newest restore that was asked for in the session id, or in one that it came from
// before it began, and that nobody took back; nil for none. Its Safety has the files from before it.
// parent is what the session came from, where the log may not know of it yet. undone: it took the one
// before it back, so that going to its Safety does that one again.
func LastRestore(ctx context.Context, p *project.Project, id, parent string) (last *manifest.Operation, undone bool, err error) {
	if id == "" {
		return nil, false, nil
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		family, err := session.LineageOf(db, id, parent)
		if err != nil {
			return err
		}
		var ops []manifest.Operation
		for op, err := range db.Operations() {
			if err != nil {
				return err
			}
			ops = append(ops, op)
		}
		began := uint64(0) // of the session's first checkpoint
		if len(family) > 1 {
			for c, err := range db.Checkpoints(manifest.Query{Session: id}) {
				if err != nil {
					return err
				}
				began = c.Seq
			}
		}
		undo, _ := Stacks(ops)
		for _, op := range undo {
			if op.ChangesNothing() {
				continue
			}
			if i := slices.Index(family, op.Session); i < 0 || op.Session == "" || i > 0 && began > 0 && op.Seq > began {
				continue
			}
			undone = last != nil && op.Checkpoint == last.Safety && !undone
			last = &op
		}
		if last == nil {
			return nil
		}
		if _, ok, err := db.ByID(last.Safety); err != nil || !ok {
			last, undone = nil, false
			return err
		}
		return nil
	})
	return last, undone, err
}
