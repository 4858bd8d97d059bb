package engine

import (
	"context"
	"slices"

	"rewind/manifest"
)

// ListOptions of rewind list.
type ListOptions struct {
	All     bool   // safety checkpoints too
	Session string // only this session's
	Limit   int    // 0: no limit
}

// Listed is a checkpoint with its position: N is 1 for the newest, 0 for safety checkpoints.
type Listed struct {
	manifest.Checkpoint
	N int
	// Prompts are those that prompt~N goes behind, the newest first; else nil.
	Prompts []string
}

// List gives checkpoints, newest first. The numbers are those of the whole
// list, whatever is left out.
func (p *Project) List(ctx context.Context, o ListOptions) ([]Listed, error) {
	var out []Listed
	err := p.query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{All: o.All, Session: o.Session, Limit: o.Limit}) {
			if err != nil {
				return err
			}
			out = append(out, Listed{Checkpoint: c, N: db.Position(c.Seq)})
		}
		return nil
	})
	return out, err
}

// Changes of a checkpoint against the one before, in path order.
func (p *Project) Changes(ctx context.Context, c manifest.Checkpoint) ([]manifest.Change, error) {
	var out []manifest.Change
	err := p.query(ctx, func(db *manifest.DB) error {
		for change, err := range db.Changes(c.Seq) {
			if err != nil {
				return err
			}
			out = append(out, change)
		}
		return nil
	})
	gone := func(c manifest.Change) bool { return c.New == nil }
	if err != nil || !slices.ContainsFunc(out, gone) {
		return out, err
	}
	problems, err := p.Coverage(ctx, c)
	left := unreadOf(problems)
	// What is there and was not captured is in no tree, and no deletion.
	return slices.DeleteFunc(out, func(c manifest.Change) bool { return gone(c) && left.has(c.Path) }), err
}

// Coverage is what the checkpoint did not capture, and why.
func (p *Project) Coverage(ctx context.Context, c manifest.Checkpoint) ([]Problem, error) {
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if c, err = p.current(ctx, c); err != nil {
		return nil, err
	}
	data, err := p.readObject(c.Coverage)
	if err != nil {
		return nil, p.classify(err)
	}
	return decodeProblems(data)
}

// Operations gives the operation log, newest first; limit 0 is all of it.
func (p *Project) Operations(ctx context.Context, limit int) ([]manifest.Operation, error) {
	var out []manifest.Operation
	err := p.query(ctx, func(db *manifest.DB) error {
		for o, err := range db.Operations() {
			if err != nil {
				return err
			}
			out = append(out, o)
			if limit > 0 && len(out) == limit {
				break
			}
		}
		return nil
	})
	return out, err
}
