//go:build unix

package scan

import "syscall"

// noFollow makes an open of a link fail: the stat cache is a file of the store's.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
