package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFile uses fdatasync: it makes the size durable too, and leaves out the
// times, which nothing here depends on.
func syncFile(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
		return nil
	}
}
