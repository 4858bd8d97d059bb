//go:build unix

package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps name read-only and shared. Only files that are replaced, never
// changed in place, may be mapped: reading past a truncation is a fatal fault.
func mapFile(name string) ([]byte, func() error, error) {
	f, info, err := OpenRegular(name, NoFollow)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	size := info.Size()
	if size == 0 {
		return nil, func() error { return nil }, nil
	}
	if size != int64(int(size)) {
		return nil, nil, &os.PathError{Op: "mmap", Path: name, Err: unix.EFBIG}
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return readFile(name) // a file system without mmap
	}
	return data, once(func() error { return unix.Munmap(data) }), nil
}
