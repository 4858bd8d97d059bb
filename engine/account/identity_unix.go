//go:build unix && !linux

package account

import (
	"os"
	"syscall"
)

// Identity is that of a directory or file, and its owner. Links are followed.
func Identity(file string) (id DirID, uid int, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return id, 0, err
	}
	st := info.Sys().(*syscall.Stat_t)
	return DirID{Device: uint64(st.Dev), Inode: uint64(st.Ino), Birth: birthTime(st)}, int(st.Uid), nil
}

// SettleIdentity has nothing to do here: overlays are Linux's.
func SettleIdentity(string) {}
