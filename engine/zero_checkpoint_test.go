package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// TestNoZeroCheckpoint: the zero value of a checkpoint is none. Its tree would be an empty one, and its id means all
// checkpoints to a sweep.
func TestNoZeroCheckpoint(t *testing.T) {
	l := newLab(t)
	l.Write("a", "keep")
	l.Init()
	for name, call := range map[string]func(context.Context, *project.Project) error{
		"restore": func(ctx context.Context, p *project.Project) error {
			_, err := restore.Restore(ctx, p, restore.Options{})
			return err
		},
		"restore of hunks": func(ctx context.Context, p *project.Project) error {
			_, err := restore.RestoreHunks(ctx, p, restore.Options{}, nil)
			return err
		},
		"forget": func(ctx context.Context, p *project.Project) error {
			_, err := maintain.ForgetCheckpoint(ctx, p, manifest.CheckpointID{}, false)
			return err
		},
	} {
		l.Do(func(ctx context.Context, p *project.Project) error {
			if err := call(ctx, p); !errors.As(err, new(*project.NoCheckpointError)) {
				t.Errorf("%s: %v", name, err)
			}
			return nil
		})
		l.Want("a=keep")
	}
}
