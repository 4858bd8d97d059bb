package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/manifest"
)

// logSource gives package manifest the log and the trees of the store.
type logSource struct{ store, commits *cas.Store }

// Log is the log and the trees of the store.
func (p *Project) Log() manifest.Source { return logSource{p.Store, p.log()} }

// LogOf is the log and the trees of a store that no project has opened.
func LogOf(store *cas.Store) manifest.Source { return logSource{store, store} }

func (s logSource) Records(from uint64) iter.Seq2[manifest.Sequenced, error] {
	return func(yield func(manifest.Sequenced, error) bool) {
		for c, err := range s.commits.Commits(from) {
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
	case r.Touch != nil:
		r.Touch.Seq = seq
	}
}

func (s logSource) Dir(id oid.ID) (manifest.Dir, error) {
	if id == (oid.ID{}) {
		return manifest.Dir{}, nil
	}
	data, err := s.store.Get(nil, id)
	if err != nil {
		return manifest.Dir{}, err
	}
	return manifest.ParseDir(data)
}

// Query asks the database, which has all that is in the log by then. It stays open until the last Use is released,
// so a caller that asks several times takes Use first.
func (p *Project) Query(ctx context.Context, ask func(*manifest.DB) error) error {
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	return p.Look(ctx, ask)
}

// database is the open database of those who use the store, with what the log has by now. The caller uses the store, and
// calls asked when its question is answered.
func (p *Project) database(ctx context.Context) (*manifest.DB, error) {
	p.open.Lock()
	defer p.open.Unlock()
	if n := len(p.open.databases); n > 0 {
		db := p.open.databases[n-1]
		last, err := p.log().Last()
		if err == nil && last.Seq > db.Last() && p.open.asking == 0 {
			err = db.Extend(ctx)
		}
		if err == nil && last.Seq == db.Last() {
			p.open.asking++
			return db, nil
		}
	}
	db, err := manifest.Open(ctx, p.DatabaseOptions(), p.Log())
	if err == nil && p.ReadOnly == nil && db.Unfolded() > foldAsking {
		db, err = p.refold(ctx, db)
	}
	if err == nil {
		p.open.databases = append(p.open.databases, db)
		p.open.asking++
	}
	return db, err
}

// open are the databases that questions have opened, the newest last.
type open struct {
	sync.Mutex
	users     int // of the store
	asking    int // questions that are not answered yet
	databases []*manifest.DB
}

func (o *open) asked() {
	o.Lock()
	o.asking--
	o.Unlock()
}

func (o *open) enter() {
	o.Lock()
	o.users++
	o.Unlock()
}

func (o *open) leave() {
	o.Lock()
	defer o.Unlock()
	if o.users--; o.users > 0 {
		return
	}
	for _, db := range o.databases {
		_ = db.Close() // it was only read
	}
	o.databases = nil
}

// foldAsking is how many checkpoints a question reads in memory (10,000 take a
// quarter of a second) before they are folded into the database for those who ask next.
const foldAsking = 512

// refold brings the database up to date and opens it again. Failing to fold is
// no reason not to answer: what is open knows it all.
func (p *Project) refold(ctx context.Context, db *manifest.DB) (*manifest.DB, error) {
	if err := manifest.Fold(ctx, p.DatabaseOptions(), p.Log()); err != nil {
		return db, nil
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return manifest.Open(ctx, p.DatabaseOptions(), p.Log())
}

func (p *Project) DatabaseOptions() manifest.Options {
	dir := p.at.Store
	if p.pulled != nil {
		dir = p.pulled.Dir
	}
	return manifest.Options{
		Dir:      filepath.Join(dir, account.ManifestsName),
		Owner:    p.Owner,
		ReadOnly: p.ReadOnly != nil,
	}
}

// Use takes the shared users lock, which keeps gc from unlinking what we look at, and keeps the database open: also for who asks
// several things of one checkpoint. Error: *BusyError.
func (p *Project) Use(ctx context.Context) (release func(), err error) {
	ctx, cancel := p.Wait(ctx)
	defer cancel()
	unlock, err := p.Store.Use(ctx)
	if err != nil {
		return nil, p.Classify(err)
	}
	p.open.enter()
	return sync.OnceFunc(func() {
		p.open.leave()
		unlock()
	}), nil
}

// Classify turns the store's errors into the engine's.
func (p *Project) Classify(err error) error {
	var busy *cas.BusyError
	var damaged *cas.DamagedError
	var missing *cas.NotFoundError
	var version *cas.VersionError
	var replaced *cas.ReplacedError
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &version):
		return &account.FutureFormatError{Store: filepath.Join(p.at.Store, account.ObjectsName, version.File), Version: strconv.Itoa(version.Version)}
	case errors.As(err, &replaced):
		return &ReplacedError{p.at.Store}
	case errors.As(err, &busy):
		return &account.BusyError{Lock: busy.Lock, Waited: busy.Waited}
	case errors.As(err, &damaged) && damaged.NotFile():
		return &account.InPlaceError{Path: filepath.Join(p.at.Store, account.ObjectsName, damaged.Pack)}
	case errors.As(err, &damaged), errors.As(err, &missing):
		return p.unlessGone(&account.DamagedStoreError{What: "an object", Err: err})
	case errors.As(err, &path) && errors.Is(path, vfs.ErrNotRegular) && p.within(path.Path):
		return &account.InPlaceError{Path: path.Path}
	case errors.As(err, &link) && errors.Is(link, fs.ErrExist) && p.within(link.New): // a rename over a directory
		return account.InPlace(link.New, false, err)
	case errors.As(err, &path) && errors.Is(err, syscall.ENOTDIR): // as of the mirror
		return account.InPlace(path.Path, true, err)
	case errors.Is(err, fs.ErrNotExist):
		return p.unlessGone(err)
	}
	return err
}

// within reports whether a file lies in the store.
func (p *Project) within(file string) bool {
	return strings.HasPrefix(file, p.at.Store+string(filepath.Separator))
}

// NewestCheckpoint finds the newest living checkpoint, nil where there is none.
func (p *Project) NewestCheckpoint() (*manifest.Checkpoint, error) {
	return p.NewestInLog(context.Background(), 0, manifest.Any)
}

// NewestInLog finds the newest living checkpoint for which match holds among the last records of
// the log, back of them (0: all). It looks at no more of the log's end than it takes.
func (p *Project) NewestInLog(ctx context.Context, back uint64, match func(*manifest.Checkpoint) bool) (*manifest.Checkpoint, error) {
	last, err := p.log().Last()
	if err != nil {
		return nil, p.Classify(err)
	}
	c, _, err := manifest.Newest(ctx, p.Log(), last.Seq, back, match)
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	return c, nil
}

// Look is Query for a caller that holds the users lock.
func (p *Project) Look(ctx context.Context, ask func(*manifest.DB) error) error {
	p.open.enter()
	defer p.open.leave()
	db, err := p.database(ctx)
	if err == nil {
		defer p.open.asked()
		err = ask(db)
	}
	return p.Classify(err)
}

// Current is a checkpoint as the log has it now: it was named before a lock was
// waited for. The caller holds the users lock, so what the answer refers to stays until
// that is released. Error: *NoCheckpointError where it was removed meanwhile. One of a pulled log is as that has it now.
func (p *Project) Current(ctx context.Context, c manifest.Checkpoint) (now manifest.Checkpoint, err error) {
	if c.Of != "" && c.Of != p.Of() {
		v, err := p.ViewOf(c.Of)
		if err != nil {
			return now, err
		}
		return v.Current(ctx, c)
	}
	err = p.Look(ctx, func(db *manifest.DB) error {
		now, err = Living(db, c.ID)
		return err
	})
	now.Of = c.Of
	return now, err
}

// Living finds a checkpoint that somebody named earlier.
func Living(db *manifest.DB, id manifest.CheckpointID) (manifest.Checkpoint, error) {
	c, ok, err := db.ByID(id)
	if err == nil && !ok {
		err = &NoCheckpointError{Spec: id.String(), Reason: "it was removed in the meantime"}
	}
	return c, err
}

// ReplayEnd says what the last records of the log say.
func (p *Project) ReplayEnd(records uint64) (*manifest.Replayed, error) {
	last, err := p.log().Last()
	if err != nil {
		return nil, p.Classify(err)
	}
	r, err := manifest.Replay(context.Background(), p.Log(), last.Seq-min(last.Seq, records)+1, manifest.Skip)
	return r, p.Classify(err)
}
