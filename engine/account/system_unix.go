//go:build unix

package account

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// IsMountTop reports whether dir lies on another device than its parent.
func IsMountTop(dir string) bool {
	d, _, err := Identity(dir)
	if err != nil {
		return false
	}
	parent, _, err := Identity(filepath.Dir(dir))
	return err == nil && d.Device != parent.Device
}

// OwnerOf returns what gives a created file to the owner of like. Only root
// can, and needs it: in a container it works on the tree of a person outside.
func OwnerOf(like string) func(string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(like)
	if err != nil {
		return nil
	}
	st := info.Sys().(*syscall.Stat_t)
	if st.Uid == 0 && st.Gid == 0 {
		return nil
	}
	return func(file string) error { return os.Lchown(file, int(st.Uid), int(st.Gid)) }
}

// Usable reports whether a store of this owner may be used by this process:
// its own, or by root, who gives all that it creates to the owner.
func Usable(uid int) bool { return os.Geteuid() == uid || os.Geteuid() == 0 }

// FreeDisk is the number of bytes that this user can still write where file is.
func FreeDisk(file string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(file, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// fileSystemID is what the kernel distinguishes file systems by, of the one that dir is on; 0 where that is not known. Two
// disks that get the same device number, one after the other, have different ones, mostly from their UUIDs.
func fileSystemID(dir string) uint64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0
	}
	return uint64(uint32(st.Fsid.Val[0]))<<32 | uint64(uint32(st.Fsid.Val[1]))
}

// CanWrite reports why this process cannot write in a directory, nil if it can.
func CanWrite(dir string) error { return unix.Access(dir, unix.W_OK) }

// Allocated is what a file takes on disk.
func Allocated(info os.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}

// LinkKey identifies a file that has several names.
func LinkKey(info os.FileInfo) (key [2]uint64, shared bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Nlink < 2 {
		return key, false
	}
	return [2]uint64{uint64(st.Dev), uint64(st.Ino)}, true
}
