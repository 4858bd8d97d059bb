package treeio

import (
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func mtime(st *syscall.Stat_t) int64 { return st.Mtim.Nano() }

func setAttr(t *testing.T, file, name, value string) {
	t.Helper()
	must(t, unix.Setxattr(file, name, []byte(value), 0))
}

func wantAttr(t *testing.T, file, name, value string) {
	t.Helper()
	buf := make([]byte, 100)
	n, err := unix.Getxattr(file, name, buf)
	if err != nil || string(buf[:n]) != value {
		t.Errorf("attribute %s of %s: %q %v", name, file, buf[:max(n, 0)], err)
	}
}
