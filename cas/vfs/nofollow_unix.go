//go:build unix

package vfs

import "syscall"

// noFollow makes an open of a link fail, and one of a FIFO not wait.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
