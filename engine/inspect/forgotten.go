package inspect

import (
	"context"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// ForgottenBefore says of which paths nothing is known any more in the newest checkpoint up to a sequence number, since they were
// taken out of it; nil for none.
func ForgottenBefore(ctx context.Context, p *project.Project, seq uint64) (is func(path string) bool, err error) {
	var found *manifest.Checkpoint
	q := manifest.Query{All: true, Limit: 1}
	if seq != attribution.ThenNow {
		q.Before = seq + 1
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(q) {
			found = &c
			return err
		}
		return nil
	})
	if err != nil || found == nil {
		return nil, err
	}
	data, err := p.ReadObject(found.Coverage)
	if project.IsDamage(p.Classify(err)) {
		return nil, nil // verify tells of that
	} else if err != nil {
		return nil, err
	}
	return rules.Forgotten(p, data), nil
}
