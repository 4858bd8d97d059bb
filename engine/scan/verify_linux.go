//go:build linux && (amd64 || arm64)

package scan

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// openDirs is how many directories of the path to the current one a checker keeps open.
const openDirs = 48

// fdLooker is the looker for Linux. Names go to the kernel straight from
// the image, where they end with NUL. Looking is done by raw system calls:
// telling the scheduler costs a tenth of the whole scan. Opening a directory is an ordinary
// one, since that is where a file system that does not answer hangs, and then
// the rest of the process must go on.
type fdLooker struct {
	h     *Cache
	root  int
	dir   int       // the one at hand
	stack []openDir // the way down to it, the last ones
	st    unix.Stat_t
}

type openDir struct {
	ord int32
	fd  int
}

func (l *fdLooker) close() {
	for _, d := range l.stack {
		rawClose(d.fd)
	}
	l.stack = l.stack[:0]
}

func (l *fdLooker) enter(ord int32) bool {
	l.dir = l.open(ord)
	return l.dir >= 0
}

func (l *fdLooker) self(s *stat) bool {
	errno := rawFstat(l.dir, &l.st)
	fillStat(s, &l.st)
	return errno == 0
}

func (l *fdLooker) entry(name []byte, s *stat) bool {
	errno := rawLstatAt(l.dir, unsafe.SliceData(name), &l.st)
	fillStat(s, &l.st)
	return errno == 0
}

// open returns a descriptor that stays open until the next call, or -1.
func (l *fdLooker) open(ord int32) int {
	if ord == 0 {
		return l.root
	}
	dirs := l.h.dirs
	parent := dirs[ord].parent
	for len(l.stack) > 0 {
		top := l.stack[len(l.stack)-1]
		if top.ord == ord {
			return top.fd
		}
		if top.ord == parent {
			break
		}
		rawClose(top.fd)
		l.stack = l.stack[:len(l.stack)-1]
	}
	at := l.root
	if len(l.stack) > 0 {
		at = l.stack[len(l.stack)-1].fd
	} else if parent > 0 {
		if at = l.descend(parent); at < 0 {
			return -1
		}
		l.push(parent, at)
	}
	b, ok := l.h.block(ord)
	if !ok {
		return -1
	}
	// The name is followed by its NUL. A path of the hostile kind is opened for status only.
	name := b.name[:len(b.name)+1]
	fd, errno := rawOpenAt(at, &name[0], unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if errno != 0 {
		return -1
	}
	l.push(ord, fd)
	return fd
}

func (l *fdLooker) push(ord int32, fd int) {
	if len(l.stack) == openDirs {
		rawClose(l.stack[0].fd)
		l.stack = l.stack[:copy(l.stack, l.stack[1:])]
	}
	l.stack = append(l.stack, openDir{ord, fd})
}

// descend opens a directory from the root on.
func (l *fdLooker) descend(ord int32) int {
	var names []string
	for ; ord > 0; ord = l.h.dirs[ord].parent {
		b, ok := l.h.block(ord)
		if !ok {
			return -1
		}
		names = append(names, unsafe.String(unsafe.SliceData(b.name), len(b.name)))
	}
	fd, err := openChain(l.root, names, unix.O_PATH)
	if err != nil {
		return -1
	}
	return fd
}

func rawLstatAt(fd int, name *byte, st *unix.Stat_t) unix.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_NEWFSTATAT, uintptr(fd), uintptr(unsafe.Pointer(name)),
		uintptr(unsafe.Pointer(st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	return errno
}

func rawFstat(fd int, st *unix.Stat_t) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(st)), 0)
	return errno
}

func rawOpenAt(fd int, name *byte, flags int) (int, unix.Errno) {
	for {
		got, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(fd), uintptr(unsafe.Pointer(name)), uintptr(flags), 0, 0, 0)
		if errno != unix.EINTR {
			return int(got), errno
		}
	}
}

func rawClose(fd int) { _, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }
