package account

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// WriteCache writes a file that may be lost at any time: no fsync.
func WriteCache(file string, data []byte, owner func(string) error) error {
	return vfs.Replace(vfs.OS, file, vfs.Replacement{Own: owner, NoSync: true, KeepDir: true}, vfs.Bytes(data))
}

// RemoveIfThere removes a file; that there is none is fine.
func RemoveIfThere(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Exists reports whether there is something of that name, or may be. A link is not followed.
func Exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil || !errors.Is(err, fs.ErrNotExist) && !IsNotDir(err)
}

// WriteFile replaces file atomically and durably: see vfs.Replace.
func WriteFile(file string, data []byte, owner func(string) error) error {
	return vfs.Replace(vfs.OS, file, vfs.Replacement{Own: owner}, vfs.Bytes(data))
}

// MakeDir makes one private directory; that it is there already is fine.
func MakeDir(dir string, owner func(string) error) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		if IsDir(dir) {
			return nil
		}
		return &InPlaceError{Path: dir, Dir: true}
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
	return readBounded(file, limit, vfs.NoFollow)
}

// ReadRule is ReadSmall for a person's own file, which may be a link.
func ReadRule(file string, limit int64) ([]byte, error) { return readBounded(file, limit, 0) }

func readBounded(file string, limit int64, flags int) ([]byte, error) {
	f, info, err := vfs.OpenRegular(file, flags)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that it may have", file, info.Size(), limit)
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	_, err = buf.ReadFrom(io.LimitReader(f, info.Size())) // its writer may be as fast as we are
	return buf.Bytes(), err
}

// IsDir reports whether there is a directory, and not a link to one.
func IsDir(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}

// ExistingParent is the nearest directory at or above dir that is there.
func ExistingParent(dir string) string {
	for !Exists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}
