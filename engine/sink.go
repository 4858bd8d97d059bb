package engine

import (
	"io"
	"os"
	"sync/atomic"

	"rewind/cas"
	"rewind/manifest"
)

const (
	// chunkedSize is where content-defined chunks begin: below it one object
	// keeps a file whole, and an edit is a delta of it.
	chunkedSize = 1 << 20
	// maxDeltas bounds the deltas of one scan. Each costs about 2 ms, a block of
	// new content a tenth of that: past a handful of edits, blocks are faster.
	maxDeltas = 64
	// minDelta is the size below which a delta saves nothing.
	minDelta = 256
)

// batchSink stages what a scan reads in a batch of the store. Each worker has a
// writer and a buffer of its own.
type batchSink struct {
	p       *Project
	batch   *cas.Batch
	workers []sinkWorker
	deltas  atomic.Int64
}

type sinkWorker struct {
	writer *cas.Writer // of contents
	dirs   *cas.Writer // of manifests: a block of their own, so that reading a tree decodes no contents
	buf    []byte
	_      [64]byte // workers' fields on cache lines of their own
}

func newBatchSink(p *Project, batch *cas.Batch, workers int) *batchSink {
	s := &batchSink{p: p, batch: batch, workers: make([]sinkWorker, workers)}
	for i := range s.workers {
		s.workers[i].writer, s.workers[i].dirs = batch.Writer(), batch.Writer()
	}
	return s
}

// Content stages a file: one object up to chunkedSize, else chunks and their list.
func (s *batchSink) Content(worker int, f *os.File, size int64, prev manifest.ID) (manifest.Kind, manifest.ID, int64, error) {
	w := &s.workers[worker]
	if size > chunkedSize {
		id, list, err := w.writer.PutFile(f)
		return manifest.Chunked, manifest.ID(id), list.Size, err
	}
	data, err := readContent(f, size, &w.buf)
	if err != nil {
		return 0, manifest.ID{}, 0, err
	}
	if len(data) > chunkedSize {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return 0, manifest.ID{}, 0, err
		}
		id, list, err := w.writer.PutFile(f)
		return manifest.Chunked, manifest.ID(id), list.Size, err
	}
	id := cas.Sum(data)
	base := cas.ID{}
	if prev != (manifest.ID{}) && len(data) >= minDelta && s.deltas.Add(1) <= maxDeltas {
		base = cas.ID(prev)
	}
	_, err = w.writer.Put(id, data, base)
	return manifest.File, manifest.ID(id), int64(len(data)), err
}

// Dir stages a directory manifest.
func (s *batchSink) Dir(worker int, data []byte, prev manifest.ID) (manifest.ID, error) {
	id := cas.Sum(data)
	base := cas.ID{}
	if prev != (manifest.ID{}) && len(data) >= minDelta && s.deltas.Add(1) <= maxDeltas {
		base = cas.ID(prev)
	}
	_, err := s.workers[worker].dirs.Put(id, data, base)
	return manifest.ID(id), err
}

// Load returns a manifest of an earlier tree.
func (s *batchSink) Load(id manifest.ID) (manifest.Dir, error) { return s.p.loadDir(id) }

func (s *batchSink) flush() error {
	for i := range s.workers {
		for _, w := range []*cas.Writer{s.workers[i].writer, s.workers[i].dirs} {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// readContent reads f to its end into buf, which it grows. A file that grew
// since its size was taken is read as it is, up to just past chunkedSize.
func readContent(f *os.File, size int64, buf *[]byte) ([]byte, error) {
	if int64(cap(*buf)) < size+1 {
		*buf = make([]byte, 0, size+size/4+512)
	}
	data := (*buf)[:0]
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF || len(data) > chunkedSize {
			*buf = data
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}
