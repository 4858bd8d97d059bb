//go:build !unix

package vfs

// Flags for os.OpenFile, which this system has not.
const (
	NoFollow = 0
	NoWait   = 0
)
