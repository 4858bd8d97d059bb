//go:build unix

package gitrepo

import "syscall"

// nonblock keeps open from waiting for the other end of a FIFO.
const (
	nonblock = syscall.O_NONBLOCK | syscall.O_NOCTTY
	nofollow = syscall.O_NOFOLLOW
)
