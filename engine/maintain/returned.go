package maintain

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// CatchUp brings a store forward from its mirror, as Project.CatchUp does, and keeps what was saved on the older state that
// was in its place.
func CatchUp(ctx context.Context, p *project.Project) {
	p.CatchUp()
	_ = keepSince(ctx, p) // whoever collects tries again, before anything goes
}

// keepSince commits the checkpoints again that were saved on an older state of the store.
func keepSince(ctx context.Context, p *project.Project) error {
	payloads, err := p.SavedSince()
	if len(payloads) == 0 || err != nil || p.ReadOnly != nil {
		return err
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	if _, err := commit.Begin(p).Commit(ctx, func() (records []manifest.Record, err error) {
		now, err := manifest.Replay(ctx, p.Log(), 1, manifest.Skip)
		if err != nil {
			return nil, err
		}
		named := map[string]bool{}
		for _, c := range now.Checkpoints() {
			named[c.Name] = true
		}
		for _, payload := range slices.Backward(payloads) {
			r, err := manifest.ParseRecord(payload)
			if err != nil || r.Checkpoint == nil {
				continue
			}
			c := r.Checkpoint
			if _, known := now.ByID(c.ID); known {
				continue
			}
			if _, err := p.LoadDir(c.Root); err != nil {
				continue
			}
			if c.Name != "" && named[c.Name] {
				c.Name, c.Pinned = "", true
			}
			records = append(records, r)
		}
		return records, nil
	}, nil); err != nil {
		return err
	}
	return p.CommittedSince()
}
