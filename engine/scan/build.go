package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// release ends a task or a child of a node. The last one builds the node's
// manifest, which ends its parent's wait for it, and so on upwards.
func (k *worker) release(n *node) error {
	for n != nil && n.pending.Add(-1) == 0 {
		if k.w.stop.Load() {
			return nil
		}
		if err := k.finish(n); err != nil {
			return err
		}
		n = n.parent
	}
	return nil
}

// oldDir loads the node's manifest of the stat cache once, nil if there is none.
func (k *worker) oldDir(n *node) (*manifest.Dir, error) {
	n.loading.Lock()
	defer n.loading.Unlock()
	if n.old != nil || n.ord < 0 {
		return n.old, nil
	}
	d := &manifest.Dir{}
	id, err := k.oldID(n)
	if err != nil {
		return nil, err
	}
	if id != (oid.ID{}) {
		loaded, err := k.w.gate.load(id)
		if err != nil {
			return nil, errDamaged
		}
		*d = loaded
	}
	n.old = d
	return d, nil
}

// oldID is the id of the manifest that the stat cache's directory has: that of the root is in the stat cache, any other in the
// manifest above, which has to be made anew whenever one below is. It is zero where there is none.
func (k *worker) oldID(n *node) (oid.ID, error) {
	switch {
	case n.parent == nil:
		return k.w.h.root, nil
	case k.w.h.dirs[n.ord].flags&hasNothing != 0:
		return oid.ID{}, nil
	}
	above, err := k.oldDir(n.parent)
	if err != nil {
		return oid.ID{}, err
	}
	if above != nil {
		if e, _ := above.Lookup(n.name); e.Kind == manifest.Subdir {
			return e.ID, nil
		}
	}
	return oid.ID{}, errDamaged
}

// finish builds a node's manifest when something in it differs, and its block for the stat cache.
func (k *worker) finish(n *node) error {
	if n.gone || n.problem != 0 {
		return nil
	}
	changed := n.changed || n.ord < 0 || n.parent == nil && k.w.o.Beside != nil
	for i := range n.ents {
		e := &n.ents[i]
		if c := e.child; c != nil {
			e.adopt(c)
		}
		if e.captured() != e.was || e.captured() && !e.known {
			changed = true
		}
	}
	n.ents = slices.DeleteFunc(n.ents, func(e entry) bool { return e.kind == 0 })
	kept := !changed // the manifest is that of the stat cache
	if changed {
		var err error
		if kept, err = k.build(n); err != nil {
			return err
		}
	}
	if kept {
		if err := k.keep(n); err != nil {
			return err
		}
	}
	n.encode()
	n.ents, n.old = nil, nil
	k.w.scopes.Lock()
	n.scope = nil
	k.w.scopes.Unlock()
	return nil
}

// keep finishes a node whose manifest is that of the stat cache.
func (k *worker) keep(n *node) (err error) {
	d := &k.w.h.dirs[n.ord]
	n.empty = d.flags&hasNothing != 0
	n.same = n.mode == d.mode
	if n.same && n.parent != nil {
		return nil // nobody asks for its id
	}
	if n.id, err = k.oldID(n); err != nil || n.same || n.built {
		return err
	}
	// Its own mode alone: the parent's entry changes, and wants the totals.
	old, err := k.oldDir(n)
	if err == nil {
		n.total(old.Entries)
	}
	return err
}

// adopt takes over what became of a directory below.
func (e *entry) adopt(c *node) {
	switch {
	case c.gone:
		e.set(0, "")
	case c.problem != 0:
		e.set(c.problem|flagReason, c.reason)
	case c.same:
		e.known = true
	default:
		e.m = manifest.Entry{
			Name: e.name, Kind: manifest.Subdir, Mode: uint32(c.mode), Size: c.bytes, Files: c.files, ID: c.id,
		}
	}
}

// build makes the manifest of a node whose entries are complete. kept says that it is that of the stat cache.
func (k *worker) build(n *node) (kept bool, err error) {
	old, err := k.oldDir(n)
	if err != nil {
		return false, err
	}
	var before []manifest.Entry
	var prev oid.ID
	if old != nil {
		before = old.Entries
		if prev, err = k.oldID(n); err != nil {
			return false, err
		}
	}
	dir := manifest.Dir{Entries: make([]manifest.Entry, 0, len(n.ents))}
	next := 0
	for i := range n.ents {
		e := &n.ents[i]
		if !e.captured() || e.child != nil && e.child.empty {
			continue
		}
		if e.known {
			for next < len(before) && before[next].Name < e.name {
				next++
			}
			if next == len(before) || before[next].Name != e.name {
				if e.descends() {
					continue // nothing below it was captured
				}
				return false, errDamaged
			}
			e.m = before[next]
		}
		dir.Entries = append(dir.Entries, e.m)
	}
	if n.parent == nil && len(k.w.o.Beside) > 0 {
		dir.Entries = append(dir.Entries, k.w.o.Beside...)
		slices.SortFunc(dir.Entries, func(a, b manifest.Entry) int { return strings.Compare(a.Name, b.Name) })
	}
	n.total(dir.Entries)
	switch {
	case n.descend && len(dir.Entries) == 0:
		n.empty = true
		return old != nil && prev == (oid.ID{}), nil
	case old != nil && prev != (oid.ID{}) && slices.Equal(before, dir.Entries):
		return true, nil
	}
	k.data = dir.Append(k.data[:0])
	if n.id, err = k.w.gate.dir(k.id, k.data, prev); err != nil {
		return false, fmt.Errorf("manifest of %q: %w", n.path(), err)
	}
	return false, nil
}

// total counts what is below the node.
func (n *node) total(list []manifest.Entry) {
	n.built = true
	n.files, n.bytes = manifest.Dir{Entries: list}.Totals()
}

// encode keeps of the entries what the stat cache needs.
func (n *node) encode() {
	list := make([]record, len(n.ents))
	size := len(n.name) + 1
	for i := range n.ents {
		e := &n.ents[i]
		list[i] = record{name: e.name, kind: e.kind, slot: e.slot, reason: e.reason}
		size += len(e.name) + 10
		if e.kind&flagReason != 0 {
			size += 2
			if i == 0 || list[i-1].reason != e.reason {
				size += len(e.reason)
			}
		}
		if e.kind&kindMask == kindDir {
			list[i].slot = 0
			kid := kid{slot: int32(i), ord: e.ord, node: e.child}
			n.kids = append(n.kids, kid)
		}
	}
	n.block, n.flags = appendBlock(make([]byte, 0, size), n.name, list)
	if n.empty {
		n.flags |= hasNothing
	}
	n.count = len(list)
	n.kids = slices.Clip(n.kids)
	if n.parent != nil {
		n.name = strings.Clone(n.name) // do not keep the parent's whole listing
	}
}
