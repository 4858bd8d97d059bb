//go:build !unix

package treeio

import (
	"errors"
	"syscall"
)

// errorDirNotEmpty is ERROR_DIR_NOT_EMPTY of Windows.
const errorDirNotEmpty = syscall.Errno(145)

// isNotEmpty reports whether a directory could not be removed because something is in it.
func isNotEmpty(err error) bool { return errors.Is(err, errorDirNotEmpty) }
