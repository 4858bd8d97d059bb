//go:build !unix

package cas

import (
	"io/fs"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// tryLockPack locks the file of a pack, whatever name it was opened by: here it does not.
func tryLockPack(vfs.File) (bool, error) { return true, nil }

func unlockPack(vfs.File) {}

// linkCount is how many names a file has: here it is not known, and 1.
func linkCount(fs.FileInfo) int { return 1 }

// ours reports whether this process may give a file another name.
func ours(fs.FileInfo) bool { return true }

// sameDevice reports whether two files are on one file system: here it is not known.
func sameDevice(a, b fs.FileInfo) bool { return true }
