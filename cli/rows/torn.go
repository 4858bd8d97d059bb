package rows

import (
	"context"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// TornFiles are the files that were being written when the checkpoint was taken. If they cannot be found out, that is a warning.
func TornFiles(ctx context.Context, c *app.Call, p *project.Project, of manifest.Checkpoint) (map[string]bool, error) {
	torn, err := inspect.TornFiles(ctx, p, of)
	if err != nil && ctx.Err() == nil {
		c.Out.Warn("cannot tell which files were being written when the checkpoint was taken: %v", err)
		err = nil
	}
	return torn, err
}
