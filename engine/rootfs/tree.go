package rootfs

import (
	"errors"
	"io/fs"
	"slices"
)

// In opens the directory that a path lies in for do, which gets the name in it.
func In(fsys FS, path string, do func(d Dir, name string) error) error {
	dir, name := Split(path)
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return do(d, name)
}

// Gone takes an error that says that nothing is there for success.
func Gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// RemoveTree removes a name and all below it. If has is not nil, the name is a directory, and below it only the paths that has
// accepts are removed: anything else stays, and the error says that the directory is not empty.
func RemoveTree(d Dir, name string, has func(path string) bool) error {
	return removeTree(d, name, "", has)
}

// removeTree removes a name whose path below the first one is at.
func removeTree(d Dir, name, at string, has func(path string) bool) error {
	info, err := d.Lstat(name)
	switch {
	case err != nil:
		return Gone(err)
	case info.Kind != Directory && at == "" && has != nil:
		return ErrNotDir
	case info.Kind != Directory:
		return Gone(d.Unlink(name))
	}
	sub, err := d.Subdir(name)
	if err != nil {
		return Gone(err)
	}
	names, err := sub.Names()
	slices.Sort(names)
	for _, name := range names {
		if below := Join(at, name); err == nil && (has == nil || has(below)) {
			err = removeTree(sub, name, below, has)
		}
	}
	sub.Close()
	if err != nil {
		return err
	}
	return Gone(d.Rmdir(name))
}
