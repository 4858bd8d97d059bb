package testlab

import (
	"context"

	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// RestoreCall is a function of the restore family.
type RestoreCall func(context.Context, *project.Project, restore.Options) (*restore.Restored, error)

// Run calls one of the restore family. A path that it could not restore fails the test.
func (l *Lab) Run(call RestoreCall, o restore.Options) (done *restore.Restored, err error) {
	l.T.Helper()
	err = l.Try(func(ctx context.Context, p *project.Project) error {
		if done, err = call(ctx, p, o); err != nil {
			return err
		}
		for _, s := range done.Skip {
			if s.Failed {
				l.T.Errorf("skipped: %+v", s)
			}
		}
		return nil
	})
	return done, err
}

// Must is Run that ends the test on an error.
func (l *Lab) Must(call RestoreCall, o restore.Options) *restore.Restored {
	l.T.Helper()
	done, err := l.Run(call, o)
	if err != nil {
		l.T.Fatal(err)
	}
	return done
}

// Operations gives the operation log, the newest first.
func (l *Lab) Operations() (ops []manifest.Operation) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		ops, err = oplog.Operations(ctx, p, 0)
		return err
	})
	return ops
}
