package rootfs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// mountAt identifies the mount that a name in an open directory is on; the empty name means
// the descriptor itself. A device number does not identify a mount: an overlay over two
// file systems gives its files the device of the layer below, and a bind mount
// has the device of what it shows.
func mountAt(fd int, name string) (id uint64, ok bool) {
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	var x unix.Statx_t
	if unix.Statx(fd, name, flags, unix.STATX_MNT_ID, &x) == nil && x.Mask&unix.STATX_MNT_ID != 0 {
		return x.Mnt_id, true
	}
	// Before Linux 5.8, or in a sandbox that refuses statx.
	if name != "" {
		held, err := retry(func() (int, error) { return unix.Openat(fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0) })
		if err != nil {
			return 0, false
		}
		defer unix.Close(held)
		fd = held
	}
	return mountFromProc(fd)
}

// mountFromProc is mountAt for kernels without STATX_MNT_ID.
func mountFromProc(fd int) (id uint64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return 0, false
	}
	_, rest, ok := bytes.Cut(text, []byte("mnt_id:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	id, err = strconv.ParseUint(string(bytes.TrimSpace(line)), 10, 64)
	return id, ok && err == nil
}

// mounted reports whether a name in an open directory, or the descriptor itself, is on another
// mount than the root. Where the kernel does not identify mounts, the device tells it of a directory;
// what is mounted over a file cannot be recognised there, and the kernel refuses to rename it.
func (f *linuxFS) mounted(fd int, name string) bool {
	if f.mount != 0 {
		if id, ok := mountAt(fd, name); ok {
			return id != f.mount
		}
	}
	var st unix.Stat_t
	err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && st.Dev != f.dev
}

// mountOf identifies the mount that a name is on, for the portable implementation.
func mountOf(root *os.Root, name string) (uint64, error) {
	dir, err := root.Open(".")
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	id, ok := mountAt(int(dir.Fd()), name)
	if !ok {
		return 0, unix.ENOTSUP
	}
	return id, nil
}
