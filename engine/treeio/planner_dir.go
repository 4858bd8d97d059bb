package treeio

import (
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

func (b *planner) bothDirs(path string, c, t manifest.Entry, at *diskDir, depth int, has bool) error {
	below := &diskDir{fs: b.o.FS, path: path, there: true}
	defer below.close()
	if err := b.dir(path, c.ID, t.ID, below, depth+1); err != nil {
		return err
	}
	if !has || c.Mode == t.Mode {
		return nil
	}
	info, err := at.lstat(c.Name)
	switch {
	case err != nil:
		b.skip(path, why(err), true)
	case info.Kind != rootfs.Directory:
		b.skip(path, reasonRacing, true)
	default:
		b.Changes = append(b.Changes, Change{Path: path, Action: Mode, Before: c, After: t, info: info, known: true, Reason: "different permissions"})
	}
	return nil
}

// makeDir plans a directory of the target where the current tree has none.
func (b *planner) makeDir(path string, c, t manifest.Entry, at *diskDir, depth int, has bool) error {
	info, err := at.lstat(t.Name)
	if err != nil {
		b.skip(path, why(err), true)
		return nil
	}
	ch := Change{Path: path, Before: c, After: t, info: info, known: c.Kind != 0}
	below := &diskDir{fs: b.o.FS, path: path}
	defer below.close()
	switch info.Kind {
	case 0:
		ch.Action, ch.Before, ch.Reason = Create, manifest.Entry{}, "missing"
	case rootfs.Directory:
		// One that the scan passed over. What is in it stays, unless the target has it.
		below.there = true
		b.passed[path] = info.Mode
		if err := b.dir(path, oid.ID{}, t.ID, below, depth+1); err != nil {
			return err
		}
		if has && info.Mode != t.Mode {
			ch.Action, ch.Reason = Mode, "different permissions"
			ch.Before = manifest.Entry{Name: t.Name, Kind: manifest.Subdir, Mode: info.Mode}
			ch.known = false
			b.Changes = append(b.Changes, ch)
		}
		return nil
	case rootfs.Regular, rootfs.Link:
		if !has {
			b.skip(path, reasonParent, true)
			return nil
		}
		ch.Action, ch.Reason = Replace, "different kind"
		if c.Kind == 0 {
			ch.Reason = "something in no checkpoint is in the way"
		}
	default:
		b.leave(path, inTheWay(info), true)
		return nil
	}
	before := len(b.Changes)
	if err := b.dir(path, oid.ID{}, t.ID, below, depth+1); err != nil {
		return err
	}
	if has || len(b.Changes) > before {
		b.Changes = append(b.Changes, ch)
	}
	return nil
}

// deleteDir plans the deletion of a directory and of all that the trees know in it.
func (b *planner) deleteDir(path string, c manifest.Entry, at *diskDir, depth int, has bool) error {
	info, err := at.lstat(c.Name)
	if err != nil || info.Kind != rootfs.Directory {
		if err != nil {
			b.skip(path, why(err), true)
		} else if info.Kind != 0 {
			b.skip(path, reasonRacing, true)
		}
		return nil
	}
	below := &diskDir{fs: b.o.FS, path: path, there: true}
	defer below.close()
	d, err := below.open()
	if err != nil {
		b.skip(path, why(err), true)
		return nil
	}
	if d.HasGit() {
		b.skip(path, ReasonNested, false)
		return nil
	}
	if cause := b.unseen(path, true); has && !cause.None() {
		b.leave(path, cause, false) // with all below it
		return nil
	}
	before := len(b.Changes)
	skips := len(b.Skips)
	if err := b.dir(path, c.ID, oid.ID{}, below, depth+1); err != nil {
		return err
	}
	if !has || !b.inScope(path, true) {
		return nil
	}
	gone := map[string]bool{}
	for _, ch := range b.Changes[before:] {
		if parent, name := rootfs.Split(ch.Path); parent == path && ch.Action == Delete {
			gone[name] = true
		}
	}
	names, err := d.Names()
	if err != nil {
		b.skip(path, why(err), true)
		return nil
	}
	for _, name := range names {
		if !gone[name] {
			if len(b.Skips) == skips { // else what is left below has been named
				b.skip(path, reasonHolds, false)
			}
			return nil
		}
	}
	b.Changes = append(b.Changes, Change{Path: path, Action: Delete, Before: c, info: info, known: true, Reason: "not in the checkpoint"})
	return nil
}

// dirInTheWay plans a file or a symlink where the current tree has a
// directory: all or nothing.
func (b *planner) dirInTheWay(path string, c, t manifest.Entry, at *diskDir) error {
	info, err := at.lstat(c.Name)
	switch {
	case err != nil:
		b.skip(path, why(err), true)
		return nil
	case info.Kind == rootfs.Directory:
	default: // the directory went since the scan
		b.putFile(path, manifest.Entry{}, t, info, at)
		return nil
	}
	below := &diskDir{fs: b.o.FS, path: path, there: true}
	defer below.close()
	d, err := below.open()
	if err != nil {
		b.skip(path, why(err), true)
		return nil
	}
	cause, err := b.disposable(path, c.ID, d, 0)
	if err != nil {
		return err
	}
	if !cause.None() {
		b.leave(path, cause, true)
		return nil
	}
	b.Changes = append(b.Changes, Change{Path: path, Action: Replace, Before: c, After: t, info: info, known: true, Reason: "different kind"})
	return nil
}

// disposable says why a directory cannot go as a whole, none if it can: all that
// is in it is in the tree id, and in scope.
func (b *planner) disposable(path string, id oid.ID, d rootfs.Dir, depth int) (problem.Cause, error) {
	if depth > manifest.MaxDepth {
		return problem.Cause{}, &manifest.DepthError{Path: path}
	}
	if d.HasGit() {
		return problem.Says(ReasonNested), nil
	}
	m, err := loadDir(b.o.Source, id)
	if err != nil {
		return problem.Cause{}, &manifest.TreeError{Path: path, ID: id, Err: err}
	}
	names, err := d.Names()
	if err != nil {
		return problem.Says(why(err)), nil
	}
	for _, name := range names {
		below := rootfs.Join(path, name)
		e, ok := m.Lookup(name)
		if !ok {
			return problem.Says(reasonHolds), nil
		}
		if slices.Contains(b.o.Own, below) {
			return problem.Says(reasonStore), nil
		}
		if b.keeps(below) {
			return problem.Says(reasonSessions), nil
		}
		if d.Mounted(name) {
			return problem.Says(reasonMount), nil
		}
		if b.stays(below, e) {
			return causePrecious, nil
		}
		if cause := b.outOfScope(below, isDir(e)); !cause.None() {
			return cause, nil
		}
		if b.o.Select != nil && !b.o.Select.Has(below) {
			return problem.Says(reasonUnselected), nil
		}
		if !isDir(e) {
			continue
		}
		sub, err := d.Subdir(name)
		if err != nil {
			return problem.Says(why(err)), nil
		}
		cause, err := b.disposable(below, e.ID, sub, depth+1)
		sub.Close()
		if !cause.None() || err != nil {
			return cause, err
		}
	}
	return problem.Cause{}, nil
}

// emptyDir fails unless the directory name in d is empty.
func emptyDir(d rootfs.Dir, name string) error {
	sub, err := d.Subdir(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	names, err := sub.Names()
	if err == nil && len(names) > 0 {
		err = errHolds
	}
	return err
}
