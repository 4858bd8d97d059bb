//go:build linux && (amd64 || arm64)

package scan

import (
	"golang.org/x/sys/unix"
)

// system gives the ways to look at the tree below root.
func system(root string, portable bool) (newLooker func(*Cache) looker, newOpener func() opener, done func(), err error) {
	if portable {
		newLooker, newOpener, done = portableSystem(root)
		return newLooker, newOpener, done, nil
	}
	fd, err := openAt(unix.AT_FDCWD, root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return nil, nil, nil, err
	}
	return func(h *Cache) looker { return &fdLooker{h: h, root: fd, stack: make([]openDir, 0, openDirs)} },
		func() opener { return &fdOpener{root: fd, buf: make([]byte, 64<<10)} },
		func() { _ = unix.Close(fd) }, nil
}
