package manifest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fileSystem is what a fold does to the disk; tests put faults and crashes in its place.
type fileSystem interface {
	mkdir(dir string) error
	// writeFile creates a file and fsyncs it. It is an error if it exists.
	writeFile(file string, data []byte) error
	// link gives a file a second name, or copies it and fsyncs the copy.
	link(old, new string) error
	rename(old, new string) error
	syncDir(dir string) error
	removeAll(path string) error
	readDir(dir string) ([]string, error)
}

// diskFiles is the operating system's, with the modes of a private store.
type diskFiles struct {
	owner func(file string) error // may be nil
}

func join(dir, name string) string { return filepath.Join(dir, name) }

func (d diskFiles) own(file string) error {
	if d.owner == nil {
		return nil
	}
	return d.owner(file)
}

func (d diskFiles) mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return d.own(dir)
}

func (d diskFiles) writeFile(file string, data []byte) error {
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

func (d diskFiles) link(old, new string) error {
	if os.Link(old, new) == nil {
		return nil
	}
	// A file system without hard links.
	f, err := os.Open(old)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	return d.writeFile(new, data)
}

func (d diskFiles) rename(old, new string) error { return os.Rename(old, new) }

func (d diskFiles) syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(ignoreUnsupported(f.Sync()), f.Close())
}

func (d diskFiles) removeAll(path string) error { return os.RemoveAll(path) }

func (d diskFiles) readDir(dir string) ([]string, error) {
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
