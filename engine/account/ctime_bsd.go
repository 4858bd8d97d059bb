//go:build unix && !linux

package account

import (
	"os"
	"syscall"
)

// ChangeTime is the modification time here; RACY.md says what that costs.
func ChangeTime(info os.FileInfo) (nanoseconds int64, inode uint64) {
	st := info.Sys().(*syscall.Stat_t)
	return info.ModTime().UnixNano(), uint64(st.Ino)
}
