package treeio

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// skipList gathers skips from several goroutines.
type skipList struct {
	mu   sync.Mutex
	list []problem.Problem
}

func (s *skipList) add(path, reason string, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, problem.Says(reason).At(path, failed))
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// writeTemps writes each new file and link beside its destination.
func (a *applier) writeTemps() error {
	want := func(c *Change) bool { return (c.Action == Create || c.Action == Replace) && !isDir(c.After) }
	return a.all(a.tally("write", true, want), want, func(_ int, d rootfs.Dir, _ string, c *Change) error { return a.writeTemp(d, c) })
}

// writeTemp writes the new content of one path to its reserved name, with
// owner, attributes and mode, and takes it away again if it cannot be whole.
func (a *applier) writeTemp(d rootfs.Dir, c *Change) (err error) {
	if c.After.Kind == manifest.Symlink {
		if err := d.Symlink(c.After.Target, c.temp); err != nil {
			return err
		}
		if err = a.own(d, c.temp, c); err == nil {
			c.written, err = d.Lstat(c.temp)
		}
		if err != nil {
			d.Unlink(c.temp)
		}
		return err
	}
	return NewFile(d, c.temp, func(f rootfs.File) error { return a.fill(f, d, c) })
}

// NewFile makes a file, and takes it away again if fill cannot give it all that it is to have.
func NewFile(d rootfs.Dir, name string, fill func(rootfs.File) error) error {
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	err = fill(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = d.Unlink(name)
	}
	return err
}

func (a *applier) fill(f rootfs.File, d rootfs.Dir, c *Change) error {
	if err := CopyContent(f, a.o.Source.Open, c.After); err != nil {
		return err
	}
	uid, gid, change, err := a.owner(d, c)
	if err != nil {
		return err
	}
	mode := c.After.Mode
	if change {
		if err := f.Chown(uid, gid); err != nil {
			if a.euid == 0 {
				return err
			}
			// Somebody else's file stays readable as it was, but is now the
			// person's own: it must not carry that somebody's powers.
			mode &^= 0o6000
		}
	}
	if len(c.attrs) > 0 {
		if err := f.SetAttrs(c.attrs); err != nil {
			return err
		}
	}
	if err := f.Chmod(mode); err != nil { // after chown, which clears setuid, and after ACLs, whose mask it is
		return err
	}
	c.written, err = f.Stat()
	return err
}

// CopyContent writes an entry's content as open gives it. A *ContentError is of the store; a length that is not the
// entry's is one.
func CopyContent(w io.Writer, open func(manifest.Entry) (io.ReadCloser, error), e manifest.Entry) error {
	r, err := open(e)
	if err != nil {
		return &ContentError{err}
	}
	defer r.Close()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	var total uint64
	for {
		n, err := r.Read(*buf)
		if total += uint64(n); total > e.Size {
			return &ContentError{fmt.Errorf("more than the %d bytes that the entry says", e.Size)}
		}
		if n > 0 {
			if _, err := w.Write((*buf)[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &ContentError{err}
		}
	}
	if total != e.Size {
		return &ContentError{fmt.Errorf("%d bytes instead of %d", total, e.Size)}
	}
	return nil
}

// ContentError says that the store could not give a file's content. It is the path's
// own: others go on.
type ContentError struct{ Err error }

func (e *ContentError) Error() string {
	return "its content cannot be read from the store: " + problem.Text(e.Err)
}
func (e *ContentError) Unwrap() error { return e.Err }
