package restore

import (
	"context"

	"rewind/engine/rootfs"
	"rewind/manifest"
)

// planner is the walk that makes a plan.
type planner struct {
	*Plan
	ctx  context.Context
	euid int
}

// dir compares the current directory cur with the target's tgt (zero: there is
// none) at path.
func (b *planner) dir(path string, cur, tgt manifest.ID, at *place, depth int) error {
	if cur == tgt {
		return nil
	}
	if depth > manifest.MaxDepth {
		return &manifest.DepthError{Path: path}
	}
	if err := b.ctx.Err(); err != nil {
		return err
	}
	cd, err := loadDir(b.o.Source, cur)
	if err != nil {
		return &manifest.TreeError{Path: path, ID: cur, Err: err}
	}
	td, err := loadDir(b.o.Source, tgt)
	if err != nil {
		return &manifest.TreeError{Path: path, ID: tgt, Err: err}
	}
	before := len(b.Changes)
	same := b.folds(cd, td, at)
	for i, j := 0, 0; i < len(cd.Entries) || j < len(td.Entries); {
		var c, t manifest.Entry
		switch {
		case j == len(td.Entries), i < len(cd.Entries) && cd.Entries[i].Name < td.Entries[j].Name:
			c = cd.Entries[i]
			i++
		case i == len(cd.Entries), cd.Entries[i].Name > td.Entries[j].Name:
			t = td.Entries[j]
			j++
		default:
			c, t = cd.Entries[i], td.Entries[j]
			i, j = i+1, j+1
		}
		if same != nil {
			if _, ok := same[t.Name]; t.Kind != 0 && ok || t.Kind == 0 && same.has(c.Name) {
				continue // see below
			}
		}
		if err := b.entry(path, c, t, at, depth); err != nil {
			return err
		}
	}
	if err := b.folded(path, same, cd, td, at, depth); err != nil {
		return err
	}
	b.needWritable(path, at, b.Changes[before:])
	return nil
}

// entry compares one name; c and t are of Kind 0 where there is none.
func (b *planner) entry(dir string, c, t manifest.Entry, at *place, depth int) error {
	if c == t {
		return nil
	}
	name := c.Name
	if name == "" {
		name = t.Name
	}
	path := join(dir, name)
	has := b.o.Select == nil || b.o.Select.Has(path)
	if !has && !((isDir(c) || isDir(t)) && b.o.Select.Below(path)) {
		return nil
	}
	if reason := b.refused(path, name); reason != "" {
		b.skip(path, reason, t.Kind != 0)
		return nil
	}
	switch {
	case isDir(c) && isDir(t):
		return b.bothDirs(path, c, t, at, depth, has)
	case isDir(c) && t.Kind == 0:
		return b.deleteDir(path, c, at, depth, has)
	case isDir(c):
		if !has {
			b.skip(path, reasonParent, true)
			return nil
		}
		return b.dirInTheWay(path, c, t, at)
	case isDir(t):
		return b.makeDir(path, c, t, at, depth, has)
	case !has:
		return nil
	}
	info, err := at.lstat(name)
	if err != nil {
		b.skip(path, why(err), true)
		return nil
	}
	if t.Kind == 0 {
		b.deleteFile(path, c, info)
		return nil
	}
	b.putFile(path, c, t, info, at)
	return nil
}

// refused says why a path is never touched, "" if it may be.
func (b *planner) refused(path, name string) string {
	if err := rootfs.CheckName(name); err != nil {
		return why(err)
	}
	if rootfs.IsReserved(name) {
		return reasonReserved
	}
	if path == b.o.Store {
		return reasonStore
	}
	return ""
}

func (b *planner) deleteFile(path string, c manifest.Entry, info rootfs.Info) {
	switch {
	case info.Kind == 0:
		return // gone already
	case !b.inScope(path, false):
	case info.Kind != rootfs.Regular && info.Kind != rootfs.Link:
		b.skip(path, reasonRacing+": now a "+info.Kind.String(), true)
	default:
		b.Changes = append(b.Changes, Change{Path: path, Action: Delete, Before: c, info: info, known: true, Reason: "not in the checkpoint"})
	}
}

// inScope asks both sets of rules before a deletion, and notes the refusal.
func (b *planner) inScope(path string, dir bool) bool {
	switch {
	case b.o.InTarget != nil && !b.o.InTarget(path, dir):
		b.skip(path, ReasonRules, false)
	case b.o.InScope != nil && !b.o.InScope(path, dir):
		b.skip(path, ReasonToday, false)
	default:
		return true
	}
	return false
}

// putFile plans a file or a symlink where there is a file, a symlink or nothing.
func (b *planner) putFile(path string, c, t manifest.Entry, info rootfs.Info, at *place) {
	ch := Change{Path: path, Before: c, After: t, info: info, known: c.Kind != 0}
	switch info.Kind {
	case 0:
		ch.Action, ch.Before, ch.Reason = Create, manifest.Entry{}, "missing"
	case rootfs.Regular, rootfs.Link:
		switch {
		case c.Kind == 0:
			ch.Action, ch.Reason = Replace, "something in no checkpoint is in the way"
		case isFile(c) && isFile(t) && sameContent(c, t) && info.Kind == rootfs.Regular && info.Nlink == 1:
			ch.Action, ch.Reason = Mode, "other permissions"
		case c.Kind != t.Kind && (isFile(c) != isFile(t)):
			ch.Action, ch.Reason = Replace, "other kind"
		default:
			ch.Action, ch.Reason = Replace, "other content"
		}
	case rootfs.Directory:
		// The trees know of no directory here: an ignored one, or one made since the scan.
		d, err := at.open()
		if err == nil {
			err = emptyDir(d, t.Name)
		}
		if err != nil {
			b.skip(path, why(err), true)
			return
		}
		ch.Action, ch.Reason = Replace, "an empty directory is in the way"
		ch.Before = manifest.Entry{Name: t.Name, Kind: manifest.Subdir, Mode: info.Mode}
		ch.known = false
	default:
		b.skip(path, "a "+info.Kind.String()+" is in the way", true)
		return
	}
	b.Changes = append(b.Changes, ch)
}

func (b *planner) bothDirs(path string, c, t manifest.Entry, at *place, depth int, has bool) error {
	below := &place{fs: b.o.FS, path: path, there: true}
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
		b.Changes = append(b.Changes, Change{Path: path, Action: Mode, Before: c, After: t, info: info, known: true, Reason: "other permissions"})
	}
	return nil
}

// makeDir plans a directory of the target where the current tree has none.
func (b *planner) makeDir(path string, c, t manifest.Entry, at *place, depth int, has bool) error {
	info, err := at.lstat(t.Name)
	if err != nil {
		b.skip(path, why(err), true)
		return nil
	}
	ch := Change{Path: path, Before: c, After: t, info: info, known: c.Kind != 0}
	below := &place{fs: b.o.FS, path: path}
	defer below.close()
	switch info.Kind {
	case 0:
		ch.Action, ch.Before, ch.Reason = Create, manifest.Entry{}, "missing"
	case rootfs.Directory:
		// One that the scan passed over. What is in it stays, unless the target has it.
		below.there = true
		b.passed[path] = info.Mode
		if err := b.dir(path, manifest.ID{}, t.ID, below, depth+1); err != nil {
			return err
		}
		if has && info.Mode != t.Mode {
			ch.Action, ch.Reason = Mode, "other permissions"
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
		ch.Action, ch.Reason = Replace, "other kind"
		if c.Kind == 0 {
			ch.Reason = "something in no checkpoint is in the way"
		}
	default:
		b.skip(path, "a "+info.Kind.String()+" is in the way", true)
		return nil
	}
	before := len(b.Changes)
	if err := b.dir(path, manifest.ID{}, t.ID, below, depth+1); err != nil {
		return err
	}
	if has || len(b.Changes) > before {
		b.Changes = append(b.Changes, ch)
	}
	return nil
}

// deleteDir plans the deletion of a directory and of all that the trees know in it.
func (b *planner) deleteDir(path string, c manifest.Entry, at *place, depth int, has bool) error {
	info, err := at.lstat(c.Name)
	if err != nil || info.Kind != rootfs.Directory {
		if err != nil {
			b.skip(path, why(err), true)
		} else if info.Kind != 0 {
			b.skip(path, reasonRacing, true)
		}
		return nil
	}
	below := &place{fs: b.o.FS, path: path, there: true}
	defer below.close()
	d, err := below.open()
	if err != nil {
		b.skip(path, why(err), true)
		return nil
	}
	if d.HasGit() {
		b.skip(path, reasonNested, false)
		return nil
	}
	before := len(b.Changes)
	skips := len(b.Skips)
	if err := b.dir(path, c.ID, manifest.ID{}, below, depth+1); err != nil {
		return err
	}
	if !has || !b.inScope(path, true) {
		return nil
	}
	gone := map[string]bool{}
	for _, ch := range b.Changes[before:] {
		if parent, name := split(ch.Path); parent == path && ch.Action == Delete {
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
func (b *planner) dirInTheWay(path string, c, t manifest.Entry, at *place) error {
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
	below := &place{fs: b.o.FS, path: path, there: true}
	defer below.close()
	d, err := below.open()
	if err != nil {
		b.skip(path, why(err), true)
		return nil
	}
	reason, err := b.disposable(path, c.ID, d, 0)
	if err != nil {
		return err
	}
	if reason != "" {
		b.skip(path, reason, true)
		return nil
	}
	b.Changes = append(b.Changes, Change{Path: path, Action: Replace, Before: c, After: t, info: info, known: true, Reason: "other kind"})
	return nil
}

// disposable says why a directory cannot go as a whole, "" if it can: all that
// is in it is in the tree id, and in scope.
func (b *planner) disposable(path string, id manifest.ID, d rootfs.Dir, depth int) (string, error) {
	if depth > manifest.MaxDepth {
		return "", &manifest.DepthError{Path: path}
	}
	if d.HasGit() {
		return reasonNested, nil
	}
	m, err := loadDir(b.o.Source, id)
	if err != nil {
		return "", &manifest.TreeError{Path: path, ID: id, Err: err}
	}
	names, err := d.Names()
	if err != nil {
		return why(err), nil
	}
	for _, name := range names {
		below := join(path, name)
		e, ok := m.Lookup(name)
		if !ok {
			return reasonHolds, nil
		}
		if below == b.o.Store {
			return reasonStore, nil
		}
		if b.o.InTarget != nil && !b.o.InTarget(below, isDir(e)) {
			return ReasonRules, nil
		}
		if b.o.InScope != nil && !b.o.InScope(below, isDir(e)) {
			return ReasonToday, nil
		}
		if !isDir(e) {
			continue
		}
		sub, err := d.Subdir(name)
		if err != nil {
			return why(err), nil
		}
		reason, err := b.disposable(below, e.ID, sub, depth+1)
		sub.Close()
		if reason != "" || err != nil {
			return reason, err
		}
	}
	return "", nil
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
