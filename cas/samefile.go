package cas

import (
	"io/fs"
	"os"
)

// sameFile reports whether two names lead to one file, of the operating system or of a file system of the tests.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) || a.Sys() != nil && a.Sys() == b.Sys()
}

// ignoreMissing is for removing what may be gone already.
func ignoreMissing(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
