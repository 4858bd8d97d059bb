package rootfs

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// unsynced are the files that were written since the last Sync, by their present
// paths. Where there is no syncfs, they are what it has to make durable.
type unsynced struct {
	mu    sync.Mutex
	paths map[string]bool
	sync  func(*os.File) error // toDevice
}

func (u *unsynced) add(path string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.paths == nil {
		u.paths = map[string]bool{}
	}
	u.paths[path] = true
}

// move follows a rename, of a file or of a directory that holds some.
func (u *unsynced) move(from, to string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.rename(map[string]string{from: to})
}

func (u *unsynced) exchange(a, b string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.rename(map[string]string{a: b, b: a})
}

func (u *unsynced) rename(names map[string]string) {
	for _, path := range slices.Collect(maps.Keys(u.paths)) {
		for from, to := range names {
			if rest, ok := strings.CutPrefix(path, from); ok && (rest == "" || rest[0] == '/') {
				delete(u.paths, path)
				defer func() { u.paths[to+rest] = true }() // after all that make way for it
				break
			}
		}
	}
}

// Sync makes what was written durable: each file, then the directories with their
// names, and what the drive holds back of all of them at once.
func (f *portableFS) Sync() error {
	f.written.mu.Lock()
	defer f.written.mu.Unlock()
	if len(f.written.paths) == 0 {
		return nil
	}
	byDir := map[string][]string{}
	for path := range f.written.paths {
		i := strings.LastIndexByte(path, '/')
		dir := path[:max(i, 0)]
		byDir[dir] = append(byDir[dir], path[i+1:])
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		if err := f.syncDir(dir, byDir[dir]); err != nil {
			return err
		}
	}
	root, err := f.root.Open(".")
	if err != nil {
		return &fs.PathError{Op: "sync", Path: ".", Err: err}
	}
	defer root.Close()
	if err := unlessUnsupported(root.Sync()); err != nil {
		return &fs.PathError{Op: "sync", Path: ".", Err: err}
	}
	clear(f.written.paths)
	return nil
}

func (f *portableFS) syncDir(path string, names []string) error {
	dir, err := f.OpenDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it went, with what was in it
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, name := range names {
		file, _, err := dir.OpenFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = f.written.sync(file)
		file.Close()
		if err != nil {
			return dir.(*portableDir).fail("sync", name, err)
		}
	}
	at, err := dir.(*portableDir).root.Open(".")
	if err != nil {
		return dir.(*portableDir).fail("sync", ".", err)
	}
	defer at.Close()
	return dir.(*portableDir).fail("sync", ".", unlessUnsupported(f.written.sync(at)))
}

// unlessUnsupported drops the errors of systems and file systems that do not sync directories.
func unlessUnsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
