package scan

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pathOpener is the opener for every system: everything by path.
type pathOpener struct{ root string }

type pathHandle struct{ dir string }

func (o pathOpener) close() {}

func (o pathOpener) hold(n *node) (handle, error) { return o.open(n) }

func (o pathOpener) open(n *node) (handle, error) {
	dir := o.root
	if p := n.path(); p != "" {
		dir = filepath.Join(dir, filepath.FromSlash(p))
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotDir
	}
	return pathHandle{dir}, nil
}

func (h pathHandle) join(name string) string { return h.dir + string(os.PathSeparator) + name }

func (h pathHandle) stat() (stat, error) { return lstatPath(h.dir) }

func (h pathHandle) lstat(name string) (stat, error) { return lstatPath(h.join(name)) }

func (h pathHandle) readlink(name string) (string, error) { return os.Readlink(h.join(name)) }

func (h pathHandle) list() ([]dirent, error) {
	found, err := os.ReadDir(h.dir)
	if err != nil {
		return nil, err
	}
	list := make([]dirent, len(found))
	for i, e := range found {
		list[i] = dirent{e.Name(), typeOf(e.Type())}
	}
	slices.SortFunc(list, func(a, b dirent) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// openFile looks, opens, and looks whether it opened what it saw: there is no
// portable way to open without following a link or without waiting.
func (h pathHandle) openFile(name, _ string) (*os.File, stat, error) {
	for try := 1; ; try++ {
		seen, err := os.Lstat(h.join(name))
		if err != nil {
			return nil, stat{}, err
		}
		if !seen.Mode().IsRegular() {
			return nil, statOf(seen), nil
		}
		f, err := os.Open(h.join(name))
		if err != nil {
			return nil, stat{}, err
		}
		info, err := f.Stat()
		if err == nil && os.SameFile(seen, info) {
			return f, statOf(info), nil
		}
		_ = f.Close()
		if err == nil && try == attempts {
			err = errReplaced
		}
		if err != nil {
			return nil, stat{}, err
		}
	}
}

// errReplaced says that a name led to another file each time that it was looked at.
var errReplaced = errors.New("it keeps being replaced")

func (h pathHandle) fstat(f *os.File) (stat, error) {
	info, err := f.Stat()
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

// typeOf translates a file type to that of st_mode.
func typeOf(m os.FileMode) uint32 {
	switch m.Type() {
	case 0:
		return modeRegular
	case os.ModeDir:
		return modeDir
	case os.ModeSymlink:
		return modeSymlink
	case os.ModeNamedPipe:
		return modeFIFO
	case os.ModeSocket:
		return modeSocket
	}
	return 0o020000 // a device, or what is none of these
}

// modeOf translates a mode to st_mode.
func modeOf(m os.FileMode) uint32 {
	mode := uint32(m.Perm()) | typeOf(m)
	if m&os.ModeSetuid != 0 {
		mode |= 0o4000
	}
	if m&os.ModeSetgid != 0 {
		mode |= 0o2000
	}
	if m&os.ModeSticky != 0 {
		mode |= 0o1000
	}
	return mode
}

func portableSystem(root string) (func(*Cache) looker, func() opener, func()) {
	return func(h *Cache) looker { return &pathLooker{h: h, root: root} },
		func() opener { return pathOpener{root} },
		func() {}
}
