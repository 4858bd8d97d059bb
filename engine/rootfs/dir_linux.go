package rootfs

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// linuxDir is a directory held by an O_PATH descriptor: it needs no read
// permission, and the names below are looked up in the directory itself,
// wherever it may have been moved.
type linuxDir struct {
	fs   *linuxFS
	fd   int
	path string
}

func (d *linuxDir) Path() string { return d.path }
func (d *linuxDir) Close() error { return unix.Close(d.fd) }

func (d *linuxDir) fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: Join(d.path, name), Err: d.denied(err, name)}
}

func (d *linuxDir) Stat() (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	return infoOf(&st), nil
}

func (d *linuxDir) Lstat(name string) (Info, error) {
	if err := CheckName(name); err != nil {
		return Info{}, err
	}
	return d.lstat(name)
}

func (d *linuxDir) lstat(name string) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Info{}, d.fail("lstat", name, err)
	}
	return infoOf(&st), nil
}

func (d *linuxDir) Mounted(name string) bool { return d.fs.mounted(d.fd, name) }

func (d *linuxDir) HasGit() bool {
	_, err := d.lstat(".git")
	return err == nil
}

func (d *linuxDir) Names() ([]string, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "list", Path: d.path, Err: err}
	}
	defer unix.Close(fd)
	var names []string
	buf := make([]byte, 16<<10)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "list", Path: d.path, Err: err}
		}
		if n <= 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

func (d *linuxDir) OpenFile(name string) (*os.File, Info, error) {
	if err := CheckName(name); err != nil {
		return nil, Info{}, err
	}
	fd, err := retry(func() (int, error) {
		// O_NONBLOCK: opening a FIFO must not wait for a writer.
		return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	})
	switch err {
	case nil:
	case unix.ELOOP:
		return nil, Info{}, d.fail("open", name, ErrLink)
	case unix.ENXIO: // a socket
		return nil, Info{}, d.fail("open", name, ErrNotRegular)
	default:
		return nil, Info{}, d.fail("open", name, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, Info{}, d.fail("stat", name, err)
	}
	info := infoOf(&st)
	switch {
	case info.Kind != Regular:
		unix.Close(fd)
		return nil, Info{}, d.fail("open", name, ErrNotRegular)
	case d.fs.mounted(fd, ""): // a file mounted over
		unix.Close(fd)
		return nil, Info{}, d.fail("open", name, ErrMount)
	}
	// It is a regular file: O_NONBLOCK has done its work, and would make os.File
	// try the poller.
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, 0); err != nil {
		unix.Close(fd)
		return nil, Info{}, d.fail("open", name, err)
	}
	return os.NewFile(uintptr(fd), name), info, nil
}

func (d *linuxDir) Readlink(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(d.fd, name, buf)
		if err != nil {
			return "", d.fail("readlink", name, err)
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

func (d *linuxDir) Subdir(name string) (Dir, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	fd, err := d.fs.openBeneath(d.fd, name)
	if err != nil {
		return nil, d.fail("open", name, err)
	}
	return &linuxDir{fs: d.fs, fd: fd, path: Join(d.path, name)}, nil
}

func (d *linuxDir) Create(name string) (File, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return nil, d.fail("create", name, err)
	}
	return &linuxFile{fd: fd, name: name}, nil
}

func (d *linuxDir) Mkdir(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return d.fail("mkdir", name, unix.Mkdirat(d.fd, name, 0o700))
}

func (d *linuxDir) Symlink(target, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return d.fail("symlink", name, unix.Symlinkat(target, d.fd, name))
}

func (d *linuxDir) Unlink(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return d.fail("unlink", name, unix.Unlinkat(d.fd, name, 0))
}

func (d *linuxDir) Rmdir(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return d.fail("rmdir", name, unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR))
}

func (d *linuxDir) Chmod(name string, mode uint32) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if d.Mounted(name) {
		return d.fail("chmod", name, ErrMount)
	}
	err := unix.Fchmodat(d.fd, name, mode, unix.AT_SYMLINK_NOFOLLOW)
	if err != unix.EOPNOTSUPP && err != unix.ENOSYS {
		return d.fail("chmod", name, err)
	}
	// Before Linux 6.6 there is no fchmodat2: hold the inode, look at it, and
	// change the mode of just this inode.
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return d.fail("chmod", name, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return d.fail("chmod", name, err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return d.fail("chmod", name, ErrLink)
	}
	return d.fail("chmod", name, unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), mode))
}

func (d *linuxDir) Chown(name string, uid, gid uint32) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return d.fail("chown", name, unix.Fchownat(d.fd, name, int(uid), int(gid), unix.AT_SYMLINK_NOFOLLOW))
}
