package maintain

import (
	"context"

	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Pin keeps a checkpoint from retention, or no longer. Error:
// *NoCheckpointError where it was removed since it was named.
func Pin(ctx context.Context, p *project.Project, c manifest.Checkpoint, pinned bool) error {
	return mark(ctx, p, c, func(_ *manifest.DB, now manifest.Checkpoint) (*manifest.Mark, error) {
		if now.Pinned == pinned {
			return nil, nil
		}
		return &manifest.Mark{Pinned: &pinned}, nil
	})
}

// Rename gives a checkpoint a name; "" takes it away. Errors: *BadNameError,
// *NameTakenError, and *NoCheckpointError where it was removed since it was named.
func Rename(ctx context.Context, p *project.Project, c manifest.Checkpoint, name string) error {
	if name != "" {
		if err := project.CheckName(name); err != nil {
			return err
		}
	}
	return mark(ctx, p, c, func(db *manifest.DB, now manifest.Checkpoint) (*manifest.Mark, error) {
		if now.Name == name {
			return nil, nil
		}
		if name != "" {
			if err := project.NameFree(db, name, now.ID); err != nil {
				return nil, err
			}
		}
		return &manifest.Mark{Name: &name}, nil
	})
}

// mark commits the mark that decide makes of the present state of a checkpoint, nil for none.
func mark(ctx context.Context, p *project.Project, c manifest.Checkpoint, decide func(*manifest.DB, manifest.Checkpoint) (*manifest.Mark, error)) error {
	if err := p.BeginWriting(ctx); err != nil {
		return err
	}
	err := commit.Transact(ctx, p, func(db *manifest.DB) ([]manifest.Record, error) {
		now, err := project.Living(db, c.ID)
		if err != nil {
			return nil, err
		}
		m, err := decide(db, now)
		if err != nil || m == nil {
			return nil, err
		}
		m.Checkpoint, m.Time = c.ID, p.Env.Time().UTC()
		return []manifest.Record{{Mark: m}}, nil
	})
	if err == nil {
		FinishForgetting(ctx, p)
	}
	return err
}
