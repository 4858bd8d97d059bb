package rootfs

import "golang.org/x/sys/unix"

// denied says more of an EPERM where the file system's attributes forbid the change,
// whoever asks: those of one of the names, or of the directory.
func (d *linuxDir) denied(err error, names ...string) error {
	if err != unix.EPERM {
		return err
	}
	for _, name := range names {
		switch d.attributes(name, unix.AT_SYMLINK_NOFOLLOW) {
		case unix.STATX_ATTR_IMMUTABLE:
			return &LockedError{What: "immutable"}
		case unix.STATX_ATTR_APPEND:
			return &LockedError{What: "append-only"}
		}
	}
	switch d.attributes("", unix.AT_EMPTY_PATH) {
	case unix.STATX_ATTR_IMMUTABLE:
		return &LockedError{What: "in an immutable directory"}
	case unix.STATX_ATTR_APPEND:
		return &LockedError{What: "in an append-only directory"}
	}
	return err
}

// Locked gives a *LockedError where the file system's attributes forbid to replace or to delete the name, whoever asks.
func (d *linuxDir) Locked(name string) error {
	if err := d.denied(unix.EPERM, name); err != unix.EPERM {
		return err
	}
	return nil
}

// attributes are the one that counts of a name, 0 for none or where it is not known.
func (d *linuxDir) attributes(name string, flags int) uint64 {
	var st unix.Statx_t
	if unix.Statx(d.fd, name, flags, unix.STATX_TYPE, &st) != nil {
		return 0
	}
	for _, a := range []uint64{unix.STATX_ATTR_IMMUTABLE, unix.STATX_ATTR_APPEND} {
		if st.Attributes&a != 0 {
			return a
		}
	}
	return 0
}
