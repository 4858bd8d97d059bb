package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

func encodePaths(changes []restore.Change) []byte {
	var out []byte
	for _, c := range changes {
		out = append(out, pathLine(c.Path, c.Action.String())...)
	}
	return out
}

// pathLine is one line of such a list.
func pathLine(path, action string) []byte {
	line := project.PathLine{Path: path, Action: action}
	if !utf8.ValidString(path) {
		line.Raw = base64.StdEncoding.EncodeToString([]byte(path))
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil {
		panic(err) // strings always encode, into memory
	}
	return out.Bytes()
}

// pathOfLine is the path of one.
func pathOfLine(l project.PathLine) string {
	if raw, err := base64.StdEncoding.DecodeString(l.Raw); err == nil && len(raw) > 0 {
		return string(raw)
	}
	return l.Path
}

// told tells the person how far the plan has come; nil where nobody wants to know.
func (r *restoring) told() func(restore.Done) {
	if r.Progress == nil {
		return nil
	}
	return func(d restore.Done) {
		r.Progress(project.ProgressInfo{Phase: d.Step, Files: d.Files, Bytes: d.Bytes, TotalFiles: d.TotalFiles, TotalBytes: d.TotalBytes})
	}
}

// saveSafety commits the scan, corrected by what the plan read, as a safety
// checkpoint, and publishes the stat cache that follows from the scan.
func (r *restoring) saveSafety(root oid.ID) (*manifest.Checkpoint, error) {
	return r.commitSafety(r.tx, root, "before "+commandOf(r.op), true)
}

// commitSafety commits a safety checkpoint of the tree root, with what was put into tx for it.
func (r *restoring) commitSafety(tx *commit.Tx, root oid.ID, why string, publish bool) (*manifest.Checkpoint, error) {
	c := *r.scan
	c.Tx = tx
	rec, err := c.Record(checkpoint.Options{Kind: manifest.Safety, Description: why})
	if err != nil {
		return nil, err
	}
	if root != rec.Root {
		rec.Root = root
		if rec.Files, rec.Bytes, err = totals(tx.Load, root); err != nil {
			return nil, err
		}
	}
	after := c.Publish
	if !publish {
		after = c.Committed
	}
	at, err := tx.Commit(r.ctx, func() ([]manifest.Record, error) {
		_, err := c.Relate(rec)
		return []manifest.Record{{Checkpoint: rec}}, err
	}, after)
	if err != nil {
		return nil, err
	}
	rec.Seq = at.Seq
	return rec, nil
}

// totals counts the files of a tree and their bytes.
func totals(load func(oid.ID) (manifest.Dir, error), root oid.ID) (files, size uint64, err error) {
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

// refreshStatCache scans again where the plan has touched anything, so that the next
// save finds a stat cache that knows the restored files. It is a cache: failing
// costs the next save some reading.
func (r *restoring) refreshStatCache(plan *restore.Plan) {
	touched := make([]string, len(plan.Changes))
	for i := range plan.Changes {
		touched[i] = plan.Changes[i].Path
	}
	c, err := checkpoint.CaptureTree(r.ctx, r.Project, checkpoint.CaptureOptions{Changed: touched, From: r.scan.Scan.Root})
	if err != nil {
		return
	}
	defer c.Discard()
	if c.Tx.StoredBytes() > 0 {
		return // an edit beside us: its objects are not in the store
	}
	_ = commit.Appending(r.ctx, r.Project, func(a *cas.Appender) error { return c.Publish(a.Last()) })
}
