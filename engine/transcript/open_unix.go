//go:build unix

package transcript

import "syscall"

const openNonblock = syscall.O_NONBLOCK // a FIFO in the way does not hang us
