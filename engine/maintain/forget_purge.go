package maintain

import (
	"context"
	"crypto/rand"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/manifest"
)

// purgePasses bounds how often the packs are looked through: the first pass may
// have to copy a delta's base that the second one drops, and saves run beside both.
const purgePasses = 6

// runPurge is a sweep that leaves no byte of what nothing needs. It rewrites the log,
// so that each record says by itself what the whole log says of it, and every pack that
// holds anything else than what is needed. Where somebody reads the store, or the process
// dies, the note of it stays, and the next one begins again.
func runPurge(ctx context.Context, p *project.Project, o *collection) error {
	// The database must not need the records that go, nor hold anything of deleted checkpoints.
	fold := Fold
	if len(o.gone) > 0 {
		fold = rebuild
	}
	if err := fold(ctx, p); err != nil {
		return err
	}
	var note *project.ForgettingNote
	// Packs come back from the mirror under the append lock, after a note: either this note is later, and then so is the plan,
	// or that one replaces it.
	err := commit.Appending(ctx, p, func(*cas.Appender) error {
		if note = p.Forgetting(); note == nil {
			note = &project.ForgettingNote{Since: p.Env.Time().UTC(), Log: o.state.last}
		}
		note.Sweeping, note.Sweep = true, rand.Text()
		return p.NoteForgetting(*note)
	})
	if err != nil {
		return err
	}
	if o.state.Amended {
		// The last record of a log stays unchanged, so it must not be one of those that go.
		op := manifest.Operation{Kind: manifest.OpForget, Time: p.Env.Time().UTC()}
		if end, err := p.ReplayEnd(1); err != nil {
			return err
		} else if end.Amended() {
			if _, err := commit.Commit(ctx, p, manifest.Record{Operation: &op}); err != nil {
				return err
			}
		}
	}
	o.repack.Purge, o.repack.Recompress = true, false
	o.repack.Amend = o.state.amend
	keep := o.state.keeps(o.gone, o.dead)
	keeps := func(c cas.Commit) bool {
		if c.Seq <= o.state.last {
			r, err := manifest.ParseRecord(c.Payload)
			if err == nil && (r.Amend != nil || r.Rewrite != nil || r.Mark != nil) {
				return false // what they say, the records say themselves
			}
		}
		return keep(c)
	}
	for pass := range purgePasses {
		o.repack.Log = pass == 0 && (o.state.Amended || len(o.gone) > 0 || len(o.dead) > 0)
		plan, err := planPurge(ctx, p, o, keeps)
		if err != nil {
			return err
		}
		due := plan.Due()
		if err := sweep(ctx, p, plan, o.marks, o.result); err != nil {
			return err
		}
		if o.result.Deferred {
			return nil
		}
		if !due {
			// They are not the store's, but who has put them there did not mean to keep what is forgotten.
			if o.result.Copies, err = p.Store.RemoveCopies(ctx); err != nil {
				return err
			}
			if err := remote.DropUnsent(p); err != nil {
				return err
			}
			if err := commit.Appending(ctx, p, func(*cas.Appender) error { return p.EndForgetting(note) }); err != nil {
				return err
			}
			_ = p.Store.Mirror() // of packs that got none meanwhile; status tells
			return nil
		}
	}
	o.result.Deferred = true // saves beside it kept it busy
	return nil
}

// rebuild makes the database anew from the whole log.
func rebuild(ctx context.Context, p *project.Project) error {
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	return p.Classify(manifest.Rebuild(ctx, p.DatabaseOptions(), p.Log()))
}

// planPurge plans one pass. What was committed since the log was read is needed too.
func planPurge(ctx context.Context, p *project.Project, o *collection, keeps func(cas.Commit) bool) (*cas.RepackPlan, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := markSince(ctx, p, o.marks, o.state.last+1); err != nil {
		return nil, err
	}
	plan, err := p.Store.PlanRepack(o.repack, o.marks.Has, keeps)
	if err != nil {
		return nil, err
	}
	// The plan may know of commits that the marks do not.
	return plan, markSince(ctx, p, o.marks, o.state.last+1)
}
