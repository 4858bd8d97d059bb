package maintain

import (
	"context"
	"github.com/rewind-cli/rewind/cas/oid"
	"maps"

	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/reach"
	"github.com/rewind-cli/rewind/manifest"
)

// dropCheckpoints deletes the chosen checkpoints from the log, and marks those that
// somebody put to use meanwhile.
func (c *collection) dropCheckpoints(ctx context.Context) error {
	if len(c.drop) == 0 && len(c.dead) == 0 {
		return nil
	}
	was := maps.Clone(c.dead)
	kept, err := c.commitDeletion(ctx)
	if err != nil {
		return err
	}
	for _, t := range c.state.Touches {
		if was[t.Seq] && !c.dead[t.Seq] {
			if err := c.marks.Record(ctx, manifest.Record{Touch: &t}); err != nil {
				return c.p.Classify(err)
			}
		}
	}
	for _, k := range kept {
		delete(c.gone, k.ID)
		if err := c.marks.Record(ctx, manifest.Record{Checkpoint: &k}); err != nil {
			return c.p.Classify(err)
		}
	}
	c.result.removed(c.state, c.drop, c.gone)
	return c.state.replayed.Drop(c.result.Removed) // so that what they hand on is in the log that is written
}

// removed notes which checkpoints go.
func (r *Collected) removed(state *LogState, drop []manifest.Checkpoint, gone map[manifest.CheckpointID]bool) {
	numbers := numbersOf(state.Checkpoints)
	r.Removed, r.Gone = nil, nil
	for _, c := range drop {
		if gone[c.ID] {
			r.Removed, r.Gone = append(r.Removed, c.ID), append(r.Gone, project.Listed{Checkpoint: c, N: numbers[c.ID]})
		}
	}
	r.Kept = len(state.Checkpoints) - len(r.Removed)
}

// numbersOf are the numbers that list gives checkpoints, of all of them with the newest first: safety checkpoints have none.
func numbersOf(all []manifest.Checkpoint) map[manifest.CheckpointID]int {
	numbers := make(map[manifest.CheckpointID]int, len(all))
	for _, c := range all {
		if c.Kind != manifest.Safety {
			numbers[c.ID] = len(numbers) + 1
		}
	}
	return numbers
}

// shares counts the files of a checkpoint that are marked: something else has them. It notes what the checkpoint's state of git names.
func (c *collection) shares(ctx context.Context) error {
	if c.o.Checkpoint == (manifest.CheckpointID{}) || len(c.drop) == 0 {
		return nil
	}
	if !c.drop[0].Git.IsZero() {
		var err error
		if c.named, _, err = mentionedBy(c.p, []oid.ID{c.drop[0].Git}); err != nil {
			return err
		}
	}
	return manifest.Walk(c.p.LoadDir, c.drop[0].Root, func(_ string, e manifest.Entry) error {
		if e.Kind != manifest.Subdir && e.Kind != manifest.Symlink && e.Size > 0 && c.marks.Has(e.ID) {
			c.result.Shared++
		}
		return ctx.Err()
	})
}

// commitDeletion commits the deletion of checkpoints, but for those that are kept
// because they were pinned, named or put to use since they were chosen: until the
// deletion is in the log, a mark counts; after it, there is nothing to mark. The touches of sessions
// that keep none go with them; what becomes of c.dead is those.
func (c *collection) commitDeletion(ctx context.Context) (kept []manifest.Checkpoint, err error) {
	err = commit.Transact(ctx, c.p, func(db *manifest.DB) ([]manifest.Record, error) {
		var operations []manifest.Operation
		for o, err := range db.Operations() {
			if err != nil {
				return nil, err
			}
			if operations = append(operations, o); len(operations) == project.KeptOperations {
				break
			}
		}
		used := (&LogState{Operations: operations, crashed: crashed(c.p)}).inUse()
		d := manifest.Delete{Time: c.p.Env.Time().UTC(), Reason: "retention"}
		if c.o.Checkpoint != (manifest.CheckpointID{}) {
			d.Reason = manifest.ReasonForget
		}
		for _, chosen := range c.drop {
			now, ok, err := db.ByID(chosen.ID)
			switch {
			case err != nil:
				return nil, err
			case ok && (now.Pinned || now.Name != "" || used[chosen.ID] && !reach.IsTorn(ctx, c.p, now.Root)):
				kept = append(kept, now)
			default:
				d.Checkpoints = append(d.Checkpoints, chosen.ID)
			}
		}
		var err error
		if d.Touches, err = c.state.stillDead(db, c.dead, d.Checkpoints); err != nil {
			return nil, err
		}
		if len(d.Checkpoints) == 0 && len(d.Touches) == 0 {
			return nil, nil
		}
		return []manifest.Record{{Delete: &d}}, nil
	})
	return kept, err
}
