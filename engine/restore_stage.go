package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"path/filepath"
	"runtime"
	"sync"
	"time"
	"unicode/utf8"

	"rewind/cas"
	"rewind/engine/restore"
	"rewind/manifest"
)

const treeLockName = "tree"

func (p *Project) restoreDir() string { return filepath.Join(p.place.store, restoreName) }

// stage is a batch as package restore sees it: its Source and its Sink.
// Manifests that are staged can be loaded at once, and those that were loaded
// stay at hand: trees are compared several times in one restore, and a manifest
// shares its block with many others.
type stage struct {
	*batchSink
	mu   sync.Mutex
	dirs map[manifest.ID]manifest.Dir
}

func newStage(p *Project, batch *cas.Batch) *stage {
	return &stage{batchSink: newBatchSink(p, batch, runtime.GOMAXPROCS(0)), dirs: map[manifest.ID]manifest.Dir{}}
}

// next is a stage over a new batch, for what comes after a commit.
func (s *stage) next() *stage {
	n := newStage(s.p, s.p.store.NewBatch())
	n.dirs = s.dirs // committed by now, or in the store already
	return n
}

func (s *stage) count() int { return len(s.workers) }

// putDir stages a manifest and keeps it at hand.
func (s *stage) putDir(worker int, data []byte, prev manifest.ID) (manifest.ID, error) {
	id, err := s.batchSink.Dir(worker, data, prev)
	if err != nil {
		return id, err
	}
	dir, err := manifest.ParseDir(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirs[id] = dir
	return id, err
}

// loadStaged loads a manifest.
func (s *stage) loadStaged(id manifest.ID) (manifest.Dir, error) {
	s.mu.Lock()
	dir, ok := s.dirs[id]
	s.mu.Unlock()
	if ok || id == (manifest.ID{}) {
		return dir, nil
	}
	data, err := s.batch.Get(nil, cas.ID(id))
	if err != nil {
		return manifest.Dir{}, err
	}
	if dir, err = manifest.ParseDir(data); err != nil {
		return manifest.Dir{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirs[id] = dir
	return dir, nil
}

// openStaged opens a content that is committed or staged.
func (s *stage) openStaged(e manifest.Entry) (io.ReadCloser, error) {
	return contentOf(s.batch.Get, e)
}

// put stages a small object.
func (s *stage) put(data []byte) (manifest.ID, error) {
	if len(data) == 0 {
		return manifest.ID{}, nil
	}
	id := cas.Sum(data)
	_, err := s.workers[0].writer.Put(id, data, cas.ID{})
	return manifest.ID(id), err
}

// stageSource and stageSink are the two faces of a stage: both have a method Dir.
type stageSource struct{ *stage }

func (s stageSource) Dir(id manifest.ID) (manifest.Dir, error)        { return s.loadStaged(id) }
func (s stageSource) Content(e manifest.Entry) (io.ReadCloser, error) { return s.openStaged(e) }

type stageSink struct{ *stage }

func (s stageSink) Dir(worker int, data []byte, prev manifest.ID) (manifest.ID, error) {
	return s.putDir(worker, data, prev)
}

func (s *stage) source() restore.Source { return stageSource{s} }
func (s *stage) sink() restore.Sink     { return stageSink{s} }

// pathLine is one line of an operation's list of paths: JSON, for a person with any version.
type pathLine struct {
	Path   string `json:"path"`
	Raw    string `json:"path_b64,omitempty"`
	Action string `json:"action"`
}

func encodePaths(changes []restore.Change) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, c := range changes {
		line := pathLine{Path: c.Path, Action: c.Action.String()}
		if !utf8.ValidString(c.Path) {
			line.Raw = base64.StdEncoding.EncodeToString([]byte(c.Path))
		}
		if err := enc.Encode(line); err != nil {
			panic(err) // strings always encode, into memory
		}
	}
	return out.Bytes()
}

// reportProgress tells the person, from one goroutine at a time.
func (r *restoring) reportProgress(total int) func(files, bytes int64) {
	if r.progress == nil {
		return nil
	}
	var mu sync.Mutex
	return func(files, size int64) {
		mu.Lock()
		defer mu.Unlock()
		r.progress(ProgressInfo{Phase: "restore", Files: files, Bytes: size, TotalFiles: int64(total)})
	}
}

// saveSafety commits the scan, corrected by what the plan read, as a safety
// checkpoint, and publishes the head that follows from the scan.
func (r *restoring) saveSafety(root manifest.ID) (*manifest.Checkpoint, error) {
	return r.commitSafety(r.stage, root, "before "+string(r.op.Kind), true)
}

func (r *restoring) commitSafety(s *stage, root manifest.ID, why string, publish bool) (*manifest.Checkpoint, error) {
	c := *r.scan
	c.batch = s.batch
	rec, err := c.record(SaveOptions{Kind: manifest.Safety, Description: why})
	if err != nil {
		return nil, err
	}
	if root != rec.Root {
		rec.Root = root
		if rec.Files, rec.Bytes, err = totals(s.loadStaged, root); err != nil {
			return nil, err
		}
	}
	if err := s.flush(); err != nil {
		return nil, err
	}
	ctx, cancel := r.wait(r.ctx)
	defer cancel()
	a, err := r.store.Append(ctx)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	parent, err := r.newestCheckpoint()
	if err != nil {
		return nil, err
	}
	rec.StoredBytes = uint64(s.batch.StoredBytes())
	if err := s.relate(rec, parent); err != nil {
		return nil, err
	}
	at, err := a.Commit(s.batch, manifest.Record{Checkpoint: rec}.Append(nil))
	if err != nil {
		return nil, err
	}
	rec.Seq = at.Seq
	if publish {
		return rec, c.publish(at)
	}
	return rec, nil
}

// relate completes a checkpoint with what depends on the one before.
func (s *stage) relate(r, parent *manifest.Checkpoint) error {
	before := manifest.ID{}
	if parent != nil {
		before, r.Parent = parent.Root, parent.ID
		if !r.Time.After(parent.Time) {
			r.Time = parent.Time.Add(time.Microsecond) // order is by the log, whatever the clock says
		}
	}
	return manifest.Diff(s.loadStaged, before, r.Root, func(c manifest.Change) error {
		switch {
		case c.Old != nil && c.New != nil:
			r.Modified++
		case c.New != nil && c.New.Kind != manifest.Subdir:
			r.Added++
		case c.New == nil && c.Old.Kind != manifest.Subdir:
			r.Deleted++
		}
		return nil
	})
}

// totals counts the files of a tree and their bytes.
func totals(load func(manifest.ID) (manifest.Dir, error), root manifest.ID) (files, size uint64, err error) {
	dir, err := load(root)
	for _, e := range dir.Entries {
		size += e.Size
		if e.Kind == manifest.Subdir {
			files += e.Files
		} else {
			files++
		}
	}
	return files, size, err
}

// refreshHead scans again where the plan has touched anything, so that the next
// save finds a head that knows the restored files. It is a cache: failing
// costs the next save some reading.
func (r *restoring) refreshHead(plan *restore.Plan) {
	touched := make([]string, len(plan.Changes))
	for i := range plan.Changes {
		touched[i] = plan.Changes[i].Path
	}
	c, err := r.capture(r.ctx, captureOptions{changed: touched, from: r.scan.scan.Root})
	if err != nil {
		return
	}
	defer c.discard()
	if c.batch.StoredBytes() > 0 {
		return // an edit beside us: its objects are not in the store
	}
	ctx, cancel := r.wait(r.ctx)
	defer cancel()
	a, err := r.store.Append(ctx)
	if err != nil {
		return
	}
	defer a.Close()
	_ = c.publish(a.Last())
}
