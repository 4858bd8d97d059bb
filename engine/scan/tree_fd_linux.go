//go:build linux && (amd64 || arm64)

package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// cachedDirs is how many directories a worker keeps open.
const cachedDirs = 32

// fdOpener opens directories relative to their parents, so that no path is
// too long and no link is followed.
type fdOpener struct {
	root  int
	cache []*fdHandle // oldest first
	held  *node
	buf   []byte
	st    unix.Stat_t
}

type fdHandle struct {
	n  *node
	fd int
	o  *fdOpener
}

func (o *fdOpener) close() {
	for _, h := range o.cache {
		_ = unix.Close(h.fd)
	}
	o.cache = nil
}

func (o *fdOpener) cached(n *node) *fdHandle {
	for i := len(o.cache) - 1; i >= 0; i-- {
		if o.cache[i].n == n {
			return o.cache[i]
		}
	}
	return nil
}

func (o *fdOpener) hold(n *node) (handle, error) {
	o.held = n
	return o.open(n)
}

func (o *fdOpener) open(n *node) (handle, error) {
	if h := o.cached(n); h != nil {
		return h, nil
	}
	// From the nearest open ancestor, or from the root. What is neither is opened on the way.
	at := o.root
	var names []string
	for up := n; up.parent != nil; up = up.parent {
		names = append(names, up.name)
		if h := o.cached(up.parent); h != nil {
			at = h.fd
			break
		}
	}
	if len(names) == 0 {
		names = append(names, ".")
	}
	fd, err := openChain(at, names, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	h := &fdHandle{n: n, fd: fd, o: o}
	if len(o.cache) == cachedDirs {
		oldest := 0
		if o.cache[0].n == o.held {
			oldest = 1
		}
		_ = unix.Close(o.cache[oldest].fd)
		o.cache = slices.Delete(o.cache, oldest, oldest+1)
	}
	o.cache = append(o.cache, h)
	return h, nil
}

// openChain opens names[n-1]/…/names[0] below at, following no link. Several
// components are opened by one call where the kernel can (openat2, Linux 5.6).
func openChain(at int, names []string, flags int) (int, error) {
	const step = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	flags |= unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	from := at
	how := unix.OpenHow{Resolve: unix.RESOLVE_NO_SYMLINKS}
	simple := len(names) == 1
	for i := len(names); i > 0; {
		// Take as many components as fit a path.
		last := i - 1
		size := len(names[last])
		for !simple && last > 0 && size+1+len(names[last-1]) < unix.PathMax-1 {
			last--
			size += 1 + len(names[last])
		}
		mode := step
		if last == 0 {
			mode = flags
		}
		var fd int
		var err error
		if simple {
			fd, err = openAt(from, names[last], mode)
		} else {
			parts := slices.Clone(names[last:i])
			slices.Reverse(parts)
			how.Flags = uint64(mode)
			fd, err = unix.Openat2(from, strings.Join(parts, "/"), &how)
			if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
				simple = true // an old kernel, or a sandbox: one by one
				continue
			}
			if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
				continue
			}
		}
		if from != at {
			_ = unix.Close(from)
		}
		if err != nil {
			return -1, err
		}
		from, i = fd, last
	}
	return from, nil
}

func openAt(at int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(at, name, flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func (h *fdHandle) stat() (s stat, err error) {
	var st unix.Stat_t
	err = unix.Fstat(h.fd, &st)
	fillStat(&s, &st)
	return s, err
}

func (h *fdHandle) lstat(name string) (s stat, err error) {
	if len(name) >= len(h.o.buf) {
		return s, unix.ENAMETOOLONG
	}
	h.o.buf[copy(h.o.buf, name)] = 0 // a string of its own for each name would cost more than a tenth of the look
	if errno := rawLstatAt(h.fd, &h.o.buf[0], &h.o.st); errno != 0 {
		return s, errno
	}
	fillStat(&s, &h.o.st)
	return s, nil
}

func fillStat(s *stat, st *unix.Stat_t) {
	*s = stat{
		size: st.Size, ino: st.Ino, dev: uint64(st.Dev), mode: st.Mode, links: uint64(st.Nlink),
		mtime: int64(st.Mtim.Sec), mtimeNs: int64(st.Mtim.Nsec),
		ctime: int64(st.Ctim.Sec), ctimeNs: int64(st.Ctim.Nsec),
	}
}

func (h *fdHandle) readlink(name string) (string, error) {
	for size := 256; ; size *= 4 {
		b := make([]byte, size)
		n, err := unix.Readlinkat(h.fd, name, b)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(b[:n]), nil
		}
	}
}

func (h *fdHandle) openFile(name, shown string) (*os.File, stat, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
	fd, err := openAt(h.fd, name, flags|unix.O_NOATIME)
	if err == unix.EPERM { // not ours, so its access time cannot be left alone
		fd, err = openAt(h.fd, name, flags)
	}
	if err != nil {
		return nil, stat{}, err
	}
	var st unix.Stat_t
	var s stat
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return nil, s, err
	}
	fillStat(&s, &st)
	if !s.regular() {
		_ = unix.Close(fd)
		return nil, s, nil
	}
	// os.File would ask the poller about a descriptor that does not block.
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, 0)
	return os.NewFile(uintptr(fd), shown), s, nil
}

func (h *fdHandle) fstat(f *os.File) (s stat, err error) {
	var st unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &st)
	fillStat(&s, &st)
	return s, err
}

// direntName is where the name begins in what getdents gives: after the inode
// (8 bytes), the offset (8), the record's length (2) and the type (1).
const direntName = 19

func (h *fdHandle) list() ([]dirent, error) {
	if _, err := unix.Seek(h.fd, 0, 0); err != nil {
		return nil, err
	}
	type span struct {
		from, to int
		mode     uint32
	}
	var spans []span
	var arena []byte
	for {
		n, err := unix.Getdents(h.fd, h.o.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		for rest := h.o.buf[:n]; len(rest) > 0; {
			if len(rest) < direntName {
				return nil, unix.EIO
			}
			size := int(binary.NativeEndian.Uint16(rest[16:]))
			if size < direntName || size > len(rest) {
				return nil, unix.EIO
			}
			typ, name := rest[18], rest[direntName:size]
			if nul := bytes.IndexByte(name, 0); nul >= 0 {
				name = name[:nul]
			}
			if s := string(name); s != "." && s != ".." && s != "" {
				spans = append(spans, span{len(arena), len(arena) + len(name), uint32(typ) << 12})
				arena = append(arena, name...)
			}
			rest = rest[size:]
		}
	}
	text := string(arena)
	list := make([]dirent, len(spans))
	for i, s := range spans {
		list[i] = dirent{text[s.from:s.to], s.mode}
	}
	slices.SortFunc(list, func(a, b dirent) int { return strings.Compare(a.name, b.name) })
	return list, nil
}
