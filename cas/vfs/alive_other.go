//go:build !unix

package vfs

import "os"

// Alive tries to open the process, which fails where it has ended.
func Alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}
