//go:build unix && !linux

package engine

import (
	"os"
	"syscall"
)

// identity is that of a directory or file, and its owner. Links are followed.
func identity(file string) (id dirID, uid int, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return id, 0, err
	}
	st := info.Sys().(*syscall.Stat_t)
	return dirID{device: uint64(st.Dev), inode: uint64(st.Ino), birth: birthTime(st)}, int(st.Uid), nil
}
