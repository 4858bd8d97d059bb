package rootfs

import (
	"golang.org/x/sys/unix"
)

func (d *linuxDir) Rename(from, to string) error {
	if err := checkNames(from, to); err != nil {
		return err
	}
	err := unix.Renameat2(d.fd, from, d.fd, to, unix.RENAME_NOREPLACE)
	if unsupported(err) {
		err = d.renameByLink(from, to)
	}
	return d.fail("rename", to, d.denied(err, from, to))
}

func (d *linuxDir) Exchange(a, b string) error {
	if err := checkNames(a, b); err != nil {
		return err
	}
	err := unix.Renameat2(d.fd, a, d.fd, b, unix.RENAME_EXCHANGE)
	if unsupported(err) {
		err = d.exchangeByLink(a, b)
	}
	return d.fail("exchange", b, d.denied(err, a, b))
}

// renameByLink is for file systems without RENAME_NOREPLACE. A link fails if
// the name is taken; a directory, which cannot have a second name, is looked
// up first.
func (d *linuxDir) renameByLink(from, to string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, from, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err := unix.Linkat(d.fd, from, d.fd, to, 0)
		if err == nil {
			return unix.Unlinkat(d.fd, from, 0)
		}
		if err == unix.EEXIST {
			return err
		}
	}
	switch err := unix.Fstatat(d.fd, to, &st, unix.AT_SYMLINK_NOFOLLOW); err {
	case nil:
		return unix.EEXIST
	case unix.ENOENT:
		return unix.Renameat(d.fd, from, d.fd, to)
	default:
		return err
	}
}

// exchangeByLink is for file systems without RENAME_EXCHANGE: b gets a second
// name, a is renamed over it, and the second name becomes a.
func (d *linuxDir) exchangeByLink(a, b string) error {
	aside := Aside(a)
	var sa, sb unix.Stat_t
	if err := unix.Fstatat(d.fd, b, &sb, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if err := unix.Fstatat(d.fd, a, &sa, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	dirs := sa.Mode&unix.S_IFMT == unix.S_IFDIR || sb.Mode&unix.S_IFMT == unix.S_IFDIR
	if dirs || unix.Linkat(d.fd, b, d.fd, aside, 0) != nil {
		if err := unix.Renameat(d.fd, b, d.fd, aside); err != nil {
			return err
		}
	}
	if err := unix.Renameat(d.fd, a, d.fd, b); err != nil {
		// Puts b back; if it kept its name, this takes the second one away again.
		if unix.Renameat(d.fd, aside, d.fd, b) == nil {
			unix.Unlinkat(d.fd, aside, 0)
		}
		return err
	}
	return unix.Renameat(d.fd, aside, d.fd, a)
}
