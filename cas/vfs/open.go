package vfs

import (
	"errors"
	"io/fs"
	"os"
)

// ErrNotRegular: something that is no regular file is in a file's place.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a regular file for reading; of anything else the open could wait, or the reading
// never end. flags is 0 or NoFollow. Errors: *fs.PathError, with ErrNotRegular.
func OpenRegular(file string, flags int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|NoWait|flags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: file, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close() // read only: nothing can be lost
		return nil, nil, err
	}
	return f, info, nil
}
