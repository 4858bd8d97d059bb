package vfs

import (
	"bytes"
	"errors"
	"fmt"
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
	f, info, err := OpenRegular(file, flags)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data bytes.Buffer
	data.Grow(int(min(info.Size(), 1<<28)) + bytes.MinRead) // to grow later costs more than to read
	_, err = data.ReadFrom(f)
	return data.Bytes(), err
}

// ReadSmall reads a whole file that OpenRegular opens, unless it has more than limit bytes: what a person or another program
// wrote must not take all memory. A file that grows meanwhile is read up to the size that it had.
func ReadSmall(file string, limit int64, flags int) ([]byte, error) {
	f, info, err := OpenRegular(file, flags)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that it may have", file, info.Size(), limit)
	}
	var data bytes.Buffer
	data.Grow(int(info.Size()) + bytes.MinRead)
	_, err = data.ReadFrom(io.LimitReader(f, info.Size()))
	return data.Bytes(), err
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
