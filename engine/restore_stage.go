package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"sync"
	"unicode/utf8"

	"rewind/cas"
	"rewind/engine/restore"
	"rewind/manifest"
)

const treeLockName = "tree"

func (p *Project) restoreDir() string { return filepath.Join(p.place.store, restoreName) }

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
	return r.commitSafety(r.tx, root, "before "+string(r.op.Kind), true)
}

// commitSafety commits a safety checkpoint of the tree root, with what was put into tx for it.
func (r *restoring) commitSafety(tx *Tx, root manifest.ID, why string, publish bool) (*manifest.Checkpoint, error) {
	c := *r.scan
	c.tx = tx
	rec, err := c.record(SaveOptions{Kind: manifest.Safety, Description: why})
	if err != nil {
		return nil, err
	}
	if root != rec.Root {
		rec.Root = root
		if rec.Files, rec.Bytes, err = totals(tx.Load, root); err != nil {
			return nil, err
		}
	}
	after := c.publish
	if !publish {
		after = nil
	}
	at, err := tx.Commit(r.ctx, func() ([]manifest.Record, error) {
		_, err := tx.relate(rec)
		return []manifest.Record{{Checkpoint: rec}}, err
	}, after)
	if err != nil {
		return nil, err
	}
	rec.Seq = at.Seq
	return rec, nil
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
	if c.tx.StoredBytes() > 0 {
		return // an edit beside us: its objects are not in the store
	}
	_ = r.appending(r.ctx, func(a *cas.Appender) error { return c.publish(a.Last()) })
}
