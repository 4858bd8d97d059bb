package project

import (
	"context"

	"rewind/manifest"
)

// Listed is a checkpoint with its position: N is 1 for the newest, 0 for safety checkpoints.
type Listed struct {
	manifest.Checkpoint
	N int
	// Prompts are those that prompt~N goes behind, the newest first; else nil.
	Prompts []string
}

// ListOptions of rewind list.
type ListOptions struct {
	All     bool   // safety checkpoints too
	Session string // only this session's
	Limit   int    // 0: no limit
}

// List gives checkpoints, newest first. The numbers are those of the whole
// list, whatever is left out.
func (p *Project) List(ctx context.Context, o ListOptions) ([]Listed, error) {
	var out []Listed
	err := p.Query(ctx, func(db *manifest.DB) error {
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
