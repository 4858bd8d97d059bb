//go:build linux && (amd64 || arm64)

package scan

import (
	"golang.org/x/sys/unix"
)

// system gives the ways to look at the tree below root.
func system(root string, portable bool) (newChecker func(*verifier) checker, newOpener func() opener, done func(), err error) {
	if portable {
		newChecker, newOpener, done = portableSystem(root)
		return newChecker, newOpener, done, nil
	}
	fd, err := openAt(unix.AT_FDCWD, root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return nil, nil, nil, err
	}
	return func(v *verifier) checker { return newFDChecker(v, fd) },
		func() opener { return newFDOpener(fd) },
		func() { _ = unix.Close(fd) }, nil
}
