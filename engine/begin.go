package engine

import (
	"context"

	"rewind/engine/checkpoint"
	"rewind/engine/project"
)

// Init makes the store and, unless NoSave, the first checkpoint. created is
// false where there was a store already: then nothing is changed. The caller
// closes the project.
func Init(ctx context.Context, o project.InitOptions) (p *project.Project, saved *checkpoint.Saved, created bool, err error) {
	p, created, err = project.Init(ctx, o)
	if err != nil || !created || o.NoSave || o.Adopt != "" {
		return p, nil, created, err
	}
	if saved, err = Save(ctx, p, checkpoint.Options{Description: "first checkpoint"}); err != nil {
		p.Close()
		return nil, nil, true, err
	}
	return p, saved, true, nil
}
