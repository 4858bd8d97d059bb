package checkout

import (
	"errors"
	"os"

	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// Donor is a tree on disk, scanned at Scanned, that has the same files in places.
type Donor struct {
	FS rootfs.FS
	// Differs reports whether the donor has something else at a path than the state that is wanted.
	Differs func(path string) bool
	// Scanned is when the scan began, on the clock of the file system, in nanoseconds since 1970. A file
	// whose ctime is not well before it may have changed since it was looked at.
	Scanned int64
}

// clockGrain is how coarsely file systems stamp: times that are whole seconds may be two seconds off.
const clockGrain, coarseGrain = 10e6, 2e9

// donorDir is one directory of a donor; nil is one without files.
type donorDir struct {
	*Donor
	dir rootfs.Dir
}

func (d *Donor) open(path string) *donorDir {
	if d == nil {
		return nil
	}
	dir, err := d.FS.OpenDir(path)
	if err != nil {
		return nil
	}
	return &donorDir{d, dir}
}

func (d *donorDir) close() {
	if d != nil {
		d.dir.Close()
	}
}

// copier is a new file that can take its content from another without reading it.
type copier interface {
	// CopyFrom gives an empty file the content of src, shared. done is false, and nothing was
	// written, where the file system cannot.
	CopyFrom(src *os.File, size int64) (done bool, err error)
}

// copy fills f with e's content from the donor; false: it has nothing that is certainly the same.
func (d *donorDir) copy(f rootfs.File, e manifest.Entry) (bool, error) {
	to, ok := f.(copier)
	if d == nil || !ok || e.Size == 0 || d.Differs(rootfs.Join(d.dir.Path(), e.Name)) {
		return false, nil
	}
	src, before, err := d.dir.OpenFile(e.Name)
	if err != nil {
		return false, nil
	}
	defer src.Close()
	grain := int64(clockGrain)
	if before.Ctime%1e9 == 0 {
		grain = coarseGrain
	}
	if before.Ctime == 0 || before.Ctime >= d.Scanned-grain || before.Size != int64(e.Size) {
		return false, nil
	}
	done, err := to.CopyFrom(src, before.Size)
	if err != nil || !done {
		return false, err
	}
	if after, err := d.dir.Lstat(e.Name); err == nil && after.Same(before) && after.Ctime == before.Ctime {
		return true, nil
	}
	return false, errChanged
}

// errChanged: a file of the donor changed while it was copied.
var errChanged = errors.New("it changed while it was copied")

// maxProbed is how many files of a walk Shares looks for before it gives up.
const maxProbed = 100

var errProbed = errors.New("probed")

// Shares reports whether files in to can share the content of files in from. It is tried once, with the
// first of walk's files that is there and a file beside them that is gone again afterwards.
func Shares(from, to rootfs.FS, walk Walk) (shares bool) {
	top, err := to.OpenDir("")
	if err != nil {
		return false
	}
	defer top.Close()
	name := rootfs.Reserved("probe")
	_ = top.Unlink(name) // of one that was killed
	left := maxProbed
	_ = walk(func(path string, e manifest.Entry) error {
		if e.Kind == manifest.Subdir || e.Kind == manifest.Symlink || e.Size == 0 {
			return nil
		}
		if left--; left < 0 {
			return errProbed
		}
		dir, base := rootfs.Split(path)
		d, err := from.OpenDir(dir)
		if err != nil {
			return nil
		}
		defer d.Close()
		src, info, err := d.OpenFile(base)
		if err != nil {
			return nil
		}
		defer src.Close()
		if info.Size == 0 {
			return nil
		}
		f, err := top.Create(name)
		if err != nil {
			return errProbed
		}
		if can, ok := f.(copier); ok {
			shares, err = can.CopyFrom(src, info.Size)
			shares = shares && err == nil
		}
		f.Close()
		_ = top.Unlink(name)
		return errProbed
	})
	return shares
}
