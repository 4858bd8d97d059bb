package maintain

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/reach"
	"github.com/rewind-cli/rewind/manifest"
)

// deadTouches are those of sessions that have no living checkpoint when the ones in gone go. What was
// seen since the newest checkpoint stays: its session may get its first one any moment.
func (s *LogState) deadTouches(gone map[manifest.CheckpointID]bool) map[uint64]bool {
	sessions, newest := map[string]bool{}, uint64(0)
	for _, c := range s.Checkpoints {
		if !gone[c.ID] {
			sessions[c.Session] = true
			newest = max(newest, c.Seq)
		}
	}
	dead := map[uint64]bool{}
	for _, t := range s.Touches {
		if !sessions[t.Session] && t.Seq < newest {
			dead[t.Seq] = true
		}
	}
	return dead
}

// markTouches marks what the touches that stay need.
func (s *LogState) markTouches(ctx context.Context, m *reach.Reach, dead map[uint64]bool) error {
	for _, t := range s.Touches {
		if dead[t.Seq] {
			continue
		}
		if err := m.Record(ctx, manifest.Record{Touch: &t}); err != nil {
			return err
		}
	}
	return nil
}

// stillDead takes those touches out of dead whose session has got a checkpoint since they were chosen, or
// keeps one of those that were to go, and gives the others. The caller holds the append lock.
func (s *LogState) stillDead(db *manifest.DB, dead map[uint64]bool, deleted []manifest.CheckpointID) (seqs []uint64, err error) {
	alive := map[string]bool{}
	for _, t := range s.Touches {
		if !dead[t.Seq] {
			continue
		}
		lives, known := alive[t.Session]
		if !known {
			if lives, err = hasCheckpoint(db, t.Session, deleted); err != nil {
				return nil, err
			}
			alive[t.Session] = lives
		}
		if lives {
			delete(dead, t.Seq)
			continue
		}
		seqs = append(seqs, t.Seq)
	}
	slices.Sort(seqs)
	return seqs, nil
}

// hasCheckpoint reports whether a session has a living checkpoint that is not in deleted.
func hasCheckpoint(db *manifest.DB, session string, deleted []manifest.CheckpointID) (bool, error) {
	for c, err := range db.Checkpoints(manifest.Query{Session: session, All: true}) {
		if err != nil {
			return false, err
		}
		if c.Session == session && !slices.Contains(deleted, c.ID) {
			return true, nil
		}
	}
	return false, nil
}
