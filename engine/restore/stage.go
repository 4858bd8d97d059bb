package restore

import (
	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// PlanProgress reports how much of the plan is done; nil without a Progress.
func (r *Run) PlanProgress() func(treeio.Done) {
	if r.Progress == nil {
		return nil
	}
	return func(d treeio.Done) {
		r.Progress(project.ProgressInfo{Phase: d.Step, Files: d.Files, Bytes: d.Bytes, TotalFiles: d.TotalFiles, TotalBytes: d.TotalBytes})
	}
}

// saveSafety commits the scan, corrected by what the plan read, as a safety
// checkpoint, and publishes the stat cache that follows from the scan.
func (r *Run) saveSafety(root oid.ID) (*manifest.Checkpoint, error) {
	return r.commitSafety(r.Tx, root, beforeCommand+commandOf(r.Op), true)
}

// beforeCommand begins what a safety checkpoint says of itself.
const beforeCommand = "before "

// commitSafety commits a safety checkpoint of the tree root, with what was put into tx for it.
func (r *Run) commitSafety(tx *commit.Tx, root oid.ID, why string, publish bool) (*manifest.Checkpoint, error) {
	c := *r.Scan
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
	at, err := tx.Commit(r.Ctx, func() ([]manifest.Record, error) {
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
func (r *Run) refreshStatCache(plan *treeio.Plan) {
	touched := make([]string, len(plan.Changes))
	for i := range plan.Changes {
		touched[i] = plan.Changes[i].Path
	}
	c, err := checkpoint.CaptureTree(r.Ctx, r.Project, checkpoint.CaptureOptions{Changed: touched, From: r.Scan.Scan.Root})
	if err != nil {
		return
	}
	defer c.Discard()
	if c.Tx.StoredBytes() > 0 {
		return // an edit beside us: its objects are not in the store
	}
	_ = commit.Appending(r.Ctx, r.Project, func(a *cas.Appender) error { return c.Publish(a.Last()) })
}
