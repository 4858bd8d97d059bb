package crashfs

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"
)

// Symlink makes name a symbolic link.
func (f *FS) Symlink(target, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.change(map[string]*inode{filepath.Clean(name): {data: []byte(target), durable: []byte(target), mode: fs.ModeSymlink | 0o777}})
}

// Exchange swaps what two names mean, in one step.
func (f *FS) Exchange(a, b string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := map[string]*inode{}
	f.move(names, a, b)
	f.move(names, b, a)
	f.change(names)
}

// move notes in names that a file, or a directory with all below, has a new
// name. It wants the lock.
func (f *FS) move(names map[string]*inode, from, to string) {
	for n, i := range f.names {
		if rest, below := strings.CutPrefix(n, from); below && (rest == "" || rest[0] == filepath.Separator) {
			if _, taken := names[n]; !taken {
				names[n] = nil
			}
			names[to+rest] = i
		}
	}
}

// Chmod changes the permission bits. That is durable at once.
func (f *FS) Chmod(name string, perm fs.FileMode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.names[filepath.Clean(name)]; i != nil {
		i.mode = i.mode.Type() | perm
	}
}

// Sync makes everything durable.
func (f *FS) Sync() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range f.names {
		i.durable = bytes.Clone(i.data)
	}
	f.syncNames()
}

// Content gives the files below a directory: content, or "-> " and the target of a link.
func (f *FS) Content(dir string) map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]string{}
	for name, i := range f.names {
		rel, err := filepath.Rel(dir, name)
		switch {
		case err != nil || !filepath.IsLocal(rel) || rel == ".":
		case i.mode.IsRegular():
			all[rel] = string(i.data)
		case i.mode&fs.ModeSymlink != 0:
			all[rel] = "-> " + string(i.data)
		}
	}
	return all
}
