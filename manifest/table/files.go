package table

import (
	"errors"
	"io/fs"
	"os"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// Files is what a fold does to the disk; tests put faults and crashes in its place.
type Files interface {
	Mkdir(dir string) error
	// WriteFile creates a file and fsyncs it. It is an error if it exists.
	WriteFile(file string, data []byte) error
	// Link gives a file a second name, or copies it and fsyncs the copy.
	Link(old, new string) error
	Rename(old, new string) error
	SyncDir(dir string) error
	RemoveAll(path string) error
	ReadDir(dir string) ([]string, error)
}

// Disk is the operating system's, with the modes of a private store.
type Disk struct {
	Owner func(file string) error // may be nil
}

func (d Disk) own(file string) error {
	if d.Owner == nil {
		return nil
	}
	return d.Owner(file)
}

func (d Disk) Mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return d.own(dir)
}

func (d Disk) WriteFile(file string, data []byte) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.own(file)
}

func (d Disk) Link(old, new string) error {
	if os.Link(old, new) == nil {
		return nil
	}
	// A file system without hard links.
	data, err := vfs.ReadRegular(old, vfs.NoFollow)
	if err != nil {
		return err
	}
	return d.WriteFile(new, data)
}

func (d Disk) Rename(old, new string) error { return os.Rename(old, new) }

func (d Disk) SyncDir(dir string) error { return vfs.OS.SyncDir(dir) }

func (d Disk) RemoveAll(path string) error { return os.RemoveAll(path) }

func (d Disk) ReadDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}
