//go:build linux || darwin

package treeio

import (
	"io"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

// faults counts the operations that change something, and fails one of them, or ends there what run
// was given, as a crash does.
type faults struct {
	mu     sync.Mutex
	n      int
	at     int                   // the operation that fails, from 1; 0: none
	err    error                 // nil: a crash
	stays  bool                  // all that follow and need space fail too, as on a full disk
	before func(op, name string) // called before each operation; may be nil
	failed string                // what failed
	open   map[io.Closer]bool    // what a crash leaves to be closed
}

func (f *faults) step(op, name string) error {
	f.mu.Lock()
	f.n++
	n := f.n
	f.mu.Unlock()
	if f.before != nil {
		f.before(op, name)
	}
	follows := f.err == nil || f.stays && !slices.Contains([]string{"unlink", "rmdir", "chmod", "journal remove"}, op)
	if f.at > 0 && (n == f.at || n > f.at && follows) {
		f.failed = op + " " + name
		if f.err == nil {
			runtime.Goexit()
		}
		return &fs.PathError{Op: op, Path: name, Err: f.err}
	}
	return nil
}

// run calls what may crash. It must do all its operations in one goroutine.
func (f *faults) run(call func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	<-done
	for c := range f.open {
		c.Close()
	}
	f.open = nil
}

func (f *faults) opened(c io.Closer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = map[io.Closer]bool{}
	}
	f.open[c] = true
}

func (f *faults) closed(c io.Closer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, c)
}

// faultyFiles are those of the journal.
type faultyFiles struct {
	vfs.FS
	f *faults
}

func (x faultyFiles) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if err := x.f.step("journal open", name); err != nil {
		return nil, err
	}
	file, err := x.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	j := &faultyJournal{file, x.f}
	x.f.opened(j)
	return j, nil
}

func (x faultyFiles) Remove(name string) error {
	if err := x.f.step("journal remove", name); err != nil {
		return err
	}
	return x.FS.Remove(name)
}

func (x faultyFiles) SyncDir(string) error { return x.f.step("journal syncdir", "") }

type faultyJournal struct {
	vfs.File
	f *faults
}

// Write leaves half of the bytes behind when it fails, and when the process dies.
func (j *faultyJournal) Write(p []byte) (n int, err error) {
	whole := false
	defer func() {
		if !whole {
			n, _ = j.File.Write(p[:len(p)/2])
		}
	}()
	if err := j.f.step("journal write", ""); err != nil {
		return 0, err
	}
	whole = true
	return j.File.Write(p)
}

func (j *faultyJournal) Truncate(size int64) error {
	if err := j.f.step("journal truncate", ""); err != nil {
		return err
	}
	return j.File.Truncate(size)
}

func (j *faultyJournal) Sync() error { return j.f.step("journal sync", "") }

func (j *faultyJournal) Close() error {
	j.f.closed(j)
	return j.File.Close()
}

// wrapFS lets every operation go through f first.
func (f *faults) wrap(inner rootfs.FS) rootfs.FS { return &faultyFS{inner, f} }

type faultyFS struct {
	rootfs.FS
	f *faults
}

func (x *faultyFS) OpenDir(path string) (rootfs.Dir, error) {
	d, err := x.FS.OpenDir(path)
	if err != nil {
		return nil, err
	}
	return x.f.dir(d), nil
}

func (x *faultyFS) Sync() error {
	return x.f.step("sync", "")
}

// calm leaves the syncfs out: on a busy machine it waits for everybody's writes.
type calm struct{ rootfs.FS }

func (calm) Sync() error { return nil }

type faultyDir struct {
	rootfs.Dir
	f *faults
}

func (f *faults) dir(inner rootfs.Dir) *faultyDir {
	d := &faultyDir{inner, f}
	f.opened(d)
	return d
}

func (d *faultyDir) Close() error {
	d.f.closed(d)
	return d.Dir.Close()
}

func (d *faultyDir) Subdir(name string) (rootfs.Dir, error) {
	sub, err := d.Dir.Subdir(name)
	if err != nil {
		return nil, err
	}
	return d.f.dir(sub), nil
}

func (d *faultyDir) Create(name string) (rootfs.File, error) {
	if err := d.f.step("create", name); err != nil {
		return nil, err
	}
	f, err := d.Dir.Create(name)
	if err != nil {
		return nil, err
	}
	file := &faultyFile{f, d.f, name}
	d.f.opened(file)
	return file, nil
}

func (d *faultyDir) do(op, name string, call func() error) error {
	if err := d.f.step(op, name); err != nil {
		return err
	}
	return call()
}

func (d *faultyDir) Mkdir(name string) error {
	return d.do("mkdir", name, func() error { return d.Dir.Mkdir(name) })
}
func (d *faultyDir) Symlink(target, name string) error {
	return d.do("symlink", name, func() error { return d.Dir.Symlink(target, name) })
}
func (d *faultyDir) Rename(from, to string) error {
	return d.do("rename", to, func() error { return d.Dir.Rename(from, to) })
}
func (d *faultyDir) Exchange(a, b string) error {
	return d.do("exchange", b, func() error { return d.Dir.Exchange(a, b) })
}
func (d *faultyDir) Unlink(name string) error {
	return d.do("unlink", name, func() error { return d.Dir.Unlink(name) })
}
func (d *faultyDir) Rmdir(name string) error {
	return d.do("rmdir", name, func() error { return d.Dir.Rmdir(name) })
}
func (d *faultyDir) Chmod(name string, mode uint32) error {
	return d.do("chmod", name, func() error { return d.Dir.Chmod(name, mode) })
}
func (d *faultyDir) Chown(name string, uid, gid uint32) error {
	return d.do("chown", name, func() error { return d.Dir.Chown(name, uid, gid) })
}

type faultyFile struct {
	rootfs.File
	f    *faults
	name string
}

func (f *faultyFile) Close() error {
	f.f.closed(f)
	return f.File.Close()
}

// Write leaves half of the bytes behind when it fails, and when the process dies.
func (f *faultyFile) Write(p []byte) (n int, err error) {
	whole := false
	defer func() {
		if !whole {
			n, _ = f.File.Write(p[:len(p)/2])
		}
	}()
	if err := f.f.step("write", f.name); err != nil {
		return 0, err
	}
	whole = true
	return f.File.Write(p)
}

func (f *faultyFile) Chmod(mode uint32) error {
	if err := f.f.step("fchmod", f.name); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}
