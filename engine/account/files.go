package account

import (
	"errors"
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
	return err == nil || !vfs.IsMissing(err)
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
