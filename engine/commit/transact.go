package commit

import (
	"context"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Transact commits what decide makes of the newest state of the log. decide
// runs under the append lock, so nothing comes between what it sees and what it
// commits: whoever named a checkpoint before waiting for the lock looks there
// whether it is still the one that was meant. The caller has asked writing.
func Transact(ctx context.Context, p *project.Project, decide func(*manifest.DB) ([]manifest.Record, error)) error {
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	_, err = Begin(p).Commit(ctx, func() (records []manifest.Record, err error) {
		err = p.Look(ctx, func(db *manifest.DB) (err error) {
			records, err = decide(db)
			return err
		})
		return records, err
	}, nil)
	return err
}
