package account

import (
	"os"
	"syscall"
)

// ChangeTime is a file's change time since 1970 and its inode.
func ChangeTime(info os.FileInfo) (nanoseconds int64, inode uint64) {
	st := info.Sys().(*syscall.Stat_t)
	return st.Ctim.Nano(), st.Ino
}
