package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// attempts is how often a file may turn out to be changing before it is torn.
const attempts = 3

func isNotDir(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// unreadable is the reason for an error of the system, without the path.
func unreadable(err error) string {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return "unreadable: " + err.Error()
}

// examine looks at an entry that is no directory, of the type given where
// that is known, and compares it with what the stat cache has. It reports whether
// the entry is a file that must be read.
func (k *worker) examine(n *node, at handle, e *entry, old *record, typ uint32) (read bool) {
	kind := e.kind & kindMask
	if kind == kindIgnored {
		if ignore.RuleFile(e.name) {
			e.kind |= flagRule
			e.slot = 0
			if st, err := at.lstat(e.name); err == nil {
				e.slot = k.w.fingerprint(&st)
			}
		}
		return false
	}
	compare := old != nil && old.slot != 0 && old.kind&kindMask != kindDir
	if typ == modeRegular && !compare {
		e.known = false
		return true // new: opening it tells all
	}
	st, err := at.lstat(e.name)
	if err != nil {
		k.missing(n, e, err)
		return false
	}
	k.checkLate(func() string { return rootfs.Join(n.path(), e.name) }, &st)
	if reason := st.special(); reason != "" || st.dir() {
		e.set(kindSpecial|flagReason, reason)
		if st.dir() { // it became one this moment: the next scan lists it
			k.vanish(n, e)
			n.fp = 0
		}
		return false
	}
	if compare && !k.w.o.Rehash && k.w.trust.unchanged(&st, old.slot) && old.kind&flagMarked == e.kind&flagMarked {
		switch was := old.kind & kindMask; {
		case was == kindLarge && e.kind&flagSmall != 0:
			e.set(kindLarge|e.flags()|flagReason, e.reason)
			e.slot = old.slot
			return false
		case was == kindFile && !k.tooLarge(e, &st), was == kindSymlink:
			e.kind = was | e.flags()
			e.slot, e.known = old.slot, true
			k.noteLinked(n, e, &st)
			return false
		}
	}
	e.known = false
	if st.symlink() {
		k.link(n, at, e, &st)
		return false
	}
	return true
}

// set makes the entry one that is not captured.
func (e *entry) set(kind byte, reason string) {
	e.kind, e.reason, e.slot, e.known = kind, reason, 0, false
}

// vanish leaves out a name that was there a moment ago, and may be there again.
func (k *worker) vanish(n *node, e *entry) {
	e.set(0, "")
	k.problems = append(k.problems, problem.New(rootfs.Join(n.path(), e.name), problem.Vanished, false))
}

// missing deals with an entry that could not be looked at or opened.
func (k *worker) missing(n *node, e *entry, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		k.vanish(n, e) // since its directory was listed, which the next scan will see
		return
	}
	e.set(kindFailed|flagReason, unreadable(err))
}

// tooLarge leaves a file out that is over a limit.
func (k *worker) tooLarge(e *entry, st *stat) bool {
	small := int64(smallFile)
	if e.kind&flagMarked != 0 {
		small = preciousFile
	}
	switch limit := k.w.o.MaxFileSize; {
	case limit > 0 && st.size > limit:
		e.set(kindExempt|flagReason, problem.TooLarge.Word())
	case e.kind&flagSmall != 0 && st.size > small:
		e.set(kindLarge|e.flags()|flagReason, e.reason)
		e.slot = k.w.fingerprint(st)
	default:
		return false
	}
	return true
}

// link captures a symbolic link. st was taken before the target is read, so
// that a link replaced in between does not match the next time.
func (k *worker) link(n *node, at handle, e *entry, st *stat) {
	target, err := at.readlink(e.name)
	if err != nil {
		if errors.Is(err, syscall.EINVAL) { // no link any more
			err = fs.ErrNotExist
			n.fp = 0
		}
		k.missing(n, e, err)
		return
	}
	k.noteCtime(func() string { return rootfs.Join(n.path(), e.name) }, st)
	e.kind = kindSymlink | e.flags()
	e.slot = k.w.fingerprint(st)
	e.m = manifest.Entry{Name: e.name, Kind: manifest.Symlink, Target: target, Precious: e.kind&flagMarked != 0}
}

// readFiles captures files of a node.
func (k *worker) readFiles(n *node, list []int32) error {
	if len(list) == 0 {
		return nil
	}
	at, err := k.dirs.hold(n)
	if err != nil {
		for _, i := range list {
			k.missing(n, &n.ents[i], err)
		}
		return nil
	}
	dir := n.path()
	var again []fresh
	for _, i := range list {
		if k.w.stop.Load() {
			return nil
		}
		if err := k.w.ctx.Err(); err != nil {
			return err
		}
		e := &n.ents[i]
		got, err := k.readFile(n, at, e, rootfs.Join(dir, e.name))
		if err != nil {
			return err
		}
		again = k.followUp(again, n, i, got, 0)
	}
	k.later(n, again)
	return nil
}

// previous is the id that a file had in the tree of the stat cache, zero if it was none.
func (k *worker) previous(n *node, e *entry) (oid.ID, error) {
	if !e.was {
		return oid.ID{}, nil
	}
	old, err := k.oldDir(n)
	if err != nil || old == nil {
		return oid.ID{}, err
	}
	m, _ := old.Lookup(e.name)
	if !m.IsFile() {
		return oid.ID{}, nil
	}
	return m.ID, nil
}

// readFile captures one file. The error is the sink's.
func (k *worker) readFile(n *node, at handle, e *entry, path string) (got reading, _ error) {
	prev, err := k.previous(n, e)
	if err != nil {
		return got, err
	}
	f, before, err := at.openFile(e.name, path)
	if err != nil {
		if errors.Is(err, syscall.ELOOP) { // a symbolic link now
			k.becameLink(n, at, e)
			return got, nil
		}
		k.missing(n, e, err)
		return got, nil
	}
	if f == nil {
		if before.symlink() {
			k.becameLink(n, at, e)
			return got, nil
		}
		if before.dir() {
			k.vanish(n, e)
			n.fp = 0
			return got, nil
		}
		e.set(kindSpecial|flagReason, before.special())
		return got, nil
	}
	if k.tooLarge(e, &before) {
		_ = f.Close()
		return got, nil
	}
	wait, atRest := k.w.settled(&before, func() writer { return k.w.o.writerOf(f) })
	c := content{f: f, path: path, left: before.size, stop: k.w.stop}
	kind, id, size, err := k.w.gate.content(k.id, &c, prev)
	var after stat
	var statErr error
	if err == nil {
		after, statErr = at.fstat(f)
	}
	_ = f.Close()
	if err != nil {
		if c.err != nil && !errors.Is(err, os.ErrClosed) {
			e.set(kindFailed|flagReason, unreadable(c.err))
			return got, nil
		}
		return got, fmt.Errorf("%s: %w", path, err)
	}
	k.read++
	k.bytes += size
	k.w.bytes.Add(size)
	e.kind = kindFile | e.flags()
	e.slot = k.w.fingerprint(&before)
	e.m = manifest.Entry{Name: e.name, Kind: kind, Mode: before.mode & modePerm, Size: uint64(size), ID: id, Precious: e.kind&flagMarked != 0}
	k.noteLinked(n, e, &before)
	if before.links > 1 {
		k.w.linked.Store(true)
	}
	k.w.noteDatabase(n, e.name, &before, c.sqlite)
	k.checkLate(func() string { return path }, &before)
	k.noteCtime(func() string { return path }, &before)
	torn := statErr != nil || !before.same(&after) || size != before.size
	return reading{st: before, torn: torn, wait: wait, doubt: !atRest}, nil
}

func (k *worker) becameLink(n *node, at handle, e *entry) {
	st, err := at.lstat(e.name)
	if err != nil || !st.symlink() {
		k.vanish(n, e)
		n.fp = 0
		return
	}
	k.link(n, at, e, &st)
}
