package commit

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	// ChunkedSize is where chunks begin: below it one object keeps a file whole, and an edit is a delta of it.
	ChunkedSize = 1 << 20
	// maxDeltas bounds the deltas of one transaction. Each costs about 2 ms, a block of
	// new content a tenth of that: past a handful of edits, blocks are faster.
	maxDeltas = 64
	// minDelta is the size below which a delta saves nothing.
	minDelta = 256
)

// Tx is one write transaction on the store. Objects are put into it without a lock and can be
// read back at once; Commit makes them durable with the records that need them, or Discard
// lets them go. The caller holds the users lock from before the first put until then.
//
// It is the Sink of a scan and the Sink and Source of a restore: Content and Dir are called
// by several goroutines, each with a worker number of its own below Workers; Put by
// one at a time, while no worker is at work; the rest by any.
type Tx struct {
	P       *project.Project
	batch   *cas.Batch
	workers []txWorker
	deltas  atomic.Int64
	looking *looking // nil: what is put is to be committed

	mu   sync.Mutex
	dirs map[oid.ID]manifest.Dir // at hand; nil: none are kept
}

type txWorker struct {
	files *cas.Writer // contents and what is put
	dirs  *cas.Writer // manifests: a block of their own, so that reading a tree decodes no contents
	buf   []byte
	_     [64]byte // workers' fields on cache lines of their own
}

// Begin begins a transaction.
func Begin(p *project.Project) *Tx { return begin(p, p.Store.NewBatch()) }

func begin(p *project.Project, batch *cas.Batch) *Tx {
	t := &Tx{P: p, batch: batch, workers: make([]txWorker, runtime.GOMAXPROCS(0))}
	for i := range t.workers {
		t.workers[i].files, t.workers[i].dirs = t.batch.Writer(), t.batch.Writer()
	}
	return t
}

// Beside is the transaction for what goes on beside its workers, which has as many of its own and one more. Its user flushes it before the
// transaction is committed.
func (t *Tx) Beside() *Tx {
	own := begin(t.P, t.batch)
	own.looking = t.looking
	own.workers = append(own.workers, txWorker{files: t.batch.Writer(), dirs: t.batch.Writer()})
	return own
}

// KeepDirs keeps the manifests at hand that are loaded or put from now on: a restore compares
// trees several times, and a manifest shares its block with many others.
func (t *Tx) KeepDirs() *Tx {
	t.dirs = map[oid.ID]manifest.Dir{}
	return t
}

// Next begins the transaction that follows a committed one.
func (t *Tx) Next() *Tx {
	n := Begin(t.P)
	n.dirs = t.dirs // committed by now, or in the store already
	return n
}

// Workers is how many goroutines may put contents and directories at once.
func (t *Tx) Workers() int { return len(t.workers) }

// Content puts a file: one object up to ChunkedSize, else chunks and their list.
func (t *Tx) Content(worker int, f io.Reader, size int64, prev oid.ID) (manifest.Kind, oid.ID, int64, error) {
	w := &t.workers[worker]
	if t.looking != nil {
		return t.look(w, f, size)
	}
	if size > ChunkedSize {
		id, list, err := w.files.PutFile(f, prev)
		return manifest.Chunked, id, list.Size, err
	}
	data, err := readContent(f, size, &w.buf)
	if err != nil {
		return 0, oid.ID{}, 0, err
	}
	id, err := t.put(w.files, data, prev)
	return manifest.File, id, int64(len(data)), err
}

// Pieces is Content for a file that the caller has cut where a change of a part is likely to leave the others as they are.
func (t *Tx) Pieces(worker int, pieces [][]byte, prev oid.ID) (manifest.Kind, oid.ID, int64, error) {
	id, list, err := t.workers[worker].files.PutPieces(pieces, prev)
	return manifest.Chunked, id, list.Size, err
}

// Dir puts a directory manifest's canonical bytes.
func (t *Tx) Dir(worker int, data []byte, prev oid.ID) (oid.ID, error) {
	id, err := t.put(t.workers[worker].dirs, data, prev)
	if err != nil || t.dirs == nil {
		return id, err
	}
	dir, err := manifest.ParseDir(data)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dirs[id] = dir
	return id, err
}

// put puts an object, as a delta of prev where that is worth it.
func (t *Tx) put(w *cas.Writer, data []byte, prev oid.ID) (oid.ID, error) {
	id := oid.Sum(data)
	base := oid.ID{}
	if t.looking == nil && prev != (oid.ID{}) && len(data) >= minDelta && t.deltas.Add(1) <= maxDeltas {
		base = prev
	}
	_, err := w.Put(id, data, base)
	return id, err
}

// Put puts a small object; the empty one has a zero id.
func (t *Tx) Put(data []byte) (oid.ID, error) {
	if len(data) == 0 {
		return oid.ID{}, nil
	}
	id, err := t.put(t.workers[0].files, data, oid.ID{})
	return id, t.P.Classify(err)
}

// Load loads a manifest of the transaction or of the store.
func (t *Tx) Load(id oid.ID) (manifest.Dir, error) {
	if id == (oid.ID{}) {
		return manifest.Dir{}, nil
	}
	t.mu.Lock()
	dir, ok := t.dirs[id]
	t.mu.Unlock()
	if ok {
		return dir, nil
	}
	data, err := t.Get(nil, id)
	if err != nil {
		return manifest.Dir{}, err
	}
	if dir, err = manifest.ParseDir(data); err != nil || t.dirs == nil {
		return dir, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dirs[id] = dir
	return dir, nil
}

// Open opens the content of a file of the transaction or of the store. Every byte is verified.
func (t *Tx) Open(e manifest.Entry) (io.ReadCloser, error) { return project.ContentOf(t.Get, e) }

// Get appends an object of the transaction or of the store to dst.
func (t *Tx) Get(dst []byte, id oid.ID) ([]byte, error) {
	if at, ok := t.looking.place(id); ok {
		return t.fromTree(dst, id, at)
	}
	return t.batch.Get(dst, id)
}

// Writer is one more way to put objects, beside those of the workers. Its user flushes it.
func (t *Tx) Writer() *cas.Writer { return t.batch.Writer() }

// StoredBytes is what the transaction adds to the store, in compressed bytes.
func (t *Tx) StoredBytes() int64 { return t.batch.StoredBytes() }

// Flush closes the open blocks: what was put before can then be read by its stored size.
func (t *Tx) Flush() error {
	for i := range t.workers {
		for _, w := range []*cas.Writer{t.workers[i].files, t.workers[i].dirs} {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return t.batch.Join()
}

// Discard lets go of what was put. After a commit it does nothing.
func (t *Tx) Discard() error { return t.batch.Discard() }

// Commit makes what was put durable, and the records that build gives with it: one fsync. build
// is called under the append lock, so that nothing comes between what it sees of the log and its
// records; its error, or no record, commits nothing. after, if not nil, is called under the same lock with the
// place of the last record. Errors: *BusyError, those of build and after.
func (t *Tx) Commit(ctx context.Context, build func() ([]manifest.Record, error), after func(cas.Position) error) (at cas.Position, err error) {
	if err := t.Flush(); err != nil {
		return at, t.P.Classify(err)
	}
	err = Appending(ctx, t.P, func(a *cas.Appender) error {
		records, err := build()
		if err != nil {
			return err
		}
		if len(records) == 0 {
			return t.Discard()
		}
		if at, err = t.CommitIn(a, records); err != nil || after == nil {
			return err
		}
		return after(at)
	})
	return at, err
}

// CommitIn is Commit for who holds the append lock, and has flushed.
func (t *Tx) CommitIn(a *cas.Appender, records []manifest.Record) (cas.Position, error) {
	payloads := make([][]byte, len(records))
	for i, r := range records {
		payloads[i] = r.Append(nil)
	}
	at, err := a.Commit(t.batch, payloads...)
	if err == nil {
		t.P.Committed.Store(true)
		t.P.NoteReached(at, records)
	}
	return at, err
}

// Appending calls do under the append lock.
func Appending(ctx context.Context, p *project.Project, do func(*cas.Appender) error) error {
	ctx, cancel := p.Wait(ctx)
	defer cancel()
	a, err := p.Store.Append(ctx)
	if err != nil {
		return p.Classify(err)
	}
	err = do(a)
	return p.Classify(errors.Join(err, a.Close()))
}

// Commit commits records that need no objects.
func Commit(ctx context.Context, p *project.Project, records ...manifest.Record) (cas.Position, error) {
	return Begin(p).Commit(ctx, func() ([]manifest.Record, error) { return records, nil }, nil)
}

// readContent reads the size bytes that f has at most, into buf, which it grows.
func readContent(f io.Reader, size int64, buf *[]byte) ([]byte, error) {
	if int64(cap(*buf)) < size {
		*buf = make([]byte, size+size/4+512)
	}
	n, err := io.ReadFull(f, (*buf)[:size])
	if err == io.EOF || err == io.ErrUnexpectedEOF { // truncated meanwhile
		err = nil
	}
	return (*buf)[:n], err
}
