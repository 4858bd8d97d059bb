// Package crashfs is a file system in memory that knows what a power cut would
// leave of it. It is for tests of those who write files.
//
// Content is durable when its file was synced, a name when its directory was.
// Of the rest Crash keeps a random part: names up to some moment, since a
// journal keeps their order, and any pages of the files, since write-back does
// not. Hook sees every operation before it happens and can make it fail.
package crashfs

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// page is what write-back writes as one.
const page = 512

// FS is a file system in memory. It is safe for concurrent use. Files opened
// before a Crash go on writing into what is lost.
type FS struct {
	// Hook, if not nil, is called before each operation with its name and the
	// file's name. An error makes the operation fail; a write then happens to a
	// part. It is to be set before the file system is used.
	Hook func(op, name string) error

	mu      sync.Mutex
	names   map[string]*inode
	durable map[string]*inode
	pending []change // since they were durable, in order
}

// inode is a file, a directory (without data) or a symbolic link (data is its
// target, which is durable with the name).
type inode struct {
	data    []byte
	durable []byte
	mode    fs.FileMode
}

// change is a name that came, went or changed. What belongs to one operation is
// one step.
type change struct {
	names map[string]*inode // nil: the name went
}

// New is an empty file system.
func New() *FS {
	return &FS{names: map[string]*inode{}, durable: map[string]*inode{}}
}

// Crash is what is left after a power cut now; with nil only what was synced. f
// is not changed.
func (f *FS) Crash(r *rand.Rand) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	after := New()
	names := maps.Clone(f.durable)
	if r != nil {
		for _, c := range f.pending[:r.IntN(len(f.pending)+1)] {
			c.apply(names)
		}
	}
	left := map[*inode]*inode{} // hard links stay links
	for _, n := range sortedKeys(names) {
		i := names[n]
		if left[i] == nil {
			data := i.left(r)
			left[i] = &inode{data: data, durable: bytes.Clone(data), mode: i.mode}
		}
		after.names[n], after.durable[n] = left[i], left[i]
	}
	return after
}

// left is what a power cut leaves of the content.
func (i *inode) left(r *rand.Rand) []byte {
	if r == nil || bytes.Equal(i.data, i.durable) {
		return bytes.Clone(i.durable)
	}
	low, high := min(len(i.data), len(i.durable)), max(len(i.data), len(i.durable))
	size := low + r.IntN(high-low+1)
	out := make([]byte, size)
	copy(out, i.durable)
	all := r.IntN(4) == 0 // now and then everything but the end arrives
	for at := 0; at < size; at += page {
		if to := min(at+page, len(i.data), size); at < to && (all || r.IntN(2) == 0) {
			copy(out[at:to], i.data[at:to])
		}
	}
	return out
}

func (c change) apply(names map[string]*inode) {
	for n, i := range c.names {
		if i == nil {
			delete(names, n)
		} else {
			names[n] = i
		}
	}
}

func (f *FS) change(names map[string]*inode) {
	c := change{names}
	c.apply(f.names)
	f.pending = append(f.pending, c)
}

func (f *FS) hook(op, name string) error {
	if f.Hook == nil {
		return nil
	}
	if err := f.Hook(op, name); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// OpenFile is vfs.FS.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	op := "open"
	if flag&os.O_CREATE != 0 {
		op = "create"
	}
	if err := f.hook(op, name); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	i := f.names[name]
	switch {
	case i == nil && flag&os.O_CREATE == 0, i == nil && !f.isDir(filepath.Dir(name)):
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	case i != nil && i.mode.IsDir():
		return nil, &fs.PathError{Op: op, Path: name, Err: syscall.EISDIR}
	case i == nil:
		i = &inode{mode: perm}
		f.change(map[string]*inode{name: i})
	case flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrExist}
	}
	if flag&os.O_TRUNC != 0 {
		i.data = nil
	}
	return &file{fs: f, inode: i, name: name, write: flag&(os.O_WRONLY|os.O_RDWR) != 0}, nil
}

// Map is vfs.FS: a copy.
func (f *FS) Map(name string) ([]byte, func() error, error) {
	if err := f.hook("map", name); err != nil {
		return nil, nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.names[filepath.Clean(name)]
	if i == nil {
		return nil, nil, &fs.PathError{Op: "map", Path: name, Err: fs.ErrNotExist}
	}
	return bytes.Clone(i.data), func() error { return nil }, nil
}

// Rename is vfs.FS.
func (f *FS) Rename(oldName, newName string) error {
	if err := f.hook("rename", newName); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	oldName, newName = filepath.Clean(oldName), filepath.Clean(newName)
	i := f.names[oldName]
	if i == nil {
		return &os.LinkError{Op: "rename", Old: oldName, New: newName, Err: fs.ErrNotExist}
	}
	names := map[string]*inode{}
	f.move(names, oldName, newName)
	f.change(names)
	return nil
}

// Link is vfs.FS.
func (f *FS) Link(oldName, newName string) error {
	if err := f.hook("link", newName); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	oldName, newName = filepath.Clean(oldName), filepath.Clean(newName)
	i := f.names[oldName]
	switch {
	case i == nil, !f.isDir(filepath.Dir(newName)):
		return &os.LinkError{Op: "link", Old: oldName, New: newName, Err: fs.ErrNotExist}
	case f.names[newName] != nil:
		return &os.LinkError{Op: "link", Old: oldName, New: newName, Err: fs.ErrExist}
	}
	f.change(map[string]*inode{newName: i})
	return nil
}

// Remove is vfs.FS.
func (f *FS) Remove(name string) error {
	if err := f.hook("remove", name); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	if f.names[name] == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	f.change(map[string]*inode{name: nil})
	return nil
}

// MkdirAll is vfs.FS.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	if err := f.hook("mkdir", name); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var missing []string
	for name = filepath.Clean(name); !f.isDir(name); name = filepath.Dir(name) {
		missing = append(missing, name)
	}
	for _, n := range slices.Backward(missing) {
		f.change(map[string]*inode{n: {mode: fs.ModeDir | perm}})
	}
	return nil
}

// isDir wants the lock. The top is always there.
func (f *FS) isDir(name string) bool {
	i := f.names[name]
	return i != nil && i.mode.IsDir() || name == filepath.Dir(name)
}

// ReadDir is vfs.FS.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.hook("readdir", name); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	if !f.isDir(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	var all []fs.DirEntry
	for _, n := range sortedKeys(f.names) {
		if filepath.Dir(n) == name {
			all = append(all, fs.FileInfoToDirEntry(info{n, f.names[n], int64(len(f.names[n].data))}))
		}
	}
	return all, nil
}

// Lstat is vfs.FS.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.hook("lstat", name); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	if i := f.names[name]; i != nil {
		return info{name, i, int64(len(i.data))}, nil
	}
	return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
}

// SyncDir is vfs.FS. As with a journal, it makes all earlier changes of names
// durable, whatever their directory.
func (f *FS) SyncDir(name string) error {
	if err := f.hook("syncdir", name); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncNames()
	return nil
}

func (f *FS) syncNames() {
	for _, c := range f.pending {
		c.apply(f.durable)
	}
	f.pending = nil
}

func sortedKeys(m map[string]*inode) []string { return slices.Sorted(maps.Keys(m)) }

// ErrGone is for a Hook whose process is dead: not even a part of a write happens.
var ErrGone = errors.New("the process is gone")
