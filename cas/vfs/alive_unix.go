//go:build unix

package vfs

import (
	"errors"
	"syscall"
)

// Alive asks the kernel; a process of another user is alive too.
func Alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
