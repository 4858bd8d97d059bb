package treeio

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/sqlite"
	"github.com/rewind-cli/rewind/manifest"
)

// planner is the walk that makes a plan.
type planner struct {
	*Plan
	ctx    context.Context
	euid   int
	looked int64 // entries of directories that differ
}

// dir compares the current directory cur with the target's tgt (zero: there is
// none) at path.
func (b *planner) dir(path string, cur, tgt oid.ID, at *diskDir, depth int) error {
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
	if b.looked += int64(max(len(cd.Entries), len(td.Entries))); b.o.Progress != nil {
		b.o.Progress(Done{Step: "plan", Files: b.looked})
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
	b.databases(path, cd, td, at, before)
	b.needWritable(path, at, b.Changes[before:])
	return nil
}

// entry compares one name; c and t are of Kind 0 where there is none.
func (b *planner) entry(dir string, c, t manifest.Entry, at *diskDir, depth int) error {
	if c.Alike(t) {
		return nil
	}
	name := c.Name
	if name == "" {
		name = t.Name
	}
	path := rootfs.Join(dir, name)
	has := b.o.Select == nil || b.o.Select.Has(path)
	if !has && !((isDir(c) || isDir(t)) && b.o.Select.Below(path)) {
		return nil
	}
	if reason := b.refused(path, name); reason != "" {
		b.skip(path, reason, t.Kind != 0)
		return nil
	}
	if b.keeps(path) {
		b.skip(path, reasonSessions, false)
		return nil
	}
	if at.mounted(name) {
		lost, err := b.holdsMore(t)
		b.leave(path, problem.Cause{Code: problem.InTheWay, Text: reasonMount}, lost)
		return err
	}
	if cause := b.doubtful(path, t); !cause.None() {
		b.leave(path, cause, false)
		return nil
	}
	switch {
	case isDir(c) && isDir(t):
		return b.bothDirs(path, c, t, at, depth, has)
	case isDir(c) && t.Kind == 0:
		return b.deleteDir(path, c, at, depth, has)
	case isDir(c):
		if !has {
			b.skip(path, reasonNoParent, true)
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
	if c.Kind != 0 && c.Mode == t.Mode && info.Kind != 0 && b.sameContent(c, t) {
		return nil // recorded in another way
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
	if slices.Contains(b.o.Own, path) {
		return reasonStore
	}
	return ""
}

// keeps reports whether an agent keeps its sessions there.
func (b *planner) keeps(path string) bool { return b.o.Sessions != nil && b.o.Sessions(path) }

func (b *planner) deleteFile(path string, c manifest.Entry, info rootfs.Info) {
	switch {
	case info.Kind == 0:
		return // gone already
	case b.stays(path, c):
		b.leave(path, causePrecious, false)
	case !b.inScope(path, false):
	case info.Kind != rootfs.Regular && info.Kind != rootfs.Link:
		b.skip(path, reasonRacing+": now a "+info.Kind.String(), true)
	default:
		b.Changes = append(b.Changes, Change{Path: path, Action: Delete, Before: c, info: info, known: true, Reason: "not in the checkpoint"})
	}
}

// stays reports whether a deletion spares an entry since it is precious. What takes
// back a restore asks no rules: it deletes what that created. What is beside a database goes with it.
func (b *planner) stays(path string, c manifest.Entry) bool {
	return c.Precious && b.o.InTarget != nil && !sqlite.Beside(path)
}

// outOfScope asks both sets of rules, and what the target saw, before a deletion; none if it is in scope.
func (b *planner) outOfScope(path string, dir bool) problem.Cause {
	switch {
	case b.o.InTarget != nil && !b.o.InTarget(path, dir):
		return causeRules
	case b.o.InScope != nil && !b.o.InScope(path, dir):
		return causeToday
	}
	return b.unseen(path, dir)
}

// inScope is outOfScope, and notes a refusal.
func (b *planner) inScope(path string, dir bool) bool {
	cause := b.outOfScope(path, dir)
	if !cause.None() {
		b.leave(path, cause, false)
	}
	return cause.None()
}

// unseen says why the target's lack of a path tells nothing, none if it does.
func (b *planner) unseen(path string, dir bool) problem.Cause {
	if b.o.Unseen == nil {
		return problem.Cause{}
	}
	return b.o.Unseen(path, dir)
}

// holdsMore reports whether more than an empty directory is missing where the target's entry is not restored.
func (b *planner) holdsMore(t manifest.Entry) (bool, error) {
	if !isDir(t) {
		return t.Kind != 0, nil
	}
	d, err := loadDir(b.o.Source, t.ID)
	if err != nil {
		return false, &manifest.TreeError{Path: t.Name, ID: t.ID, Err: err}
	}
	return len(d.Entries) > 0, nil
}

// doubtful says why what the target has of a file stays out, none if it does not.
func (b *planner) doubtful(path string, t manifest.Entry) problem.Cause {
	if b.o.Whole == nil || !t.IsFile() {
		return problem.Cause{}
	}
	return b.o.Whole(path)
}

// putFile plans a file or a symlink where there is a file, a symlink or nothing.
func (b *planner) putFile(path string, c, t manifest.Entry, info rootfs.Info, at *diskDir) {
	ch := Change{Path: path, Before: c, After: t, info: info, known: c.Kind != 0}
	switch info.Kind {
	case 0:
		ch.Action, ch.Before, ch.Reason = Create, manifest.Entry{}, "missing"
	case rootfs.Regular, rootfs.Link:
		switch {
		case c.Kind == 0:
			ch.Action, ch.Reason = Replace, "something in no checkpoint is in the way"
		case c.IsFile() && t.IsFile() && sameContent(c, t) && info.Kind == rootfs.Regular && info.Nlink == 1:
			ch.Action, ch.Reason = Mode, "different permissions"
		case c.Kind != t.Kind && (c.IsFile() != t.IsFile()):
			ch.Action, ch.Reason = Replace, "different kind"
		case sameContent(c, t):
			ch.Action, ch.Reason = Replace, "different permissions, which its other hard links do not get"
		default:
			ch.Action, ch.Reason = Replace, "different content"
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
		b.leave(path, inTheWay(info), true)
		return
	}
	b.Changes = append(b.Changes, ch)
}

func inTheWay(info rootfs.Info) problem.Cause {
	return problem.Cause{Code: problem.InTheWay, Text: "a " + info.Kind.String() + " is in the way"}
}
