package inspect

import (
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// directory finds the checkpoints that changed something in a directory or below. Of those that the database
// says may have, only the manifests on the way down to it are read.
func (h *historian) directory(path string) error {
	seqs, ok, err := h.db.Touched(path)
	if err != nil {
		return err
	}
	if !ok {
		for c, err := range h.db.Checkpoints(manifest.Query{All: true}) {
			if err != nil {
				return err
			}
			seqs = append(seqs, c.Seq)
		}
	}
	load := manifest.Remember(h.p.LoadDir)
	at := func(c *manifest.Checkpoint) (*manifest.Entry, error) {
		if c == nil || path == "" && c.Root.IsZero() {
			return nil, nil
		}
		return EntryAt(load, c.Root, path)
	}
	for _, seq := range seqs {
		if err := h.ctx.Err(); err != nil {
			return err
		}
		c, err := h.listed(seq)
		if err != nil {
			return err
		}
		before, err := h.db.Previous(seq)
		if err != nil {
			return err
		}
		change := manifest.Change{Path: path}
		if change.New, err = at(&c.Checkpoint); err != nil {
			return err
		}
		if change.Old, err = at(before); err != nil {
			return err
		}
		step, err := h.step(h.p.LoadDir, h.p.Store.Get, change, h.unread(&c.Checkpoint), nil)
		if err != nil {
			return err
		}
		if step == nil {
			continue
		}
		step.Listed = *c
		if err := h.add(*step); err != nil {
			return err
		}
	}
	return nil
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
		old, new := manifest.HasContent(c.Old), manifest.HasContent(c.New)
		switch {
		case old && new:
			n.Modified++
		case new:
			n.Added++
		case old:
			n.Deleted++
		}
		return nil
	})
	return n, err
}
