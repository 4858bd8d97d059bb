//go:build !windows

package register

import (
	"os"
	"path/filepath"
	"syscall"
)

// ownLike gives a new file the owner of the file that it replaces, or of the
// directory: root in a container edits the settings of the person outside.
func ownLike(made, like string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	st, err := os.Stat(like)
	if err != nil {
		if st, err = os.Stat(filepath.Dir(like)); err != nil {
			return err
		}
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return os.Lchown(made, int(sys.Uid), int(sys.Gid))
	}
	return nil
}

// owned reports whether a file is this user's.
func owned(info os.FileInfo) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid()
}
