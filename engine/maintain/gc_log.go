package maintain

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/reach"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// LogState is the whole log, read for gc and forget.
type LogState struct {
	Checkpoints []manifest.Checkpoint // newest first, those that were not deleted
	Operations  []manifest.Operation  // newest first
	Touches     []manifest.Touch      // oldest first, those that are left
	last        uint64                // sequence number of the last record
	Amended     bool                  // some record is to be read otherwise than it was written
	replayed    *manifest.Replayed
	crashed     *manifest.Operation // that did not finish, nil for none
}

// ReadLog reads every record. Unlike a query it tolerates none that it cannot read.
func ReadLog(ctx context.Context, p *project.Project) (*LogState, error) {
	replayed, err := manifest.Replay(ctx, p.Log(), 1, manifest.Strict)
	if entry, ok := errors.AsType[*manifest.EntryError](err); ok {
		return nil, &account.DamagedStoreError{What: fmt.Sprintf("entry %d of the log", entry.Seq), Err: entry.Err}
	}
	if err != nil {
		return nil, p.Classify(err)
	}
	return &LogState{
		Checkpoints: replayed.Checkpoints(), Operations: replayed.Operations(), Touches: replayed.Touches(),
		last: replayed.Last(), Amended: replayed.Amended(), replayed: replayed, crashed: crashed(p),
	}, nil
}

// crashed is the operation that is under way, or did not finish, nil for none.
func crashed(p *project.Project) *manifest.Operation {
	j, err := treeio.Open(p.RestoreDir())
	if err != nil || j == nil {
		return nil // one that cannot be read cannot be finished
	}
	r, _ := manifest.ParseRecord(j.Note)
	return r.Operation
}

// inUse are the checkpoints that undo-restore, or a restore that did not finish, may still need.
func (s *LogState) inUse() map[manifest.CheckpointID]bool {
	used := map[manifest.CheckpointID]bool{}
	for i, o := range s.Operations {
		if i == project.KeptOperations {
			break
		}
		used[o.Safety] = true
	}
	if o := s.crashed; o != nil {
		used[o.Checkpoint], used[o.Safety] = true, true
	}
	return used
}

// undoable are the operations that can be undone when the checkpoints in gone go: the newest, and of the older ones those
// whose safety checkpoint stays. What those need may be gone: earlier versions kept it only for the newest.
func (s *LogState) undoable(gone map[manifest.CheckpointID]bool) (newest, older []manifest.Operation) {
	stays := map[manifest.CheckpointID]bool{}
	for _, c := range s.Checkpoints {
		stays[c.ID] = !gone[c.ID]
	}
	n := min(len(s.Operations), project.KeptOperations)
	for _, o := range s.Operations[n:] {
		if stays[o.Safety] {
			older = append(older, o)
		}
	}
	return s.Operations[:n], older
}

// mark marks what stays when the checkpoints in gone go, and the touches in dead.
func (s *LogState) mark(ctx context.Context, m *reach.Reach, count func(done, total int), gone map[manifest.CheckpointID]bool, dead map[uint64]bool) error {
	for i, c := range s.Checkpoints {
		count(i, len(s.Checkpoints))
		if gone[c.ID] {
			continue
		}
		if err := m.Record(ctx, manifest.Record{Checkpoint: &c}); err != nil {
			return err
		}
	}
	count(len(s.Checkpoints), len(s.Checkpoints))
	newest, older := s.undoable(gone)
	for _, o := range newest {
		if err := m.Record(ctx, manifest.Record{Operation: &o}); err != nil {
			return err
		}
	}
	for _, o := range older {
		if err := m.Record(ctx, manifest.Record{Operation: &o}); err != nil && !project.IsDamage(err) {
			return err
		}
	}
	return s.markTouches(ctx, m, dead)
}

// keeps decides which commits of the log stay: all but those of checkpoints and touches that are gone.
func (s *LogState) keeps(gone map[manifest.CheckpointID]bool, dead map[uint64]bool) func(cas.Commit) bool {
	touches := map[uint64]bool{}
	for _, t := range s.Touches {
		touches[t.Seq] = true
	}
	alive := map[manifest.CheckpointID]bool{}
	for _, c := range s.Checkpoints {
		alive[c.ID] = true
	}
	return func(c cas.Commit) bool {
		if c.Seq > s.last {
			return true // committed after the log was read
		}
		r, err := manifest.ParseRecord(c.Payload)
		switch {
		case err != nil:
			return true
		case r.Checkpoint != nil:
			return alive[r.Checkpoint.ID] && !gone[r.Checkpoint.ID]
		case r.Touch != nil:
			return touches[c.Seq] && !dead[c.Seq]
		}
		return true
	}
}

// amend gives a commit the payload that says by itself what the whole log says of
// it: names and pins, too, so that a purge can leave out the marks that made them.
func (s *LogState) amend(c cas.Commit) []byte {
	r, err := manifest.ParseRecord(c.Payload)
	if err != nil {
		return c.Payload
	}
	now := r
	switch {
	case r.Checkpoint != nil:
		if is, ok := s.replayed.ByID(r.Checkpoint.ID); ok {
			now.Checkpoint = &is
		}
	case r.Touch != nil:
		if i, ok := slices.BinarySearchFunc(s.Touches, c.Seq, func(t manifest.Touch, seq uint64) int { return cmp.Compare(t.Seq, seq) }); ok {
			now.Touch = &s.Touches[i]
		}
	case r.Operation != nil:
		for i := range s.Operations {
			if s.Operations[i].Seq == c.Seq {
				now.Operation = &s.Operations[i]
			}
		}
	}
	data := now.Append(nil)
	if bytes.Equal(data, r.Append(nil)) {
		return c.Payload // with what a newer program may have put into it
	}
	return data
}

// markSince marks what the log has got from sequence number from on.
func markSince(ctx context.Context, p *project.Project, m *reach.Reach, from uint64) error {
	for c, err := range p.Store.Commits(from) {
		if err != nil {
			return p.Classify(err)
		}
		r, err := manifest.ParseRecord(c.Payload)
		if err != nil {
			return &account.DamagedStoreError{What: fmt.Sprintf("entry %d of the log", c.Seq), Err: err}
		}
		if err := m.Record(ctx, r); err != nil {
			return p.Classify(err)
		}
	}
	return nil
}
