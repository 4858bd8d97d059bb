//go:build !unix

package vfs

// syncDir does nothing: directories cannot be synced here, and file creation
// is journaled by the file system.
func syncDir(string) error { return nil }
