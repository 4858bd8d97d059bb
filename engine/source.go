package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strconv"

	"rewind/cas"
	"rewind/manifest"
)

// logSource gives package manifest the log and the trees of the store.
type logSource struct{ store *cas.Store }

func (s logSource) Records(from uint64) iter.Seq2[manifest.Sequenced, error] {
	return func(yield func(manifest.Sequenced, error) bool) {
		for c, err := range s.store.Commits(from) {
			if err != nil {
				yield(manifest.Sequenced{}, err)
				return
			}
			r, err := manifest.ParseRecord(c.Payload)
			if err != nil {
				err = &manifest.EntryError{Seq: c.Seq, Err: err}
			}
			setSeq(r, c.Seq)
			if !yield(manifest.Sequenced{Seq: c.Seq, Record: r}, err) {
				return
			}
		}
	}
}

// setSeq gives a record its place in the log, which its payload does not hold.
func setSeq(r manifest.Record, seq uint64) {
	switch {
	case r.Checkpoint != nil:
		r.Checkpoint.Seq = seq
	case r.Operation != nil:
		r.Operation.Seq = seq
	}
}

func (s logSource) Dir(id manifest.ID) (manifest.Dir, error) {
	if id == (manifest.ID{}) {
		return manifest.Dir{}, nil
	}
	data, err := s.store.Get(nil, cas.ID(id))
	if err != nil {
		return manifest.Dir{}, err
	}
	return manifest.ParseDir(data)
}

// query opens the database for one question and closes it again: Badger is
// held no longer than that.
func (p *Project) query(ctx context.Context, ask func(*manifest.DB) error) error {
	release, err := p.use(ctx)
	if err != nil {
		return err
	}
	defer release()
	db, err := manifest.Open(ctx, p.databaseOptions(), logSource{p.store})
	if err == nil && p.readOnly == nil && db.Unfolded() > foldAsking {
		db, err = p.refold(ctx, db)
	}
	if err != nil {
		return p.classify(err)
	}
	err = ask(db)
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	return p.classify(err)
}

// foldAsking is how many checkpoints a question reads in memory (10,000 take a
// quarter of a second) before they are folded into the database for those who ask next.
const foldAsking = 512

// refold brings the database up to date and opens it again. Failing to fold is
// no reason not to answer: what is open knows it all.
func (p *Project) refold(ctx context.Context, db *manifest.DB) (*manifest.DB, error) {
	if err := manifest.Fold(ctx, p.databaseOptions(), logSource{p.store}); err != nil {
		return db, nil
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return manifest.Open(ctx, p.databaseOptions(), logSource{p.store})
}

func (p *Project) databaseOptions() manifest.Options {
	return manifest.Options{
		Dir:      filepath.Join(p.place.store, manifestsName),
		Owner:    p.owner,
		ReadOnly: p.readOnly != nil,
	}
}

// use takes the shared users lock, which keeps gc from unlinking what we look at.
func (p *Project) use(ctx context.Context) (release func(), err error) {
	ctx, cancel := p.wait(ctx)
	defer cancel()
	release, err = p.store.Use(ctx)
	return release, p.classify(err)
}

// classify turns the store's errors into the engine's.
func (p *Project) classify(err error) error {
	var busy *cas.BusyError
	var damaged *cas.DamagedError
	var missing *cas.NotFoundError
	var version *cas.VersionError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &version):
		return &FutureFormatError{Store: filepath.Join(p.place.store, objectsName, version.File), Version: strconv.Itoa(version.Version)}
	case errors.As(err, &busy):
		return &BusyError{Lock: busy.Lock, Waited: busy.Waited}
	case errors.As(err, &damaged), errors.As(err, &missing):
		return &DamagedStoreError{What: "an object", Err: err}
	}
	return err
}

// newestCheckpoint finds the newest living checkpoint, nil where there is none.
func (p *Project) newestCheckpoint() (*manifest.Checkpoint, error) {
	return p.newestInLog(context.Background(), 0, manifest.Any)
}

// newestInLog finds the newest living checkpoint for which match holds among the last records of
// the log, back of them (0: all). It looks at no more of the log's end than it takes.
func (p *Project) newestInLog(ctx context.Context, back uint64, match func(*manifest.Checkpoint) bool) (*manifest.Checkpoint, error) {
	last, err := p.store.Last()
	if err != nil {
		return nil, err
	}
	c, err := manifest.Newest(ctx, logSource{p.store}, last.Seq, back, match)
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	return c, nil
}
