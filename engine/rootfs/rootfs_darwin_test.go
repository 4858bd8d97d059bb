package rootfs

import (
	"syscall"
	"testing"
)

var implementations = map[string]func(string) (FS, error){"portable": Open}

func mkfifo(t *testing.T, file string) {
	t.Helper()
	must(t, syscall.Mkfifo(file, 0o644))
}
