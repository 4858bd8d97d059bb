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
	Auto    bool          // a sweep that nobody asked for: never more than half at once
	only    bool          // give back space: retention removes nothing
	purge   bool          // leave no byte of what nothing needs
	wait    time.Duration // how long a purge waits for those who read the store
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
		lock, err := p.lock(ctx, gcLockName)
		if err != nil {
			return nil, err
		}
		defer lock.release()
		p.mirrorSettings()
	}
	return p.collect(ctx, o)
}

// gcLockName is held by the one that sweeps, or forgets.
const gcLockName = "gc"

// collect is GC under the gc lock.
func (p *Project) collect(ctx context.Context, o GCOptions) (*Collected, error) {
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
	}
	result.removed(drop, gone, len(state.checkpoints))
	m := &marker{live: map[cas.ID]struct{}{}, load: p.loadDir, get: p.store.Get}
	m.marked = p.counting("gc", "checkpoint")
	if err := state.mark(ctx, m, gone); err != nil {
		return nil, p.classify(err)
	}
	// What was forgotten before goes for good, whoever sweeps next.
	o.purge = !o.DryRun && (o.purge || state.amended || p.forgetting() != nil)
	if !o.purge {
		if err := p.markHead(ctx, m); err != nil {
			return nil, err
		}
	}
	// A sweep that nobody asked for only copies what it must.
	repack := cas.RepackOptions{Recompress: !o.Auto && !o.purge}
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
	if err := p.markSince(ctx, m, state.last+1); err != nil {
		return nil, err
	}
	if o.DryRun {
		result.Freed = plan.Freed()
		return result, nil
	}
	if len(drop) > 0 {
		// Forget first, then manifests and packs: after a crash here, the next gc goes on.
		kept, err := p.deleteCheckpoints(ctx, drop)
		if err != nil {
			return nil, err
		}
		for _, c := range kept {
			delete(gone, c.ID)
			if err := m.record(ctx, manifest.Record{Checkpoint: &c}); err != nil {
				return nil, p.classify(err)
			}
		}
		result.removed(drop, gone, len(state.checkpoints))
	}
	if err := p.pruneBackups(ctx, state.operations); err != nil {
		return nil, err
	}
	letGo() // the sweep needs the users lock for itself
	if o.purge {
		repack.Wait = o.wait
		err = p.purge(ctx, &purge{state: state, marks: m, gone: gone, repack: repack, result: result})
	} else {
		err = p.sweep(ctx, plan, m, result)
	}
	if err != nil {
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

// removed notes which checkpoints go.
func (r *Collected) removed(drop []manifest.Checkpoint, gone map[manifest.CheckpointID]bool, all int) {
	r.Removed = nil
	for _, c := range drop {
		if gone[c.ID] {
			r.Removed = append(r.Removed, c.ID)
		}
	}
	r.Kept = all - len(r.Removed)
}

// deleteCheckpoints commits the deletion of checkpoints, but for those that are kept
// because they were pinned, named or put to use since they were chosen: until the
// deletion is in the log, a mark counts; after it, there is nothing to mark.
func (p *Project) deleteCheckpoints(ctx context.Context, drop []manifest.Checkpoint) (kept []manifest.Checkpoint, err error) {
	err = p.transact(ctx, func(db *manifest.DB) ([]manifest.Record, error) {
		var operations []manifest.Operation
		for o, err := range db.Operations() {
			if err != nil {
				return nil, err
			}
			if operations = append(operations, o); len(operations) == keptOperations {
				break
			}
		}
		used := (&logState{operations: operations}).inUse()
		d := manifest.Delete{Time: p.env.now().UTC(), Reason: "retention"}
		for _, c := range drop {
			now, ok, err := db.ByID(c.ID)
			switch {
			case err != nil:
				return nil, err
			case ok && (now.Pinned || now.Name != "" || used[c.ID]):
				kept = append(kept, now)
			default:
				d.Checkpoints = append(d.Checkpoints, c.ID)
			}
		}
		if len(d.Checkpoints) == 0 {
			return nil, nil
		}
		return []manifest.Record{{Delete: &d}}, nil
	})
	return kept, err
}

// sweep copies what lives out of the packs that are worth it and unlinks them.
func (p *Project) sweep(ctx context.Context, plan *cas.RepackPlan, m *marker, result *Collected) error {
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
	was := readStamp(head.Stamp())
	if was.generation == generation {
		return nil
	}
	if !m.has(cas.ID(head.Root())) {
		return removeIfThere(file)
	}
	return scan.Restamp(file, stamp{generation, a.Last(), was.moment}.encode())
}

func removeIfThere(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
