package treeio

import (
	"errors"
	"io/fs"

	"github.com/rewind-cli/rewind/engine/rootfs"
)

var (
	errChanged  = errors.New(reasonRacing)
	errAppeared = errors.New(reasonAppeared)
)

// place puts a temporary file in its place, or sets a file's mode.
func (a *applier) place(w int, d rootfs.Dir, name string, c *Change) error {
	switch c.Action {
	case Mode:
		return a.chmod(d, name, c)
	case Create:
		err := d.Rename(c.temp, name)
		if errors.Is(err, fs.ErrExist) {
			d.Unlink(c.temp)
			return errAppeared
		}
		return err
	}
	err := a.exchange(w, d, name, c)
	if err != nil && !fatal(err) {
		a.dropNew(d, c)
	}
	return err
}

// dropNew removes a temporary file that is not going to be used, if the name
// still holds it.
func (a *applier) dropNew(d rootfs.Dir, c *Change) {
	if info, err := d.Lstat(c.temp); err == nil && info.Ino == c.written.Ino && info.Kind == c.written.Kind {
		d.Unlink(c.temp)
	}
}

// chmod changes the mode of a file whose content stays. A file that is no
// longer the one that was planned is left alone.
func (a *applier) chmod(d rootfs.Dir, name string, c *Change) error {
	info, err := d.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Same(c.info) {
		return errChanged
	}
	if err := d.Chmod(name, c.After.Mode); err != nil {
		return err
	}
	c.written, err = d.Lstat(name) // an overlay may just have copied the file, which changes its inode
	return err
}

// exchange swaps the new file with the old one, looks at what was displaced,
// and swaps back if that is nothing to give up.
func (a *applier) exchange(w int, d rootfs.Dir, name string, c *Change) error {
	before, err := d.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
		if a.KeepLate {
			return errChanged
		}
		return d.Rename(c.temp, name)
	}
	if err != nil {
		return err
	}
	if err := d.Exchange(c.temp, name); err != nil {
		return err
	}
	err = a.displaced(w, d, c, before)
	if err == nil {
		return nil
	}
	if back := d.Exchange(c.temp, name); back != nil {
		return &stuckError{back}
	}
	return err
}

// displace takes what is to be deleted to its reserved name.
func (a *applier) displace(w int, d rootfs.Dir, name string, c *Change) error {
	before, err := d.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	if before.Kind == rootfs.Directory {
		return errChanged
	}
	if err := d.Rename(name, c.temp); err != nil {
		return err
	}
	err = a.displaced(w, d, c, before)
	if err == nil {
		return nil
	}
	if back := d.Rename(c.temp, name); back != nil {
		return &stuckError{back}
	}
	return err
}

// stuckError says that something displaced that is in no checkpoint could not
// be put back at once. The whole restore is put back then, which tries again.
type stuckError struct{ err error }

func (e *stuckError) Error() string { return e.err.Error() }
func (e *stuckError) Unwrap() error { return e.err }

// displaced compares what is now at the reserved name with what the plan saw.
// A rename changes the ctime, so that is compared with a look just before it.
func (a *applier) displaced(w int, d rootfs.Dir, c *Change, before rootfs.Info) error {
	now, err := d.Lstat(c.temp)
	if err != nil {
		return err
	}
	seen := before.Same(c.info) && before.Ctime == c.info.Ctime && now.Same(before)
	if isDir(c.Before) {
		return a.displacedDir(w, d, c, now)
	}
	if seen && !c.doubt {
		return nil
	}
	r := reader{sink: a.Sink, src: a.o.Source, worker: w}
	e, err := r.entry(d, c.temp, c.Before)
	switch {
	case err != nil:
		return err
	case isDir(e):
		return errChanged
	}
	_, e.Name = rootfs.Split(c.Path)
	c.info = r.info
	if !sameEntry(e, c.Before) {
		if a.KeepLate {
			return errChanged
		}
		c.late = &e
	}
	return nil
}

// lookOnceMore takes what was written to after it was displaced, by who had it open: into Late, or with KeepLate back to
// its place.
func (a *applier) lookOnceMore() error {
	displaced := func(c *Change) bool {
		return !c.failed && !isDir(c.Before) && (c.Action == Replace || c.Action == Delete)
	}
	return eachDir(a.ctx, a.o.FS, a.o.workers(), groupByDir(a.Changes, displaced), func(worker int, d rootfs.Dir, openErr error, list []int) error {
		for _, i := range list {
			c := &a.Changes[i]
			if openErr != nil {
				continue
			}
			info, err := d.Lstat(c.temp)
			if err != nil || info.Same(c.info) {
				continue // or it was deleted before we came
			}
			_, name := rootfs.Split(c.Path)
			if !a.KeepLate {
				r := reader{sink: a.Sink, src: a.o.Source, worker: worker}
				e, err := r.entry(d, c.temp, c.Before)
				if err != nil {
					return &stuckError{err}
				}
				e.Name, c.info = name, r.info
				if !sameEntry(e, c.Before) {
					c.late = &e
				}
				continue
			}
			if isDir(c.After) {
				err = errChanged // what is in it by now is not to be lost: all is put back
				return &stuckError{err}
			}
			if c.Action == Delete {
				err = d.Rename(c.temp, name)
			} else if err = d.Exchange(c.temp, name); err == nil {
				a.dropNew(d, c)
			}
			if err != nil {
				return &stuckError{err}
			}
			if err := a.giveUp(c, errChanged); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *applier) displacedDir(w int, d rootfs.Dir, c *Change, now rootfs.Info) error {
	if now.Kind != rootfs.Directory {
		return errChanged
	}
	if err := checkHeld(d, c); err != nil || !c.doubt {
		return err
	}
	r := reader{sink: a.Sink, src: a.o.Source, worker: w}
	e, err := r.entry(d, c.temp, c.Before)
	if err == nil && e.ID != c.Before.ID {
		err = errChanged
	}
	return err
}

// checkHeld compares a displaced directory with what was read of it.
func checkHeld(d rootfs.Dir, c *Change) error {
	held := make(map[string]rootfs.Info, len(c.held))
	for _, h := range c.held {
		held[h.path] = h.info
	}
	sub, err := d.Subdir(c.temp)
	if err != nil {
		return err
	}
	defer sub.Close()
	n, err := countHeld(sub, "", held)
	if err == nil && n != len(held) {
		err = errChanged
	}
	return err
}

func countHeld(d rootfs.Dir, at string, held map[string]rootfs.Info) (int, error) {
	names, err := d.Names()
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range names {
		info, err := d.Lstat(name)
		if err != nil {
			return 0, err
		}
		was, ok := held[rootfs.Join(at, name)]
		n++
		if info.Kind != rootfs.Directory {
			if !ok || info != was {
				return 0, errChanged
			}
			continue
		}
		if !ok || was.Kind != rootfs.Directory || was.Ino != info.Ino {
			return 0, errChanged
		}
		sub, err := d.Subdir(name)
		if err != nil {
			return 0, err
		}
		m, err := countHeld(sub, rootfs.Join(at, name), held)
		sub.Close()
		if err != nil {
			return 0, err
		}
		n += m
	}
	return n, nil
}

// chmodPath sets a directory's mode.
func chmodPath(fsys rootfs.FS, path string, mode uint32) error {
	return rootfs.In(fsys, path, func(d rootfs.Dir, name string) error {
		info, err := d.Lstat(name)
		switch {
		case err != nil:
			return err
		case info.Kind != rootfs.Directory:
			return rootfs.ErrNotDir
		case info.Mode == mode:
			return nil
		}
		return d.Chmod(name, mode)
	})
}
