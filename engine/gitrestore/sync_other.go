//go:build !linux

package gitrestore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// syncAll makes files below a directory durable, and their names. One that is not there, as the reflog of a reference that has none, is left out.
func syncAll(_ string, files []string) error {
	dirs := map[string]bool{}
	for _, file := range files {
		f, err := os.OpenFile(file, os.O_RDWR|vfs.NoWait, 0)
		if vfs.IsMissing(err) {
			continue
		}
		readOnly := errors.Is(err, fs.ErrPermission) // an object
		if readOnly {
			f, _, err = vfs.OpenRegular(file, 0)
		}
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil && !readOnly { // not every system syncs what is open for reading
			return err
		}
		dirs[filepath.Dir(file)] = true
	}
	for _, dir := range sorted(dirs) {
		if err := vfs.OS.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}
