//go:build unix

package vfs

import "golang.org/x/sys/unix"

// narrowUmask sets the hardest umask and returns what puts the old one back.
func narrowUmask() func() {
	old := unix.Umask(0o777)
	return func() { unix.Umask(old) }
}
