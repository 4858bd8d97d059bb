package rootfs

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// CopyFrom fills an empty file from src: its extents are shared where the file system can, else the
// kernel copies size bytes. done is false, and nothing was written, where neither is to be had.
func (f *linuxFile) CopyFrom(src *os.File, size int64) (done bool, err error) {
	from := int(src.Fd())
	if unix.IoctlFileClone(f.fd, from) == nil {
		return true, nil
	}
	for copied := int64(0); copied < size; {
		n, err := unix.CopyFileRange(from, nil, f.fd, nil, int(min(size-copied, 1<<30)), 0)
		switch {
		case err == unix.EINTR:
		case err != nil && copied == 0:
			return false, nil // another file system, or one that cannot
		case err != nil:
			return false, f.fail("copy_file_range", err)
		case n == 0:
			return false, f.fail("copy_file_range", io.ErrUnexpectedEOF) // it became shorter
		}
		copied += int64(n)
	}
	return true, nil
}
