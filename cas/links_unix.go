//go:build unix

package cas

import (
	"io/fs"
	"syscall"
)

// linkCount is how many names a file has; 1 where that is not known.
func linkCount(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}
