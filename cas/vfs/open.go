package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular: something that is no regular file is in a file's place.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a regular file for reading; of anything else the open could wait, or the reading
// never end. flags is 0 or NoFollow. Errors: *fs.PathError, with ErrNotRegular.
func OpenRegular(file string, flags int) (*os.File, fs.FileInfo, error) {
	return openRegular(file, os.O_RDONLY|flags, 0)
}

// ReadRegular reads a whole file that OpenRegular opens.
func ReadRegular(file string, flags int) ([]byte, error) {
	f, _, err := OpenRegular(file, flags)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func openRegular(file string, flag int, perm fs.FileMode) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(file, flag|NoWait, perm)
	if errors.Is(err, syscall.ENXIO) || flag&NoFollow != 0 && errors.Is(err, syscall.ELOOP) { // a socket, or a FIFO without a reader; a link
		err = &fs.PathError{Op: "open", Path: file, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: file, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close() // nothing was written
		return nil, nil, err
	}
	return f, info, nil
}
