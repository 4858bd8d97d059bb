package crashfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

type info struct {
	name  string
	inode *inode
	size  int64
}

func (i info) Name() string       { return filepath.Base(i.name) }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.inode.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.inode.mode.IsDir() }
func (i info) Sys() any           { return i.inode }

// file is an open file.
type file struct {
	fs    *FS
	inode *inode
	name  string
	write bool
	at    int64
}

func (f *file) Read(b []byte) (int, error) {
	n, err := f.ReadAt(b, f.at)
	f.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *file) ReadAt(b []byte, at int64) (int, error) {
	if err := f.fs.hook("read", f.name); err != nil {
		return 0, err
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if at >= int64(len(f.inode.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.inode.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Write(b []byte) (int, error) {
	n, err := f.WriteAt(b, f.at)
	f.at += int64(n)
	return n, err
}

func (f *file) WriteAt(b []byte, at int64) (int, error) {
	err := f.fs.hook("write", f.name)
	if !f.write {
		err = &fs.PathError{Op: "write", Path: f.name, Err: syscall.EBADF}
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err != nil {
		b = b[:len(b)/2]
		if !f.write || errors.Is(err, ErrGone) {
			return 0, err
		}
	}
	if n := at + int64(len(b)); n > int64(len(f.inode.data)) {
		f.inode.data = append(f.inode.data, make([]byte, n-int64(len(f.inode.data)))...)
	}
	copy(f.inode.data[at:], b)
	return len(b), err
}

func (f *file) Truncate(size int64) error {
	if err := f.fs.hook("truncate", f.name); err != nil {
		return err
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if size <= int64(len(f.inode.data)) {
		f.inode.data = bytes.Clone(f.inode.data[:size])
		return nil
	}
	f.inode.data = append(f.inode.data, make([]byte, size-int64(len(f.inode.data)))...)
	return nil
}

func (f *file) Sync() error {
	if err := f.fs.hook("sync", f.name); err != nil {
		return err
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.inode.durable = bytes.Clone(f.inode.data)
	return nil
}

func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.fs.hook("stat", f.name); err != nil {
		return nil, err
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return info{f.name, f.inode, int64(len(f.inode.data))}, nil
}

func (f *file) Close() error { return nil }
