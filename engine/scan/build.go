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
	// No id: a directory that was descended into, with nothing in it.
	if id := k.w.h.dirs[n.ord].id; id != (oid.ID{}) {
		loaded, err := k.w.gate.load(id)
		if err != nil {
			return nil, errDamaged
		}
		*d = loaded
	}
	n.old = d
	return d, nil
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
	if changed {
		if err := k.build(n); err != nil {
			return err
		}
	} else {
		n.id = k.w.h.dirs[n.ord].id
		n.empty = n.id == oid.ID{}
	}
	if n.ord >= 0 {
		d := &k.w.h.dirs[n.ord]
		n.same = n.id == d.id && n.mode == d.mode
		if !n.same && !n.built {
			// Its own mode alone: the parent's entry changes, and wants the totals.
			old, err := k.oldDir(n)
			if err != nil {
				return err
			}
			n.total(old.Entries)
		}
	}
	n.encode()
	n.ents, n.old = nil, nil
	k.w.scopes.Lock()
	n.scope = nil
	k.w.scopes.Unlock()
	return nil
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

// build makes the manifest of a node whose entries are complete.
func (k *worker) build(n *node) error {
	old, err := k.oldDir(n)
	if err != nil {
		return err
	}
	var before []manifest.Entry
	var prev oid.ID
	if old != nil {
		before, prev = old.Entries, k.w.h.dirs[n.ord].id
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
				return errDamaged
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
		return nil
	case old != nil && prev != (oid.ID{}) && slices.Equal(before, dir.Entries):
		n.id = prev
		return nil
	}
	k.data = dir.Append(k.data[:0])
	if n.id, err = k.w.gate.dir(k.id, k.data, prev); err != nil {
		return fmt.Errorf("manifest of %q: %w", n.path(), err)
	}
	return nil
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
	n.count = len(list)
	n.kids = slices.Clip(n.kids)
	if n.parent != nil {
		n.name = strings.Clone(n.name) // do not keep the parent's whole listing
	}
}
