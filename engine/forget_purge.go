package engine

import (
	"context"
	"path/filepath"

	"rewind/cas"
	"rewind/manifest"
)

// purge is a sweep that leaves no byte of what nothing needs.
type purge struct {
	state  *logState
	marks  *marker
	gone   map[manifest.CheckpointID]bool
	repack cas.RepackOptions
	result *Collected
}

// purgePasses bounds how often the packs are looked through: the first pass may
// have to copy a delta's base that the second one drops, and saves run beside both.
const purgePasses = 6

// purge rewrites the log, so that each record says by itself what the whole log says
// of it, and every pack that holds anything else than what is needed. Where somebody reads the
// store, or the process dies, the note of it stays, and the next one begins again.
func (p *Project) purge(ctx context.Context, o *purge) error {
	// The database must not need the records that go.
	if err := p.fold(ctx); err != nil {
		return err
	}
	note := p.forgetting()
	if note == nil {
		note = &forgettingNote{Since: p.env.now().UTC(), Log: o.state.last}
	}
	note.Sweeping = true
	if err := p.noteForgetting(*note); err != nil {
		return err
	}
	if o.state.amended {
		// The last record of a log stays as it is, so it must be none of those that go.
		op := manifest.Operation{Kind: manifest.OpForget, Time: p.env.now().UTC()}
		if end, err := p.replayEnd(1); err != nil {
			return err
		} else if end.Amended() {
			if _, err := p.commit(ctx, manifest.Record{Operation: &op}); err != nil {
				return err
			}
		}
	}
	o.repack.Purge, o.repack.Recompress = true, false
	o.repack.Amend = o.state.amend
	keep := o.state.keeps(o.gone)
	keeps := func(c cas.Commit) bool {
		if c.Seq <= o.state.last {
			r, err := manifest.ParseRecord(c.Payload)
			if err == nil && (r.Amend != nil || r.Rewrite != nil) {
				return false // what they say, the records say themselves
			}
		}
		return keep(c)
	}
	for pass := range purgePasses {
		o.repack.Log = pass == 0 && (o.state.amended || len(o.gone) > 0)
		plan, err := p.planPurge(ctx, o, keeps)
		if err != nil {
			return err
		}
		due := plan.Due()
		if err := p.sweep(ctx, plan, o.marks, o.result); err != nil {
			return err
		}
		if o.result.Deferred {
			return nil
		}
		if !due {
			return removeIfThere(filepath.Join(p.place.store, forgettingName))
		}
	}
	o.result.Deferred = true // saves beside it kept it busy
	return nil
}

// planPurge plans one pass. What was committed since the log was read is needed too.
func (p *Project) planPurge(ctx context.Context, o *purge, keeps func(cas.Commit) bool) (*cas.RepackPlan, error) {
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := p.markSince(ctx, o.marks, o.state.last+1); err != nil {
		return nil, err
	}
	plan, err := p.store.PlanRepackWith(o.repack, o.marks.has, keeps)
	if err != nil {
		return nil, err
	}
	// The plan may know of commits that the marks do not.
	return plan, p.markSince(ctx, o.marks, o.state.last+1)
}
