package rootfs

import (
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// maxPath is how much of a path is given to one openat2: PATH_MAX is 4096 with
// the NUL.
const maxPath = 4000

type linuxFS struct {
	root  *linuxDir
	mount uint64 // 0: the kernel does not tell
	dev   uint64
	walk  bool // no openat2: component by component
}

// Open opens the project's root. dir itself may be a link; nothing below is followed.
func Open(dir string) (FS, error) { return openLinux(dir, false) }

func openLinux(dir string, walk bool) (*linuxFS, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	f := &linuxFS{walk: walk}
	f.root = &linuxDir{fs: f, fd: fd}
	info, err := f.root.Stat()
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	f.dev = info.Dev
	f.mount, _ = mountAt(fd, "")
	return f, nil
}

func (f *linuxFS) Close() error { return f.root.Close() }

func (f *linuxFS) Sync() error {
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.root.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return &fs.PathError{Op: "syncfs", Path: ".", Err: err}
	}
	defer unix.Close(fd)
	if err := unix.Syncfs(fd); err != nil {
		return &fs.PathError{Op: "syncfs", Path: ".", Err: err}
	}
	return nil
}

func (f *linuxFS) OpenDir(path string) (Dir, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	if path == "" {
		fd, err := unix.FcntlInt(uintptr(f.root.fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return &linuxDir{fs: f, fd: fd}, nil
	}
	at, rest := f.root.fd, path
	for {
		part := rest
		if len(part) > maxPath {
			part = part[:strings.LastIndexByte(part[:maxPath], '/')]
		}
		fd, err := f.openBeneath(at, part)
		if at != f.root.fd {
			unix.Close(at)
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		if part == rest {
			return &linuxDir{fs: f, fd: fd, path: path}, nil
		}
		at, rest = fd, rest[len(part)+1:]
	}
}

// openBeneath opens the directory rel below at.
func (f *linuxFS) openBeneath(at int, rel string) (int, error) {
	if !f.walk {
		how := unix.OpenHow{
			Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV,
		}
		fd, err := retry(func() (int, error) { return unix.Openat2(at, rel, &how) })
		// A kernel before 5.6 has no openat2; a sandbox's filter may answer EPERM for it.
		if err != unix.ENOSYS && err != unix.EPERM {
			return fd, f.explain(at, rel, err)
		}
	}
	fd := at
	for rest, more := rel, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		next, err := retry(func() (int, error) {
			return unix.Openat(fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		})
		if err != nil {
			err = f.explain(fd, name, err)
		}
		if fd != at {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		if f.mounted(next, "") {
			unix.Close(next)
			return -1, ErrMount
		}
		fd = next
	}
	return fd, nil
}

// explain turns the kernel's answer to the opening of a directory into ours.
// O_DIRECTORY with O_NOFOLLOW says ENOTDIR for a link too.
func (f *linuxFS) explain(at int, rel string, err error) error {
	switch err {
	case unix.ELOOP:
		return ErrLink
	case unix.EXDEV:
		return ErrMount
	case unix.ENOTDIR:
		if !strings.Contains(rel, "/") {
			var st unix.Stat_t
			if unix.Fstatat(at, rel, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
				return ErrLink
			}
		}
		return ErrNotDir
	}
	return err
}

func retry(call func() (int, error)) (int, error) {
	for range 1000 { // EAGAIN: renames beside the look-up made it uncertain
		n, err := call()
		if err != unix.EINTR && err != unix.EAGAIN {
			return n, err
		}
	}
	return -1, unix.EAGAIN
}

func infoOf(st *unix.Stat_t) Info {
	i := Info{
		Mode: st.Mode & 0o7777, Size: st.Size,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(),
		Dev: st.Dev, Ino: st.Ino, Nlink: uint64(st.Nlink), UID: st.Uid, GID: st.Gid,
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		i.Kind = Regular
	case unix.S_IFDIR:
		i.Kind = Directory
	case unix.S_IFLNK:
		i.Kind = Link
	case unix.S_IFIFO:
		i.Kind = FIFO
	case unix.S_IFSOCK:
		i.Kind = Socket
	default:
		i.Kind = Device
	}
	return i
}

// unsupported reports whether a renameat2 flag is not to be had here.
func unsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP)
}
