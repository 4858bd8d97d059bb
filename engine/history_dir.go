package engine

import (
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// directory finds the checkpoints that changed something in a directory or below: its manifest says so,
// and only the manifests on the way down to it are read.
func (h *historian) directory(path string) error {
	dirs := &dirMemo{load: h.p.LoadDir}
	var newer *manifest.Checkpoint
	var after *manifest.Entry // path in newer
	note := func(before *manifest.Entry) error {
		if newer == nil || sameEntry(before, after) {
			return nil
		}
		step, err := h.step(h.p.LoadDir, h.p.Store.Get, manifest.Change{Path: path, Old: before, New: after}, h.unread(*newer), nil)
		if err != nil || step == nil {
			return err
		}
		step.Checkpoint, step.N = *newer, h.db.Position(newer.Seq)
		return h.add(*step)
	}
	for c, err := range h.db.Checkpoints(manifest.Query{All: true}) {
		if err == nil {
			err = h.ctx.Err()
		}
		if err != nil {
			return err
		}
		e, err := entryAt(dirs.get, c.Root, path)
		if err != nil {
			return err
		}
		dirs.next()
		if err := note(e); err != nil {
			return err
		}
		newer, after = &c, e
	}
	if after == nil || path == "" && after.ID.IsZero() {
		return nil
	}
	return note(nil)
}

func sameEntry(a, b *manifest.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Alike(*b)
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
