//go:build unix

package treeio

import (
	"errors"
	"syscall"
)

// isNotEmpty reports whether a directory could not be removed because something is in it.
func isNotEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST)
}
