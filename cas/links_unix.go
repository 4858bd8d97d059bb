//go:build unix

package cas

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// tryLockPack locks the file of a pack, whatever name it was opened by.
func tryLockPack(f vfs.File) (bool, error) {
	file, ok := f.(interface{ Fd() uintptr })
	if !ok {
		return true, nil // of a file system of the tests
	}
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	if errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) {
		return true, nil // a file system without such locks
	}
	return err == nil, err
}

// unlockPack gives the lock of tryLockPack back.
func unlockPack(f vfs.File) {
	if file, ok := f.(interface{ Fd() uintptr }); ok {
		_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN) // closing the file does it, too
	}
}

// ours reports whether this process may give a file another name: systems refuse that for the files of others.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (os.Geteuid() == 0 || int(st.Uid) == os.Geteuid())
}

// sameDevice reports whether two files are on one file system, and could have names of one another.
func sameDevice(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, yes := b.Sys().(*syscall.Stat_t)
	return ok && yes && x.Dev == y.Dev
}

// linkCount is how many names a file has; 1 where that is not known.
func linkCount(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}
