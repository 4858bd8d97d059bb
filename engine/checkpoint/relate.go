package checkpoint

import (
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// Relate completes a checkpoint's record with what depends on the checkpoint before, and with what hooks left
// since; it gives that checkpoint, nil for none. The caller holds the append lock, also for Committed or Publish.
func (c *Captured) Relate(r *manifest.Checkpoint) (parent *manifest.Checkpoint, err error) {
	t := c.Tx
	if parent, err = t.P.NewestCheckpoint(); err != nil {
		return nil, err
	}
	held := ""
	if parent != nil {
		held = parent.Windows
	}
	c.taken = window.Take(c.p, held)
	r.Windows = c.taken.Windows
	r.StoredBytes = uint64(t.StoredBytes())
	if parent == nil {
		// Everything is new, and counted already. Reading back the manifests of a
		// whole tree takes 7 % of the first save of 79,000 files, on one core.
		r.Added = r.Files
		return nil, nil
	}
	r.Parent = parent.ID
	if !r.Time.After(parent.Time) {
		// Order is by the log, whatever the clock says.
		r.Time = parent.Time.Add(time.Microsecond)
	}
	var left problem.Unread // read when something is gone
	var differ []differing
	c.instead = nil
	err = manifest.Diff(t.Load, parent.Root, r.Root, func(change manifest.Change) error {
		if change.New == nil && left == nil {
			if left, err = unread(t, r.Coverage, parent.Coverage); err != nil {
				return err
			}
		}
		if t.P.Uncaptured(left, change) {
			return nil // it was not captured, but is there
		}
		if change.New == nil {
			c.instead = left.Instead(c.instead, change.Path)
		}
		if len(differ) <= manifest.MaxChanged {
			differ = append(differ, differing{change.Path, change.New == nil})
		}
		return r.Count(change)
	})
	if project.IsDamage(err) {
		// That the tree before is damaged must not keep this one from being saved: nothing of it is known.
		r.Added, r.Modified, r.Deleted = r.Files, 0, 0
		return parent, nil
	}
	r.Changed = c.changed(differ)
	return parent, err
}

// unread are the paths that a coverage of the transaction names as there and not captured; before is the parent's.
func unread(t *commit.Tx, coverage, before oid.ID) (problem.Unread, error) {
	var lists [2][]problem.Problem
	for i, id := range []oid.ID{coverage, before} {
		if id == (oid.ID{}) {
			continue
		}
		data, err := t.Get(nil, id)
		if err == nil {
			lists[i], err = problem.Decode(data)
		}
		if err != nil {
			return nil, err
		}
	}
	return problem.UnreadOf(lists[0], lists[1]), nil
}

// differing is a path that the parent has otherwise.
type differing struct {
	path string
	gone bool
}

// changed says when each path was written, in path order as they come: as the scan saw it, else as the file system says
// now. What was written after the tree was captured, or had been put in another's place, has the zero time.
func (c *Captured) changed(differ []differing) string {
	if len(differ) > manifest.MaxChanged {
		return ""
	}
	list := make([]manifest.Changed, len(differ))
	for i, d := range differ {
		list[i] = manifest.Changed{Path: d.path, At: c.writtenAt(d)}
	}
	return string(manifest.AppendChanged(nil, list))
}

// Written says of each path that differs from a tree when it was written, as a checkpoint of what was captured would say.
func (c *Captured) Written(since oid.ID) (map[string]time.Time, error) {
	at := map[string]time.Time{}
	err := manifest.Diff(c.Tx.Load, since, c.Root(), func(change manifest.Change) error {
		if t := c.writtenAt(differing{change.Path, change.New == nil}); !t.IsZero() && len(at) <= manifest.MaxChanged {
			at[change.Path] = t
		}
		return nil
	})
	if project.IsDamage(err) {
		return nil, nil // of the tree before nothing is known
	}
	return at, err
}

// WrittenAt is when a path was written last; zero where that is not known.
func (c *Captured) WrittenAt(path string) time.Time { return c.writtenAt(differing{path, false}) }

func (c *Captured) writtenAt(d differing) time.Time {
	if c.overridden[d.path] {
		return time.Time{}
	}
	at := d.path
	if d.gone {
		at, _ = rootfs.Split(at)
	}
	for {
		if ns, ok := c.Scan.Ctimes[at]; ok {
			return time.Unix(0, ns).UTC()
		}
		info, err := os.Lstat(filepath.Join(c.p.Root(), filepath.FromSlash(at)))
		if err == nil {
			ns, _ := account.ChangeTime(info)
			if when := time.Unix(0, ns).UTC(); !when.After(c.start) {
				return when
			}
			return time.Time{}
		}
		if !d.gone || at == "" {
			return time.Time{}
		}
		at, _ = rootfs.Split(at) // the directory is gone, too
	}
}
