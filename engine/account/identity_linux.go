package account

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Identity is that of a directory or file, and its owner. Links are followed.
// It costs one system call.
func Identity(file string) (id DirID, uid int, err error) {
	const want = unix.STATX_INO | unix.STATX_UID | unix.STATX_BTIME
	var st unix.Statx_t
	for {
		err = unix.Statx(unix.AT_FDCWD, file, 0, want, &st)
		if err != unix.EINTR {
			break
		}
	}
	switch {
	case err == unix.ENOSYS || err == unix.EPERM: // an old kernel, or a sandbox that lets stat through only
		var old syscall.Stat_t
		if err := syscall.Stat(file, &old); err != nil {
			return id, 0, &fs.PathError{Op: "stat", Path: file, Err: err}
		}
		return DirID{Device: old.Dev, Inode: old.Ino}, int(old.Uid), nil
	case err != nil:
		return id, 0, &fs.PathError{Op: "statx", Path: file, Err: err}
	}
	id = DirID{Device: unix.Mkdev(st.Dev_major, st.Dev_minor), Inode: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.Birth = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return id, int(st.Uid), nil
}

// SettleIdentity makes a directory that an overlay shows from a lower layer one of the upper
// layer. The first change of a directory does that, and gives it another time of birth: it must not come
// after the identity was written down. Where it fails, the store will be taken for a copy.
func SettleIdentity(dir string) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil || st.Type != unix.OVERLAYFS_SUPER_MAGIC {
		return
	}
	if info, err := os.Stat(dir); err == nil {
		_ = os.Chmod(dir, info.Mode())
	}
}
