package save

import (
	"context"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
)

// Init makes the store and, unless NoSave, the first checkpoint. created is
// false where there was a store already: then nothing is changed, but that one in which
// nothing was ever saved gets its first checkpoint. The caller closes the project.
func Init(ctx context.Context, o stores.InitOptions) (p *project.Project, saved *checkpoint.Saved, created bool, err error) {
	p, created, err = stores.Init(ctx, o)
	if err != nil || o.NoSave || o.Adopt != "" {
		return p, nil, created, err
	}
	if !created {
		if p.ReadOnly != nil || o.Trust {
			return p, nil, false, nil
		}
		maintain.CatchUp(ctx, p) // what only its mirror has was saved
		if last, err := p.Store.Last(); err != nil || last.Seq != 0 {
			return p, nil, false, nil // the next reader of the log reports what is wrong with it
		}
	}
	if saved, err = Save(ctx, p, checkpoint.Options{Description: "first checkpoint"}); err != nil {
		p.Close()
		return nil, nil, created, &NoFirstError{Err: err}
	}
	return p, saved, created, nil
}

// NoFirstError: the store is there, and its first checkpoint could not be taken. The next
// Init takes it.
type NoFirstError struct{ Err error }

func (e *NoFirstError) Error() string {
	return "the store was created, but not its first checkpoint: " + e.Err.Error()
}
func (e *NoFirstError) Unwrap() error { return e.Err }
