package timeline

import (
	"context"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Changes visits a row's changes in path order, until visit gives an error, which is
// handed on. It looks only where the two states differ. Of a row whose end is not known
// there are none. now is what the rows were read with, and may be nil.
func (r *Row) Changes(ctx context.Context, p *project.Project, now *Present, visit func(manifest.Change) error) error {
	if r.To == nil {
		return nil
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	return r.changes(ctx, p, now, p.LoadDir, visit)
}

// changes is Changes for a caller that holds the users lock, with its own way to read directories.
func (r *Row) changes(ctx context.Context, p *project.Project, now *Present, load func(oid.ID) (manifest.Dir, error), visit func(manifest.Change) error) error {
	var left problem.Unread
	switch {
	case r.To == nil, r.To.Now && now == nil:
		return nil
	case r.To.Now:
		left, load = now.left, now.load(load)
	default:
		before := r.To.Coverage // of what an operation left, no scan tells what it did not capture
		if r.From != nil && r.From.ID != (manifest.CheckpointID{}) {
			before = r.From.Coverage
		}
		var err error
		if left, err = p.Unread(r.To.Coverage, before); err != nil {
			return err
		}
	}
	var from oid.ID
	if r.From != nil {
		from = r.From.Root
	}
	err := manifest.Diff(load, from, r.To.Root, func(c manifest.Change) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.Uncaptured(left, c) {
			return nil // it is there, and was not captured
		}
		return visit(c)
	})
	return p.Classify(err)
}

// Known is the row's counts where the log has them, without looking at any tree.
func (r *Row) Known() (Counts, bool) {
	switch {
	case r.counts != nil:
		return *r.counts, true
	case same(r.From, r.To):
		return Counts{}, true
	}
	return Counts{}, false
}

// Count counts the row's changes; known is false where its end is not known. Directories count
// only where their modes changed.
func (r *Row) Count(ctx context.Context, p *project.Project, now *Present) (n Counts, known bool, err error) {
	if r.To == nil || r.To.Now && now == nil {
		return n, false, nil
	}
	if n, ok := r.Known(); ok {
		return n, true, nil
	}
	err = r.Changes(ctx, p, now, n.Count)
	if err == nil {
		r.counts = &n
	}
	return n, err == nil, err
}

// CountRows counts what rows changed that the log has no counts of, the first of them first, for as long as it may
// take (0: as long as it needs). Of what cannot be counted nothing becomes known.
func CountRows(ctx context.Context, p *project.Project, rows []*Row, now *Present, within time.Duration) error {
	until := time.Now().Add(within)
	var release func()
	load := manifest.Remember(p.LoadDir)
	counts := map[[2]oid.ID]Counts{}
	for _, r := range rows {
		if _, known := r.Known(); known || r.To == nil || r.To.Now && now == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if within > 0 && time.Now().After(until) {
			return nil
		}
		if release == nil {
			var err error
			if release, err = p.Use(ctx); err != nil {
				return err
			}
			defer release()
		}
		key := [2]oid.ID{{}, r.To.Root}
		if r.From != nil {
			key[0] = r.From.Root
		}
		n, ok := counts[key]
		if !ok || r.To.Now || r.To.Coverage != (oid.ID{}) {
			n = Counts{}
			if r.changes(ctx, p, now, load, n.Count) != nil {
				continue
			}
			counts[key] = n
		}
		r.counts = &n
	}
	return nil
}
