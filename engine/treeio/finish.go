package treeio

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

func geteuid() int { return max(os.Geteuid(), 0) }
func getegid() int { return max(os.Getegid(), 0) }

// finish removes what was displaced, empties directories out, sets their
// modes, and looks at every path once more. The operation is recorded: it
// continues whatever ctx says, and the outcome has what fails.
func (a *applier) finish(out *Outcome) {
	ctx := context.WithoutCancel(a.ctx)
	var unfinished atomic.Bool
	_ = eachDir(ctx, a.o.FS, a.o.workers(), groupByDir(a.Changes, func(*Change) bool { return true }), func(w int, d rootfs.Dir, openErr error, list []int) error {
		for _, i := range list {
			c := &a.Changes[i]
			err := openErr
			if err == nil {
				_, name := rootfs.Split(c.Path)
				err = a.finishOne(d, name, c)
			}
			var ve *verifyError
			switch {
			case err == nil:
			case errors.As(err, &ve):
				a.skips.add(c.Path, ve.Error(), true)
			default:
				unfinished.Store(true)
				a.skips.add(c.Path, "what was displaced there could not be removed yet: "+why(err), false)
			}
		}
		return nil
	})
	// A change that was given up may have left its new file.
	for i := range a.Changes {
		if c := &a.Changes[i]; c.failed && a.clearGivenUp(c) != nil {
			unfinished.Store(true)
		}
	}
	for i := range slices.Backward(a.Changes) {
		c := &a.Changes[i]
		if c.failed || c.Action != Delete || !isDir(c.Before) {
			continue
		}
		if err := removeDir(a.o.FS, c.Path); err != nil {
			a.skips.add(c.Path, why(err), !errors.Is(err, errHolds))
		}
	}
	for _, c := range a.dirModes() {
		if err := chmodPath(a.o.FS, c.Path, c.After.Mode); err != nil {
			if !errors.Is(err, fs.ErrPermission) { // else another attempt is refused, too
				unfinished.Store(true)
			}
			a.skips.add(c.Path, why(err), true)
		}
	}
	if a.closeWritable(func(c *Change) uint32 { return c.After.Mode }) {
		unfinished.Store(true)
	}
	out.Unfinished = unfinished.Load()
	if out.Unfinished {
		a.journal.f.Close()
	} else if err := a.journal.remove(); err != nil {
		a.skips.add("", "the journal could not be removed: "+problem.Text(err), false)
	}
	a.sort()
	out.Skips = append(slices.Clone(a.Skips), a.skips.list...)
	slices.SortFunc(out.Skips, func(x, y problem.Problem) int { return strings.Compare(x.Path, y.Path) })
}

// finishOne removes what was displaced at one path, and verifies.
func (a *applier) finishOne(d rootfs.Dir, name string, c *Change) error {
	if c.Action == Mode || c.Action == Create && isDir(c.After) || c.Action == Delete && isDir(c.Before) {
		return nil
	}
	var err error
	switch {
	case c.Action == Create:
	case isDir(c.Before):
		held := map[string]bool{}
		for _, h := range c.held {
			held[h.path] = true
		}
		err = rootfs.RemoveTree(d, c.temp, func(p string) bool { return held[p] })
	default:
		err = rootfs.Gone(d.Unlink(c.temp)) // it may have been deleted before we came
	}
	if err != nil || c.Action == Delete || isDir(c.After) {
		return err
	}
	info, err := d.Lstat(name)
	switch {
	case err != nil:
		return &verifyError{why(err)}
	case !info.Same(c.written):
		return &verifyError{"it changed after it was restored"}
	}
	return nil
}

// verifyError says that a path is not what was put there a moment ago.
type verifyError struct{ reason string }

func (e *verifyError) Error() string { return e.reason }

// clearGivenUp removes the new file of a path that was given up.
func (a *applier) clearGivenUp(c *Change) error {
	if c.Action == Mode || c.After.Kind == 0 {
		return nil
	}
	dir, _ := rootfs.Split(c.Path)
	d, err := a.o.FS.OpenDir(dir)
	if err != nil {
		return nil // then nothing was made there
	}
	defer d.Close()
	info, err := d.Lstat(c.temp)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Kind == rootfs.Directory:
		return d.Rmdir(c.temp)
	}
	return d.Unlink(c.temp)
}

// removeDir removes an empty directory. One that is not empty stays.
func removeDir(fsys rootfs.FS, path string) error {
	err := rootfs.Gone(rootfs.In(fsys, path, rootfs.Dir.Rmdir))
	if isNotEmpty(err) {
		return errHolds
	}
	return err
}

// closeWritable gives directories that were made writable the mode that they
// had, or that mode gives to a change of theirs. It reports a failure.
func (a *applier) closeWritable(mode func(*Change) uint32) (failed bool) {
	for _, w := range slices.Backward(a.writable) {
		want := w.mode
		if i, ok := slices.BinarySearchFunc(a.Changes, w.path, func(c Change, p string) int { return strings.Compare(c.Path, p) }); ok {
			if a.Changes[i].Action == Delete || !isDir(a.Changes[i].Before) || !isDir(a.Changes[i].After) {
				continue
			}
			if !a.Changes[i].failed {
				want = mode(&a.Changes[i])
			}
		}
		if err := chmodPath(a.o.FS, w.path, want); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = true
			a.skips.add(w.path, "its mode could not be set: "+why(err), true)
		}
	}
	return failed
}
