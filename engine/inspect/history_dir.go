package inspect

import (
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// directory finds the checkpoints that changed something in a directory or below. Of those that the database
// says may have, only the manifests on the way down to it are read.
func (h *historian) directory(path string) error {
	load := manifest.Remember(h.p.LoadDir)
	at := func(c *manifest.Checkpoint) (*manifest.Entry, error) {
		if c == nil || path == "" && c.Root.IsZero() {
			return nil, nil
		}
		return EntryAt(load, c.Root, path)
	}
	for pair, err := range h.db.Touching(path) {
		if err == nil {
			err = h.ctx.Err()
		}
		if err != nil {
			return err
		}
		c := pair.Checkpoint
		change := manifest.Change{Path: path}
		if change.New, err = at(c); err != nil {
			return err
		}
		if change.Old, err = at(pair.Before); err != nil {
			return err
		}
		below := func() (manifest.Counts, error) { return h.below(path, c.Seq) }
		step, err := h.step(h.p.Store.Get, change, h.unread(c), nil, below)
		if err != nil {
			return err
		}
		if step == nil {
			continue
		}
		step.Listed = project.Listed{Checkpoint: *c, N: h.db.Position(c.Seq)}
		if err := h.add(*step); err != nil {
			return err
		}
	}
	return nil
}

// below counts the files and links in a directory that a checkpoint changed.
func (h *historian) below(dir string, seq uint64) (n manifest.Counts, err error) {
	for c, err := range h.db.Changes(seq) {
		if err != nil {
			return n, err
		}
		if dir == "" || strings.HasPrefix(c.Path, dir+"/") {
			countFile(&n, c)
		}
	}
	return n, nil
}

// countBelow counts the files and links that differ between two directories; nil is none.
func countBelow(load func(oid.ID) (manifest.Dir, error), old, new *manifest.Entry) (n manifest.Counts, err error) {
	id := func(e *manifest.Entry) (id oid.ID) {
		if e != nil {
			id = e.ID
		}
		return id
	}
	err = manifest.Diff(load, id(old), id(new), func(c manifest.Change) error {
		countFile(&n, c)
		return nil
	})
	return n, err
}

func countFile(n *manifest.Counts, c manifest.Change) {
	old, new := manifest.HasContent(c.Old), manifest.HasContent(c.New)
	switch {
	case old && new:
		n.Modified++
	case new:
		n.Added++
	case old:
		n.Deleted++
	}
}
