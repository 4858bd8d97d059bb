package treeio

import (
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// write makes the wanted entry anew at the reserved name. It is whole before
// it gets that name: what is found there and is not known was displaced.
func (s *recovery) write(d rootfs.Dir, c *Change) error {
	e := s.want(c)
	fresh := freshName(c)
	var err error
	if isDir(e) && s.forward {
		err = d.Mkdir(fresh)
	} else {
		err = writeEntry(s.src, d, fresh, e)
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

// writeEntry makes an entry anew; a directory with all that is in it.
func writeEntry(src Source, d rootfs.Dir, name string, e manifest.Entry) error {
	switch {
	case isDir(e):
		return writeTree(src, d, name, e)
	case e.Kind == manifest.Symlink:
		return d.Symlink(e.Target, name)
	}
	return NewFile(d, name, func(f rootfs.File) error {
		if err := CopyContent(f, src.Open, e); err != nil {
			return err
		}
		return f.Chmod(e.Mode)
	})
}

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
		if err := writeEntry(src, sub, k.Name, k); err != nil {
			return err
		}
	}
	return d.Chmod(name, e.Mode)
}
