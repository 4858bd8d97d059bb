package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"rewind/cas"
	"rewind/engine/scan"
	"rewind/manifest"
)

// GCOptions override the retention settings; zero values mean "as configured".
type GCOptions struct {
	Keep    int
	MaxAge  time.Duration
	MaxSize int64 // bytes
	DryRun  bool
	Auto    bool // a sweep that nobody asked for: never more than half at once
	only    bool // give back space: retention removes nothing
}

// Collected is what gc did, or would do.
type Collected struct {
	Removed  []manifest.CheckpointID
	Kept     int
	Freed    int64 // bytes on disk; on a dry run those of the objects that nothing would need
	DryRun   bool
	Deferred bool // somebody reads the store: the old packs go at the next sweep
}

// GC forgets the checkpoints that retention does not keep and gives back the
// space that nothing needs any more. It runs beside saves, restores and
// exports. If the log cannot be read whole, or holds no checkpoint, nothing is removed.
func (p *Project) GC(ctx context.Context, o GCOptions) (*Collected, error) {
	if !o.DryRun {
		if err := p.writing(ctx); err != nil {
			var full *DiskFullError
			if !errors.As(err, &full) { // a full disk is what gc is for
				return nil, err
			}
		}
		lock, err := p.lock(ctx, "gc")
		if err != nil {
			return nil, err
		}
		defer lock.release()
	}
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	held := true
	letGo := func() {
		if held {
			release()
			held = false
		}
	}
	defer letGo()
	if !o.DryRun {
		if err := p.store.Complete(); err != nil {
			return nil, p.classify(err)
		}
	}
	if reason, err := p.logEndsEarly(); err != nil {
		return nil, p.classify(err)
	} else if reason != "" {
		return nil, &DamagedStoreError{What: "the log", Err: errors.New(reason)}
	}
	state, err := p.readLog(ctx)
	if err != nil {
		return nil, err
	}
	result := &Collected{DryRun: o.DryRun}
	if len(state.checkpoints) == 0 {
		return result, nil
	}
	size, err := p.storeSize()
	if err != nil {
		return nil, err
	}
	var drop []manifest.Checkpoint
	if !o.only {
		drop = retentionOf(p.settings, o).plan(state.checkpoints, state.inUse(), size)
	}
	gone := map[manifest.CheckpointID]bool{}
	for _, c := range drop {
		gone[c.ID] = true
		result.Removed = append(result.Removed, c.ID)
	}
	result.Kept = len(state.checkpoints) - len(drop)
	m := &marker{live: map[cas.ID]struct{}{}, load: p.loadDir, get: p.store.Get}
	m.marked = p.counting("gc", "checkpoint")
	if err := state.mark(ctx, m, gone); err != nil {
		return nil, p.classify(err)
	}
	if err := p.markHead(ctx, m); err != nil {
		return nil, err
	}
	// A sweep that nobody asked for only copies what it must.
	repack := cas.RepackOptions{Recompress: !o.Auto}
	if p.progress != nil {
		repack.Progress = func(done, total int64) {
			p.progress(ProgressInfo{Phase: "gc", Bytes: done, TotalBytes: total})
		}
	}
	plan, err := p.store.PlanRepackWith(repack, m.has, state.keeps(gone))
	if err != nil {
		return nil, p.classify(err)
	}
	// The plan knows the log up to now, the marks only up to when it was read: what
	// was committed between would be in neither, nor in what Apply marks again.
	if err := p.markSince(ctx, m, state.newest()+1); err != nil {
		return nil, err
	}
	if o.DryRun {
		result.Freed = plan.Freed()
		return result, nil
	}
	if len(drop) > 0 {
		// Forget first, then manifests and packs: after a crash here, the next gc goes on.
		if _, err := p.commit(ctx, manifest.Record{Delete: &manifest.Delete{
			Time: p.env.now().UTC(), Checkpoints: result.Removed, Reason: "retention",
		}}); err != nil {
			return nil, err
		}
	}
	if err := p.pruneBackups(ctx, state.operations); err != nil {
		return nil, err
	}
	letGo() // the sweep needs the users lock for itself
	if err := p.sweep(ctx, plan, m, gone, result); err != nil {
		return nil, p.classify(err)
	}
	p.removeLeft()
	if err := p.fold(ctx); err != nil {
		return nil, err
	}
	after, err := p.storeSize()
	if err != nil {
		return nil, err
	}
	result.Freed = max(0, size-after)
	return result, nil
}

// sweep copies what lives out of the packs that are worth it and unlinks them.
func (p *Project) sweep(ctx context.Context, plan *cas.RepackPlan, m *marker, gone map[manifest.CheckpointID]bool, result *Collected) error {
	applied, err := plan.Apply(ctx, func(c cas.Commit) error {
		r, err := manifest.ParseRecord(c.Payload)
		if err != nil {
			return fmt.Errorf("read the log at %d: %w", c.Seq, err)
		}
		return m.record(ctx, r)
	})
	if err != nil {
		return err
	}
	result.Deferred = !applied
	return p.restampHead(m)
}

// fold brings the database up to date, and the indexes of the packs: nobody waits
// for the process that does.
func (p *Project) fold(ctx context.Context) error {
	release, err := p.use(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := manifest.Fold(ctx, p.databaseOptions(), logSource{p.store}); err != nil {
		return p.classify(err)
	}
	return p.classify(p.store.RefreshIndexes())
}

// logState is the whole log, read for gc and verify.
type logState struct {
	checkpoints []manifest.Checkpoint // newest first, those that were not deleted
	operations  []manifest.Operation  // newest first
	records     []manifest.Sequenced  // all, in order
}

// readLog reads every record. Unlike a query it tolerates none that it cannot read.
func (p *Project) readLog(ctx context.Context) (*logState, error) {
	s := &logState{}
	deleted := map[manifest.CheckpointID]bool{}
	for c, err := range p.store.Commits(0) {
		if err != nil {
			return nil, p.classify(err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := manifest.ParseRecord(c.Payload)
		if err != nil {
			return nil, &DamagedStoreError{What: fmt.Sprintf("entry %d of the log", c.Seq), Err: err}
		}
		setSeq(r, c.Seq)
		s.records = append(s.records, manifest.Sequenced{Seq: c.Seq, Record: r})
		if r.Delete != nil {
			for _, id := range r.Delete.Checkpoints {
				deleted[id] = true
			}
		}
	}
	roots := map[manifest.CheckpointID]manifest.ID{}
	marks := map[manifest.CheckpointID]*manifest.Checkpoint{}
	names := map[string]manifest.CheckpointID{}
	for i := range s.records {
		r := s.records[i].Record
		switch {
		case r.Checkpoint != nil && !deleted[r.Checkpoint.ID]:
			c := *r.Checkpoint
			marks[c.ID] = &c
			if c.Name != "" {
				names[c.Name] = c.ID
			}
		case r.Mark != nil:
			if c := marks[r.Mark.Checkpoint]; c != nil {
				if r.Mark.Pinned != nil {
					c.Pinned = *r.Mark.Pinned
				}
				if r.Mark.Name != nil {
					c.Name = *r.Mark.Name
					names[c.Name] = c.ID
				}
			}
		case r.Rewrite != nil:
			for j, id := range r.Rewrite.Checkpoints {
				roots[id] = r.Rewrite.Roots[j]
			}
		}
	}
	for i := len(s.records) - 1; i >= 0; i-- {
		r := s.records[i].Record
		if r.Checkpoint != nil && marks[r.Checkpoint.ID] != nil {
			c := *marks[r.Checkpoint.ID]
			if root, ok := roots[c.ID]; ok {
				c.Root = root
			}
			if names[c.Name] != c.ID {
				c.Name = ""
			}
			s.checkpoints = append(s.checkpoints, c)
			marks[c.ID] = nil // a commit that stands twice counts once
		}
		if r.Operation != nil {
			s.operations = append(s.operations, *r.Operation)
		}
	}
	return s, nil
}

// inUse are the checkpoints that undo-restore may still need.
func (s *logState) inUse() map[manifest.CheckpointID]bool {
	used := map[manifest.CheckpointID]bool{}
	for i, o := range s.operations {
		if i == keptOperations {
			break
		}
		used[o.Safety] = true
	}
	return used
}

// mark marks what stays when the checkpoints in gone go.
func (s *logState) mark(ctx context.Context, m *marker, gone map[manifest.CheckpointID]bool) error {
	for i, c := range s.checkpoints {
		if m.marked != nil {
			m.marked(i, len(s.checkpoints))
		}
		if gone[c.ID] {
			continue
		}
		if err := m.record(ctx, manifest.Record{Checkpoint: &c}); err != nil {
			return err
		}
	}
	for i, o := range s.operations {
		if i == keptOperations {
			break
		}
		if err := m.record(ctx, manifest.Record{Operation: &o}); err != nil {
			return err
		}
	}
	return nil
}

// keeps decides which commits of the log stay: all but those of checkpoints that are gone.
func (s *logState) keeps(gone map[manifest.CheckpointID]bool) func(cas.Commit) bool {
	alive := map[manifest.CheckpointID]bool{}
	for _, c := range s.checkpoints {
		alive[c.ID] = !gone[c.ID]
	}
	newest := s.newest()
	return func(c cas.Commit) bool {
		if c.Seq > newest {
			return true // committed after the log was read
		}
		r, err := manifest.ParseRecord(c.Payload)
		return err != nil || r.Checkpoint == nil || alive[r.Checkpoint.ID]
	}
}

// newest is the sequence number of the last record that was read.
func (s *logState) newest() uint64 {
	if n := len(s.records); n > 0 {
		return s.records[n-1].Seq
	}
	return 0
}

// markSince marks what the log has got from sequence number from on.
func (p *Project) markSince(ctx context.Context, m *marker, from uint64) error {
	for c, err := range p.store.Commits(from) {
		if err != nil {
			return p.classify(err)
		}
		r, err := manifest.ParseRecord(c.Payload)
		if err != nil {
			return &DamagedStoreError{What: fmt.Sprintf("entry %d of the log", c.Seq), Err: err}
		}
		if err := m.record(ctx, r); err != nil {
			return p.classify(err)
		}
	}
	return nil
}

// markHead keeps the tree of the stat cache, so that the next save need not read the project anew.
func (p *Project) markHead(ctx context.Context, m *marker) error {
	generation, err := p.store.Generation()
	if err != nil {
		return err
	}
	head, err := p.head(generation)
	if err != nil || head == nil {
		return err
	}
	if err := m.tree(ctx, head.Root()); err != nil {
		return p.classify(err)
	}
	return nil
}

// restampHead gives the head the store's new generation, if it is still the
// one whose tree was marked. Otherwise it is dropped: the next save reads everything.
func (p *Project) restampHead(m *marker) error {
	file := p.headFile()
	ctx, cancel := p.wait(context.Background())
	defer cancel()
	a, err := p.store.Append(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	head, err := scan.LoadHead(file)
	if err != nil || head == nil {
		return err
	}
	generation, err := p.store.Generation()
	if err != nil {
		return err
	}
	if of, _ := readStamp(head.Stamp()); of == generation {
		return nil
	}
	if !m.has(cas.ID(head.Root())) {
		return removeIfThere(file)
	}
	return scan.Restamp(file, stampOf(generation, a.Last()))
}

func removeIfThere(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
