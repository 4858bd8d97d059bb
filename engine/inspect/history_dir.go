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
	dirs := &dirMemo{load: h.p.LoadDir}
	at := func(c *manifest.Checkpoint) (*manifest.Entry, error) {
		if c == nil || path == "" && c.Root.IsZero() {
			return nil, nil
		}
		defer dirs.next()
		return EntryAt(dirs.get, c.Root, path)
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
		step, err := h.step(h.p.LoadDir, h.p.Store.Get, change, h.unread(c.Checkpoint), nil)
		if err != nil {
			return err
		}
		if step == nil {
			continue
		}
		step.Listed = c
		if err := h.add(*step); err != nil {
			return err
		}
	}
	return nil
}

// dirMemo keeps the directories of the tree that was looked at before: the next one is much like it.
type dirMemo struct {
	load      func(oid.ID) (manifest.Dir, error)
	last, now map[oid.ID]manifest.Dir
}

func (m *dirMemo) get(id oid.ID) (manifest.Dir, error) {
	d, ok := m.last[id]
	if !ok {
		var err error
		if d, err = m.load(id); err != nil {
			return d, err
		}
	}
	if m.now == nil {
		m.now = map[oid.ID]manifest.Dir{}
	}
	m.now[id] = d
	return d, nil
}

func (m *dirMemo) next() { m.last, m.now = m.now, nil }

// countBelow counts the files and links that differ between two directories; nil is none.
func countBelow(load func(oid.ID) (manifest.Dir, error), old, new *manifest.Entry) (n Counts, err error) {
	id := func(e *manifest.Entry) (id oid.ID) {
		if e != nil {
			id = e.ID
		}
		return id
	}
	err = manifest.Diff(load, id(old), id(new), func(c manifest.Change) error {
		file := func(e *manifest.Entry) bool { return e != nil && e.Kind != manifest.Subdir }
		switch {
		case file(c.Old) && file(c.New):
			n.Modified++
		case file(c.New):
			n.Added++
		case file(c.Old):
			n.Deleted++
		}
		return nil
	})
	return n, err
}
