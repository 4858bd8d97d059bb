//go:build linux || darwin

package restore

import (
	"io/fs"
	"slices"
	"sync"

	"rewind/engine/rootfs"
)

// faults counts the operations that change something, and fails one of them,
// or, as a crash does, that one and all that follow.
type faults struct {
	mu     sync.Mutex
	n      int
	at     int // the operation that fails, from 1; 0: none
	err    error
	stays  bool                  // all that follow and need space fail too, as on a full disk
	before func(op, name string) // called before each operation; may be nil
	failed string                // what failed
}

func (f *faults) step(op, name string) error {
	f.mu.Lock()
	f.n++
	n := f.n
	f.mu.Unlock()
	if f.before != nil {
		f.before(op, name)
	}
	follows := f.err == errCrash || f.stays && !slices.Contains([]string{"unlink", "rmdir", "chmod", "journal remove"}, op)
	if f.at > 0 && (n == f.at || n > f.at && follows) {
		f.failed = op + " " + name
		return &fs.PathError{Op: op, Path: name, Err: f.err}
	}
	return nil
}

// hook is the seam of the journal.
func (f *faults) hook(step string) error { return f.step(step, "journal") }

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
	return &faultyDir{d, x.f}, nil
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

func (d *faultyDir) Subdir(name string) (rootfs.Dir, error) {
	sub, err := d.Dir.Subdir(name)
	if err != nil {
		return nil, err
	}
	return &faultyDir{sub, d.f}, nil
}

func (d *faultyDir) Create(name string) (rootfs.File, error) {
	if err := d.f.step("create", name); err != nil {
		return nil, err
	}
	f, err := d.Dir.Create(name)
	if err != nil {
		return nil, err
	}
	return &faultyFile{f, d.f, name}, nil
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

// Write leaves half of the bytes behind when it fails.
func (f *faultyFile) Write(p []byte) (int, error) {
	if err := f.f.step("write", f.name); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *faultyFile) Chmod(mode uint32) error {
	if err := f.f.step("fchmod", f.name); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}
