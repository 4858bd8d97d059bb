package rootfs

import (
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// linuxFile is a new file by its bare descriptor: os.File would cost two more
// system calls and a finalizer per file.
type linuxFile struct {
	fd   int
	name string
}

func (f *linuxFile) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

func (f *linuxFile) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Write(f.fd, p[done:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, f.fail("write", err)
		}
		if n == 0 {
			return done, f.fail("write", io.ErrShortWrite)
		}
		done += n
	}
	return done, nil
}

func (f *linuxFile) Chmod(mode uint32) error { return f.fail("chmod", unix.Fchmod(f.fd, mode)) }
func (f *linuxFile) Chown(uid, gid uint32) error {
	return f.fail("chown", unix.Fchown(f.fd, int(uid), int(gid)))
}
func (f *linuxFile) Close() error { return f.fail("close", unix.Close(f.fd)) }

func (f *linuxFile) Stat() (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return Info{}, f.fail("stat", err)
	}
	return infoOf(&st), nil
}

func (f *linuxFile) SetAttrs(a Attrs) error {
	for name, value := range a {
		err := unix.Fsetxattr(f.fd, name, value, 0)
		switch err {
		case nil, unix.EPERM, unix.EACCES, unix.EOPNOTSUPP:
			// Security labels and attributes of other name spaces are the
			// system's to give; what it refuses it has given already.
		default:
			return f.fail("setxattr", err)
		}
	}
	return nil
}

// ReadAttrs reads the extended attributes of an open file, nil if it has none.
func ReadAttrs(f *os.File) (Attrs, error) {
	fd := int(f.Fd())
	n, err := unix.Flistxattr(fd, nil)
	if n <= 0 || err != nil {
		if err == unix.EOPNOTSUPP {
			err = nil
		}
		return nil, err
	}
	list := make([]byte, n)
	if n, err = unix.Flistxattr(fd, list); err != nil {
		return nil, err
	}
	attrs := Attrs{}
	for name := range strings.SplitSeq(strings.TrimRight(string(list[:n]), "\x00"), "\x00") {
		size, err := unix.Fgetxattr(fd, name, nil)
		if err != nil || size < 0 {
			continue // gone meanwhile, or not ours to read
		}
		value := make([]byte, size)
		if size, err = unix.Fgetxattr(fd, name, value); err != nil {
			continue
		}
		attrs[name] = value[:size]
	}
	return attrs, nil
}
