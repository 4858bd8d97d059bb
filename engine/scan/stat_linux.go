package scan

import (
	"os"
	"syscall"
)

func statOf(info os.FileInfo) stat {
	s := stat{size: info.Size(), mtime: info.ModTime().Unix(), mtimeNs: int64(info.ModTime().Nanosecond()), mode: modeOf(info.Mode())}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.ino, s.dev = st.Ino, uint64(st.Dev)
		s.ctime, s.ctimeNs = int64(st.Ctim.Sec), int64(st.Ctim.Nsec)
	}
	return s
}

// foreign reports whether a file is another user's. Root, who gives all that it
// makes to the owner of the store, takes anybody's.
func foreign(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && os.Geteuid() != 0 && int(st.Uid) != os.Geteuid()
}
