package project

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lockHolder is the process that holds a lock file, 0 where the kernel does not say: in
// another container, for instance. File systems differ in how their devices are numbered
// there, so the inode decides.
func lockHolder(file string) int {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	list, err := os.ReadFile("/proc/locks")
	if !ok || err != nil {
		return 0
	}
	return holderIn(string(list), st.Ino)
}

// holderIn reads /proc/locks: "1: FLOCK ADVISORY WRITE 4711 fe:01:123456 0 EOF". A line
// with -> is one that waits.
func holderIn(list string, inode uint64) int {
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], ":"+strconv.FormatUint(inode, 10)) {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 && pid != os.Getpid() {
			return pid
		}
	}
	return 0
}
