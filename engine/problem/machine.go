package problem

import (
	"context"
	"errors"
	"syscall"
)

// NoSpace reports whether an error says that the disk, or the account's quota on it, is full.
func NoSpace(err error) bool { return is(err, syscall.ENOSPC, syscall.EDQUOT) }

// OfMachine reports whether an error is not of one path alone: the disk, the file system, the number of open files, or an
// end that was asked for. Whatever comes next would fail alike.
func OfMachine(err error) bool {
	return NoSpace(err) || is(err, syscall.EROFS, syscall.EIO, syscall.EMFILE, syscall.ENFILE, context.Canceled, context.DeadlineExceeded)
}

func is(err error, causes ...error) bool {
	for _, cause := range causes {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}
