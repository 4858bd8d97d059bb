package treeio

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// recovery brings each path of a restore that did not finish to its state
// before or after. It trusts nothing but what it sees: a path that holds
// neither is left alone and reported.
type recovery struct {
	fs      rootfs.FS
	src     Source
	sink    Sink
	forward bool
	left    []problem.Problem
	late    []Edit
	stuck   error // the last failure of a path, that it holds neither state aside
	broken  error // one that was not the path's own
}

// state is what a name holds, as far as a change is concerned.
type state uint8

const (
	isAbsent state = iota
	isBefore
	isAfter
	isRest // a displaced directory of which something has been removed already
	isOther
)

const reasonNeither = "its content is neither that before the restore nor that after"

// putBack undoes what Apply has done so far.
func (a *applier) putBack(cause error) error {
	s := &recovery{fs: a.o.FS, src: a.o.Source, sink: a.Sink}
	s.all(a.Changes)
	failed := a.closeWritable(func(c *Change) uint32 { return c.Before.Mode })
	if failed || s.stuck != nil || len(s.late) > 0 || errors.As(cause, new(*BegunError)) { // the journal stays, so that the next command tries again
		a.journal.f.Close()
		return &AbortedError{Err: cause, Left: append(s.left, a.skips.list...)}
	}
	if err := a.journal.remove(); err != nil {
		cause = errors.Join(cause, err)
	}
	if errors.Is(cause, context.Canceled) && len(s.left) == 0 {
		return cause
	}
	return &AbortedError{Err: cause, Left: s.left}
}

// all recovers every change: forward from the parents down and deleted
// directories at last, back in the opposite order.
func (s *recovery) all(changes []Change) {
	do := func(c *Change) {
		if err := s.one(c); err != nil {
			if s.stuck = err; fatal(err) {
				s.broken = err
			}
			s.leave(c.Path, why(err))
		}
	}
	if !s.forward {
		for i := range slices.Backward(changes) {
			do(&changes[i])
		}
		return
	}
	// Modes of directories and their removal wait for what is in them.
	var last []*Change
	for i := range changes {
		c := &changes[i]
		switch {
		case isDir(c.Before) && (c.Action == Delete || c.Action == Mode):
			last = append(last, c)
		case isDir(c.After):
			last = append(last, &Change{Path: c.Path, Action: Mode, Before: manifest.Entry{Kind: manifest.Subdir, Mode: 0o700}, After: c.After})
			do(c)
		default:
			do(c)
		}
	}
	for _, c := range slices.Backward(last) {
		do(c)
	}
}

func (s *recovery) leave(path, reason string) {
	s.left = append(s.left, problem.Says(reason).At(path, true))
}

// one recovers one path.
func (s *recovery) one(c *Change) error {
	dir, name := rootfs.Split(c.Path)
	d, err := s.fs.OpenDir(dir)
	if err != nil {
		if s.want(c).Kind == 0 && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, rootfs.ErrLink) || errors.Is(err, rootfs.ErrNotDir)) {
			return nil // its directory is none now
		}
		return err
	}
	defer d.Close()
	if c.temp != "" {
		if err := rootfs.RemoveTree(d, freshName(c), nil); err != nil { // a recovery that died was writing it
			return err
		}
	}
	if c.failed {
		return s.dropGivenUp(d, c)
	}
	if err := s.tidyAside(d, name, c); err != nil {
		return err
	}
	if c.Action == Mode {
		return s.mode(d, name, c)
	}
	if (isDir(c.Before) || absent(c.Before)) && (isDir(c.After) || absent(c.After)) {
		return s.plainDir(d, name, c)
	}
	at, err := s.look(d, name, c)
	if err != nil {
		return err
	}
	temp, err := s.look(d, c.temp, c)
	if err != nil {
		return err
	}
	return s.path(d, name, c, at, temp)
}

func absent(e manifest.Entry) bool { return e.Kind == 0 }

// want is the entry that the path is to have.
func (s *recovery) want(c *Change) manifest.Entry {
	if s.forward {
		return c.After
	}
	return c.Before
}

// path recovers what is no mere directory. at and temp are what the path and
// the reserved name hold.
func (s *recovery) path(d rootfs.Dir, name string, c *Change, at, temp state) error {
	want, other := isBefore, isAfter
	if s.forward {
		want, other = isAfter, isBefore
	}
	gone := absent(s.want(c))
	if gone {
		want = isAbsent
	}
	if s.forward && absent(c.Before) || !s.forward && absent(c.After) {
		other = isAbsent
	}
	switch {
	case at == want && temp == isOther:
		// Displaced by us, and changed by somebody just before that: theirs is
		// the newest, and in no checkpoint yet.
		return s.theirs(d, name, c, gone)
	case at == want:
		return s.drop(d, c, temp)
	case at == other && gone:
		if temp == isOther {
			return s.theirs(d, name, c, true)
		}
		if err := s.drop(d, c, temp); err != nil {
			return err
		}
		return s.removeKnown(d, name, c)
	case at == other, at == isAbsent:
		switch temp {
		case isOther:
			return s.theirs(d, name, c, false)
		case want:
		default:
			if err := s.drop(d, c, temp); err != nil {
				return err
			}
			if err := s.write(d, c); err != nil {
				return err
			}
		}
		if at == isAbsent {
			return d.Rename(c.temp, name)
		}
		if !s.forward && isDir(c.After) {
			if err := emptyDir(d, name); err != nil {
				// Somebody works in the new directory already. What it displaced is
				// in the safety checkpoint.
				s.leave(c.Path, why(err))
				return s.drop(d, c, want)
			}
		}
		if err := d.Exchange(c.temp, name); err != nil {
			return err
		}
		temp, err := s.look(d, c.temp, c)
		if err != nil {
			return err
		}
		if temp == isOther || temp == want {
			// It changed under our hands.
			s.leave(c.Path, reasonRacing)
			if err := d.Exchange(c.temp, name); err != nil {
				return err
			}
			return s.drop(d, c, want)
		}
		return s.drop(d, c, temp)
	default:
		s.leave(c.Path, reasonNeither)
		if temp == isOther {
			return s.keep(d, c)
		}
		return s.drop(d, c, temp)
	}
}

// theirs deals with a displaced file that somebody changed before it was
// displaced. Back: it is what the path gets, being newer. Forward: it is captured.
func (s *recovery) theirs(d rootfs.Dir, name string, c *Change, gone bool) error {
	if s.forward {
		return s.keep(d, c)
	}
	s.leave(c.Path, reasonRacing+"; it is as it was then")
	at, err := s.look(d, name, c)
	if err != nil {
		return err
	}
	if at == isAbsent {
		return d.Rename(c.temp, name)
	}
	if at != isAfter {
		return s.keep(d, c)
	}
	if err := d.Exchange(c.temp, name); err != nil {
		return err
	}
	return s.drop(d, c, isAfter)
}

// keep captures what the reserved name holds and removes it; what cannot be
// captured stays there and is reported.
func (s *recovery) keep(d rootfs.Dir, c *Change) error {
	r := reader{sink: s.sink, src: s.src}
	e, err := r.entry(d, c.temp, c.Before)
	if err != nil || isDir(e) {
		s.leave(rootfs.Join(d.Path(), c.temp), "kept: it was displaced from "+c.Path+" and could not be captured")
		return nil
	}
	_, e.Name = rootfs.Split(c.Path)
	s.late = append(s.late, Edit{Path: c.Path, Entry: e, Whole: true})
	return nil // removed by dropLate, after the capture is durable
}

// dropGivenUp removes what a path that was given up left at its reserved name.
// Nothing was displaced there.
func (s *recovery) dropGivenUp(d rootfs.Dir, c *Change) error {
	if c.temp == "" || c.Action == Mode {
		return nil
	}
	temp, err := s.look(d, c.temp, c)
	if err != nil {
		return err
	}
	if temp == isOther {
		return s.keep(d, c)
	}
	return s.drop(d, c, temp)
}

// drop removes what the reserved name holds, which is known to be in a checkpoint.
func (s *recovery) drop(d rootfs.Dir, c *Change, temp state) error {
	if temp == isAbsent {
		return nil
	}
	return s.removeKnown(d, c.temp, c)
}

// removeKnown removes a name that holds the change's before or after content.
func (s *recovery) removeKnown(d rootfs.Dir, name string, c *Change) error {
	info, err := d.Lstat(name)
	if err != nil {
		return err
	}
	if info.Kind != rootfs.Directory {
		return d.Unlink(name)
	}
	known := map[string]bool{}
	if isDir(c.Before) && !c.Before.ID.IsZero() {
		err := manifest.Walk(s.src.Load, c.Before.ID, func(path string, _ manifest.Entry) error {
			known[path] = true
			return nil
		})
		if err != nil {
			return err
		}
	}
	err = rootfs.RemoveTree(d, name, func(p string) bool { return known[p] })
	if isNotEmpty(err) {
		err = errHolds
	}
	return err
}

// plainDir recovers a directory that the restore made or was to delete.
func (s *recovery) plainDir(d rootfs.Dir, name string, c *Change) error {
	info, err := d.Lstat(name)
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	want := s.want(c)
	switch {
	case there && info.Kind != rootfs.Directory:
		if want.Kind != 0 {
			s.leave(c.Path, "it is not a directory")
		}
		return nil
	case want.Kind == 0 && there:
		err := d.Rmdir(name)
		if isNotEmpty(err) {
			s.leave(c.Path, reasonHolds)
			return nil
		}
		return err
	case want.Kind != 0 && !there:
		if err := d.Mkdir(name); err != nil {
			return err
		}
		if !s.forward {
			return d.Chmod(name, want.Mode)
		}
	}
	return nil
}

// mode recovers permission bits.
func (s *recovery) mode(d rootfs.Dir, name string, c *Change) error {
	info, err := d.Lstat(name)
	if err != nil {
		return err
	}
	want, other := c.Before.Mode, c.After.Mode
	if s.forward {
		want, other = other, want
	}
	switch {
	case (info.Kind == rootfs.Directory) != isDir(c.After) || info.Kind == rootfs.Link:
		s.leave(c.Path, "it is a "+info.Kind.String()+" now")
	case info.Mode == want:
	case info.Mode == other, info.Mode == other|0o200: // the second: made writable for the time
		return d.Chmod(name, want)
	default:
		s.leave(c.Path, "its mode is neither that before the restore nor that after")
	}
	return nil
}

// tidyAside clears what an Exchange in several steps may have left.
func (s *recovery) tidyAside(d rootfs.Dir, name string, c *Change) error {
	if c.temp == "" {
		return nil
	}
	aside := rootfs.Aside(c.temp)
	info, err := d.Lstat(aside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	at, err := d.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d.Rename(aside, name)
	case err != nil:
		return err
	case at.Ino == info.Ino && at.Dev == info.Dev && info.Kind != rootfs.Directory:
		return d.Unlink(aside)
	}
	return d.Rename(aside, c.temp)
}
