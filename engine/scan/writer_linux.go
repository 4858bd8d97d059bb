package scan

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writerOf asks the kernel whether a file is open for writing anywhere, or mapped
// for it: only then it refuses a read lease, which is given back at once.
func writerOf(f *os.File) writer {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	switch {
	case err == nil:
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK) // closing would do it too
		return noWriter
	case errors.Is(err, unix.EAGAIN):
		return someWriter
	}
	return unknownWriter // another's file, or a file system without leases
}
