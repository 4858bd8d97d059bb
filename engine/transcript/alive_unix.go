//go:build unix

package transcript

import (
	"errors"
	"syscall"
)

// processAlive asks the kernel; a process of another user is alive too.
func processAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
