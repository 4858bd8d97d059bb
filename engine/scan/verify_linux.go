//go:build linux && (amd64 || arm64)

package scan

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openDirs is how many directories of the path to the current one a checker keeps open.
const openDirs = 48

// fdChecker is the checker for Linux. Names go to the kernel straight from
// the image, where they end with NUL. Looking is done by raw system calls:
// telling the scheduler costs a tenth of the whole scan. Opening a directory is an ordinary
// one, since that is where a file system that does not answer hangs, and then
// the rest of the process must go on.
type fdChecker struct {
	findings
	root  int
	stack []openDir // the way down to the directory at hand, the last ones of it
	st    unix.Stat_t
}

type openDir struct {
	ord int32
	fd  int
}

func newFDChecker(v *verifier, root int) checker {
	return &fdChecker{findings: findings{v: v}, root: root, stack: make([]openDir, 0, openDirs)}
}

func (c *fdChecker) close() {
	for _, d := range c.stack {
		rawClose(d.fd)
	}
	c.stack = c.stack[:0]
}

func (c *fdChecker) check(ord int32, from, to int) {
	v := c.v
	b, ok := v.h.block(ord)
	if !ok {
		c.bad = append(c.bad, ord)
		return
	}
	fd := c.open(ord)
	if fd < 0 {
		c.bad = append(c.bad, ord)
		return
	}
	var s stat
	if from == 0 {
		errno := rawFstat(fd, &c.st)
		fill(&s, &c.st)
		if errno != 0 || !v.trust.unchanged(&s, v.h.dirs[ord].fp) {
			c.bad = append(c.bad, ord)
			return
		}
		if v.lateSet && s.after(v.late) {
			c.late = append(c.late, entryRef{ord, -1})
		}
	}
	tail := b.tail
	for i := range to {
		nul := bytes.IndexByte(tail, 0)
		if nul < 0 {
			c.bad = append(c.bad, ord)
			return
		}
		name := tail
		tail = tail[nul+1:]
		if i < from {
			continue
		}
		compare, again := compared(b.kinds[i])
		if compare {
			errno := rawLstatAt(fd, &name[0], &c.st)
			fill(&s, &c.st)
			again = errno != 0 || !v.trust.unchanged(&s, b.slot(i))
			if v.lateSet && !again && s.after(v.late) {
				c.late = append(c.late, entryRef{ord, int32(i)})
			}
		}
		if again {
			c.stale = append(c.stale, entryRef{ord, int32(i)})
		}
		if i&0xff == 0xff && v.stop.Load() {
			return
		}
	}
}

// open returns a descriptor that stays open until the next call, or -1.
func (c *fdChecker) open(ord int32) int {
	if ord == 0 {
		return c.root
	}
	dirs := c.v.h.dirs
	parent := dirs[ord].parent
	for len(c.stack) > 0 {
		top := c.stack[len(c.stack)-1]
		if top.ord == ord {
			return top.fd
		}
		if top.ord == parent {
			break
		}
		rawClose(top.fd)
		c.stack = c.stack[:len(c.stack)-1]
	}
	at := c.root
	if len(c.stack) > 0 {
		at = c.stack[len(c.stack)-1].fd
	} else if parent > 0 {
		if at = c.descend(parent); at < 0 {
			return -1
		}
		c.push(parent, at)
	}
	b, ok := c.v.h.block(ord)
	if !ok {
		return -1
	}
	// The name is followed by its NUL. A path of the hostile kind is opened for status only.
	name := b.name[:len(b.name)+1]
	fd, errno := rawOpenAt(at, &name[0], unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if errno != 0 {
		return -1
	}
	c.push(ord, fd)
	return fd
}

func (c *fdChecker) push(ord int32, fd int) {
	if len(c.stack) == openDirs {
		rawClose(c.stack[0].fd)
		c.stack = c.stack[:copy(c.stack, c.stack[1:])]
	}
	c.stack = append(c.stack, openDir{ord, fd})
}

// descend opens a directory from the root on.
func (c *fdChecker) descend(ord int32) int {
	var names []string
	for ; ord > 0; ord = c.v.h.dirs[ord].parent {
		b, ok := c.v.h.block(ord)
		if !ok {
			return -1
		}
		names = append(names, unsafe.String(unsafe.SliceData(b.name), len(b.name)))
	}
	fd, err := openChain(c.root, names, unix.O_PATH)
	if err != nil {
		return -1
	}
	return fd
}

func fill(s *stat, st *unix.Stat_t) {
	*s = stat{
		size: st.Size, mtime: st.Mtim.Sec, mtimeNs: st.Mtim.Nsec, ctime: st.Ctim.Sec, ctimeNs: st.Ctim.Nsec,
		ino: st.Ino, dev: st.Dev, mode: st.Mode,
	}
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
