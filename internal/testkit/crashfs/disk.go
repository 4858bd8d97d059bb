//go:build unix

package crashfs

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Load brings in what is below a directory of the operating system, as durable.
// Hard links stay links.
func (f *FS) Load(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	type identity struct{ device, number uint64 }
	known := map[identity]*inode{}
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		i := &inode{mode: info.Mode()}
		switch {
		case info.Mode().IsRegular():
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				id := identity{uint64(st.Dev), st.Ino}
				if known[id] != nil {
					i = known[id]
					break
				}
				known[id] = i
			}
			i.data, err = os.ReadFile(name)
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(name)
			i.data = []byte(target)
		case !info.IsDir():
			err = fmt.Errorf("%s is neither file, directory nor link", name)
		}
		i.durable = bytes.Clone(i.data)
		f.names[name], f.durable[name] = i, i
		return err
	})
}

// Store makes a directory of the operating system hold what f has below it. The
// directory itself stays as it is.
func (f *FS) Store(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	there, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range there {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	first := map[*inode]string{}
	var dirs []string
	for _, name := range sortedKeys(f.names) {
		if rel, err := filepath.Rel(dir, name); err != nil || !filepath.IsLocal(rel) || rel == "." {
			continue
		}
		i := f.names[name]
		var err error
		switch {
		case i.mode.IsDir():
			dirs = append(dirs, name)
			err = os.Mkdir(name, 0o700)
		case i.mode&fs.ModeSymlink != 0:
			err = os.Symlink(string(i.data), name)
		case first[i] != "":
			err = os.Link(first[i], name)
		default:
			first[i] = name
			if err = os.WriteFile(name, i.data, 0o600); err == nil {
				err = os.Chmod(name, i.mode.Perm())
			}
		}
		if err != nil {
			return err
		}
	}
	for _, name := range dirs { // now that nothing comes into them any more
		if err := os.Chmod(name, f.names[name].mode.Perm()); err != nil {
			return err
		}
	}
	return nil
}
