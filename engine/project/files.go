package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rewind/cas/vfs"
)

// WriteCache writes a file that may be lost at any time: no fsync.
func WriteCache(file string, data []byte, owner func(string) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && owner != nil {
		err = owner(f.Name())
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	return err
}

func RemoveIfThere(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func Exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// WriteFile replaces file atomically: a temporary file beside it, fsync,
// rename, fsync of the directory. A crash leaves the old or the new content.
func WriteFile(file string, data []byte, owner func(string) error) error {
	dir := filepath.Dir(file)
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is nothing to remove
	// CreateTemp has made it 0600, whatever the umask adds to that.
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if owner != nil {
		if err := owner(f.Name()); err != nil {
			return err
		}
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return err
	}
	return vfs.OS.SyncDir(dir)
}

// MakeDir makes one private directory; that it is there already is fine.
func MakeDir(dir string, owner func(string) error) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		if isDir(dir) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil { // whatever the umask
		return err
	}
	if owner != nil {
		return owner(dir)
	}
	return nil
}

// ReadSmall reads a regular file of at most limit bytes. It does not follow a link.
func ReadSmall(file string, limit int64) ([]byte, error) {
	return readBounded(file, limit, openNoFollow)
}

// ReadRule is readSmall for a person's own file, which may be a link.
func ReadRule(file string, limit int64) ([]byte, error) { return readBounded(file, limit, 0) }

func readBounded(file string, limit int64, how int) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|OpenNonblock|how, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that it may have", file, info.Size(), limit)
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	_, err = buf.ReadFrom(io.LimitReader(f, info.Size())) // its writer may be as fast as we are
	return buf.Bytes(), err
}
