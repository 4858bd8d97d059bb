// Package vfs is the file-system seam of the store: the few operations that
// packs, indexes and the small files beside them need. OS is the operating
// system. For tests, package crashfs is memory that loses what was not synced,
// with a hook that sees each operation and can fail it; package tracee does
// the same to whole programs at the kernel's own seam.
//
// Names are file paths of the operating system. Implementations are safe for
// concurrent use.
package vfs

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// FS is a file system. Errors are *fs.PathError or *os.LinkError values, so
// that errors.Is works with fs.ErrNotExist, fs.ErrExist and syscall errors.
type FS interface {
	// OpenFile opens name with the flags and permission bits of os.OpenFile.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Map returns the whole content of name, memory-mapped where the system
	// can, and a function that releases it. The bytes must not be written.
	Map(name string) (data []byte, release func() error, err error)
	Rename(oldName, newName string) error
	// Link makes newName a second name (hard link) of oldName.
	Link(oldName, newName string) error
	Remove(name string) error
	// MkdirAll creates name and its parents.
	MkdirAll(name string, perm fs.FileMode) error
	// ReadDir lists name, sorted by file name.
	ReadDir(name string) ([]fs.DirEntry, error)
	Lstat(name string) (fs.FileInfo, error)
	// SyncDir makes the entries of the directory name durable.
	SyncDir(name string) error
}

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	// Sync makes the content durable.
	Sync() error
	Stat() (fs.FileInfo, error)
}

// IsMissing reports whether an error means that nothing is at a path: also where one of the directories above is a file.
func IsMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
