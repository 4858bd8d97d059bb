//go:build linux || darwin

package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadAttrs reads the extended attributes of an open file, nil if it has none.
func ReadAttrs(f *os.File) (Attrs, error) {
	fd := int(f.Fd())
	n, err := unix.Flistxattr(fd, nil)
	if n <= 0 || err != nil {
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOTSUP) {
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

// setAttrs gives extended attributes to an open file.
func setAttrs(fd int, a Attrs) error {
	for name, value := range a {
		err := unix.Fsetxattr(fd, name, value, 0)
		switch {
		case err == nil, errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOTSUP):
			// Security labels and attributes of other name spaces are the
			// system's to give; what it refuses it has given already.
		default:
			return err
		}
	}
	return nil
}
