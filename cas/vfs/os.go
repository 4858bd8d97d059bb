package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// OS is the file system of the operating system. Files that it creates with
// O_EXCL, and directories, get exactly the permission bits asked for, whatever
// the umask says. It opens no file through a link in its last component,
// and nothing but regular files.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, _, err := openRegular(name, flag|NoFollow, perm)
	if err != nil {
		return nil, err
	}
	if flag&os.O_EXCL != 0 {
		if err := f.Chmod(perm); err != nil {
			return nil, errors.Join(err, f.Close(), os.Remove(name))
		}
	}
	return osFile{f}, nil
}

func (osFS) Map(name string) ([]byte, func() error, error) { return mapFile(name) }

func (osFS) Rename(oldName, newName string) error { return os.Rename(oldName, newName) }

func (osFS) Link(oldName, newName string) error { return os.Link(oldName, newName) }

func (osFS) Remove(name string) error { return os.Remove(name) }

func (o osFS) MkdirAll(name string, perm fs.FileMode) error {
	err := os.Mkdir(name, perm)
	switch {
	case err == nil:
		return os.Chmod(name, perm)
	case errors.Is(err, fs.ErrNotExist):
		parent := filepath.Dir(name)
		if parent == name {
			return err
		}
		if err := o.MkdirAll(parent, perm); err != nil {
			return err
		}
		return o.MkdirAll(name, perm)
	case errors.Is(err, fs.ErrExist):
		if info, serr := os.Lstat(name); serr != nil || !info.IsDir() {
			return err
		}
		return nil
	}
	return err
}

func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func (osFS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

func (osFS) SyncDir(name string) error { return syncDir(name) }

// osFile adds the cheaper sync of the system to an os.File.
type osFile struct{ *os.File }

func (f osFile) Sync() error { return syncFile(f.File) }

// readFile is Map where nothing can be mapped: a copy in memory.
func readFile(name string) ([]byte, func() error, error) {
	data, err := ReadRegular(name, NoFollow)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}

// once makes release safe to call twice: unmapping an address range a second
// time could hit a mapping that somebody else got there meanwhile.
func once(release func() error) func() error {
	var o sync.Once
	return func() (err error) {
		o.Do(func() { err = release() })
		return err
	}
}
