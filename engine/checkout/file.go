package checkout

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// write puts one file or link in its place.
func (t *Tree) write(d rootfs.Dir, e manifest.Entry, from *donorDir) (info rootfs.Info, cloned bool, err error) {
	if t.moved || t.o.Replace {
		if !t.moved {
			if edited, err := t.edited(d, e); err != nil {
				return info, false, err
			} else if edited {
				return info, false, errEdited
			}
		}
		if err := t.clear(d, e.Name); err != nil {
			return info, false, err
		}
	}
	if e.Kind == manifest.Symlink {
		if err = d.Symlink(e.Target, e.Name); err == nil {
			info, err = d.Lstat(e.Name)
		}
		return info, false, taken(err)
	}
	if info, cloned, err = t.writeFile(d, e, from); from != nil && err != nil && !problem.OfMachine(err) {
		info, cloned, err = t.writeFile(d, e, nil) // the donor's changed meanwhile
	}
	return info, cloned, taken(err)
}

func (t *Tree) writeFile(d rootfs.Dir, e manifest.Entry, from *donorDir) (info rootfs.Info, cloned bool, err error) {
	err = treeio.NewFile(d, e.Name, func(f rootfs.File) (err error) {
		if cloned, err = from.copy(f, e); err == nil && !cloned {
			err = treeio.CopyContent(f, t.o.Open, e)
		}
		if err == nil {
			err = f.Chmod(e.Mode)
		}
		if err == nil {
			info, err = f.Stat()
		}
		return err
	})
	if err != nil {
		return rootfs.Info{}, false, err
	}
	return info, cloned, nil
}

func taken(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return errTaken
	}
	return err
}

// errEdited: what is there is not what an earlier, interrupted Move can have written.
var errEdited = errors.New("it was changed after the interrupted checkout wrote it, and was left as it is: remove it, and the same command writes it again")

// edited reports whether what is at a name is neither the entry nor the beginning of it, as a write that was cut off
// leaves it.
func (t *Tree) edited(d rootfs.Dir, e manifest.Entry) (bool, error) {
	info, err := d.Lstat(e.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case e.Kind == manifest.Symlink:
		target, err := d.Readlink(e.Name)
		return err != nil || target != e.Target, nil
	case info.Kind != rootfs.Regular || info.Size > int64(e.Size):
		return true, nil
	case info.Size == 0:
		return false, nil
	}
	f, _, err := d.OpenFile(e.Name)
	if err != nil {
		return true, nil // what cannot be read cannot be compared
	}
	defer f.Close()
	want, err := t.o.Open(e)
	if err != nil {
		return false, &treeio.ContentError{Err: err}
	}
	defer want.Close()
	same, err := beginsWith(want, f)
	return !same, err
}

// beginsWith reports whether what whole gives begins with all that part gives.
func beginsWith(whole, part io.Reader) (bool, error) {
	a, b := buffers.Get().(*[]byte), buffers.Get().(*[]byte)
	defer buffers.Put(a)
	defer buffers.Put(b)
	for {
		n, err := io.ReadFull(part, *a)
		if n > 0 {
			if m, err := io.ReadFull(whole, (*b)[:n]); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return false, &treeio.ContentError{Err: err}
			} else if m < n || !bytes.Equal((*a)[:n], (*b)[:m]) {
				return false, nil
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// clear takes away what is at a name, whatever it is.
func (t *Tree) clear(d rootfs.Dir, name string) error {
	info, err := d.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Kind != rootfs.Directory:
		return d.Unlink(name)
	}
	root, err := os.OpenRoot(t.o.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.RemoveAll(rootfs.Join(d.Path(), name))
}
