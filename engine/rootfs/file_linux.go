package rootfs

import (
	"io"
	"io/fs"

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

func (f *linuxFile) SetAttrs(a Attrs) error { return f.fail("setxattr", setAttrs(f.fd, a)) }
