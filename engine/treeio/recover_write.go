package treeio

import (
	"errors"
	"io/fs"

	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// write makes the wanted entry anew at the reserved name. It is whole before
// it gets that name: what is found there and is not known was displaced.
func (s *recovery) write(d rootfs.Dir, c *Change) error {
	e := s.want(c)
	fresh := freshName(c)
	var err error
	switch {
	case isDir(e) && s.forward:
		err = d.Mkdir(fresh)
	case isDir(e):
		err = writeTree(s.src, d, fresh, e)
	case e.Kind == manifest.Symlink:
		err = d.Symlink(e.Target, fresh)
	default:
		err = writeFile(s.src, d, fresh, e)
	}
	if err == nil {
		err = s.fs.Sync()
	}
	if err != nil {
		return err
	}
	return d.Rename(fresh, c.temp)
}

func freshName(c *Change) string { return c.temp + ".w" }

// dropFresh removes what a recovery that died was writing.
func dropFresh(d rootfs.Dir, c *Change) error {
	info, err := d.Lstat(freshName(c))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Kind == rootfs.Directory:
		return removeHeld(d, freshName(c), func(string) bool { return true })
	}
	return d.Unlink(freshName(c))
}

// dropPartial removes the temporary files that were being written when the
// process died, before anything was displaced.
func (s *recovery) dropPartial(changes []Change) error {
	for i := range changes {
		c := &changes[i]
		if c.After.Kind == 0 || isDir(c.After) || c.Action == Mode {
			continue
		}
		dir, _ := rootfs.Split(c.Path)
		d, err := s.fs.OpenDir(dir)
		if err != nil {
			continue // then there is nothing of ours in it
		}
		temp, err := s.look(d, c.temp, c)
		if err == nil && temp == isOther {
			err = d.Unlink(c.temp)
		}
		d.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func writeFile(src Source, d rootfs.Dir, name string, e manifest.Entry) error {
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	err = CopyContent(f, src.Open, e)
	if err == nil {
		err = f.Chmod(e.Mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		d.Unlink(name)
	}
	return err
}

// writeTree makes a whole directory anew.
func writeTree(src Source, d rootfs.Dir, name string, e manifest.Entry) error {
	if err := d.Mkdir(name); err != nil {
		return err
	}
	m, err := loadDir(src, e.ID)
	if err != nil {
		return err
	}
	sub, err := d.Subdir(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	for _, k := range m.Entries {
		switch {
		case isDir(k):
			err = writeTree(src, sub, k.Name, k)
		case k.Kind == manifest.Symlink:
			err = sub.Symlink(k.Target, k.Name)
		default:
			err = writeFile(src, sub, k.Name, k)
		}
		if err != nil {
			return err
		}
	}
	return d.Chmod(name, e.Mode)
}
