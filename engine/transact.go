package engine

import (
	"context"
	"errors"

	"rewind/manifest"
)

// transact commits what decide makes of the newest state of the log. decide
// runs under the append lock, so nothing comes between what it sees and what it
// commits: whoever named a checkpoint before waiting for the lock looks there
// whether it is still the one that was meant. The caller has asked writing.
func (p *Project) transact(ctx context.Context, decide func(*manifest.DB) ([]manifest.Record, error)) error {
	release, err := p.use(ctx)
	if err != nil {
		return err
	}
	defer release()
	_, err = p.begin().Commit(ctx, func() (records []manifest.Record, err error) {
		err = p.look(ctx, func(db *manifest.DB) (err error) {
			records, err = decide(db)
			return err
		})
		return records, err
	}, nil)
	return err
}

// look asks the newest state of the log. The caller holds the users lock.
func (p *Project) look(ctx context.Context, ask func(*manifest.DB) error) error {
	db, err := manifest.Open(ctx, p.databaseOptions(), logSource{p.store})
	if err != nil {
		return p.classify(err)
	}
	return p.classify(errors.Join(ask(db), db.Close()))
}

// current is a checkpoint as the log has it now: it was named before a lock was
// waited for. The caller holds the users lock, so what the answer refers to stays until
// that is released. Error: *NoCheckpointError where it was removed meanwhile.
func (p *Project) current(ctx context.Context, c manifest.Checkpoint) (now manifest.Checkpoint, err error) {
	err = p.look(ctx, func(db *manifest.DB) error {
		now, err = living(db, c.ID)
		return err
	})
	return now, err
}

// living finds a checkpoint that somebody named earlier.
func living(db *manifest.DB, id manifest.CheckpointID) (manifest.Checkpoint, error) {
	c, ok, err := db.ByID(id)
	if err == nil && !ok {
		err = &NoCheckpointError{Spec: id.String(), Reason: "it was removed meanwhile"}
	}
	return c, err
}

// Hold keeps what was named from being swept until release is called: for who
// asks several things of one checkpoint. Error: *BusyError.
func (p *Project) Hold(ctx context.Context) (release func(), err error) { return p.use(ctx) }
