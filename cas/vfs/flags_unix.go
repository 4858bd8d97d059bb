//go:build unix

package vfs

import "syscall"

// Flags for os.OpenFile.
const (
	NoFollow = syscall.O_NOFOLLOW                    // a link in the last component is an error
	NoWait   = syscall.O_NONBLOCK | syscall.O_NOCTTY // a FIFO without another end does not hold the open up
)
