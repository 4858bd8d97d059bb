package gitrestore

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncAll makes files below a directory durable, and their names: with one call for the whole file system.
func syncAll(dir string, files []string) error {
	if len(files) == 0 {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close() // read only: nothing can be lost
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return &os.PathError{Op: "syncfs", Path: dir, Err: err}
	}
	return nil
}
