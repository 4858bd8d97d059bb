package scan

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/rootfs"
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

// statOf is what package os knows of a path. Where the system has no change time, that of the content is used instead: an
// edit that resets it goes unnoticed.
func statOf(info os.FileInfo) stat {
	i := rootfs.InfoOf(info)
	m, c := time.Unix(0, i.Mtime), time.Unix(0, cmp.Or(i.Ctime, i.Mtime))
	return stat{
		size: i.Size, ino: i.Ino, dev: i.Dev, mode: typeOf(info.Mode()) | i.Mode, links: i.Nlink,
		mtime: m.Unix(), mtimeNs: int64(m.Nanosecond()), ctime: c.Unix(), ctimeNs: int64(c.Nanosecond()),
	}
}

// foreign reports whether a file is another user's. Root, who gives all that it
// makes to the owner of the store, takes anybody's. A system without inodes does not tell.
func foreign(info os.FileInfo) bool {
	i := rootfs.InfoOf(info)
	return i.Ino != 0 && os.Geteuid() != 0 && int(i.UID) != os.Geteuid()
}

func portableSystem(root string) (func(*Cache) looker, func() opener, func()) {
	return func(h *Cache) looker { return &pathLooker{h: h, root: root} },
		func() opener { return pathOpener{root} },
		func() {}
}
