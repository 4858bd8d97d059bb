package rootfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// toDevice hands a file's bytes to the drive, which may still hold them in its own
// cache: the Sync of package os, once for all, makes it write them.
func toDevice(f *os.File) error { return unix.Fsync(int(f.Fd())) }
