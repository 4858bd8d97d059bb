//go:build unix

package measure

import (
	"io/fs"
	"syscall"
)

// allocated is what a file takes on disk, in bytes; 0 for a further name of an
// inode that has been seen.
func allocated(info fs.FileInfo, seen map[uint64]bool) int64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size()
	}
	if st.Nlink > 1 && !info.IsDir() {
		if seen[uint64(st.Ino)] {
			return 0
		}
		seen[uint64(st.Ino)] = true
	}
	return int64(st.Blocks) * 512
}
