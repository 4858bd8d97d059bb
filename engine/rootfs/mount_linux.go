package rootfs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mountAt identifies the mount that a name in an open directory is on; the empty name means
// the descriptor itself. A device number does not identify a mount: an overlay over two
// file systems gives its files the device of the layer below, and a bind mount
// has the device of what it shows.
func mountAt(fd int, name string) (id uint64, ok bool) {
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	var x unix.Statx_t
	if unix.Statx(fd, name, flags, unix.STATX_MNT_ID, &x) == nil && x.Mask&unix.STATX_MNT_ID != 0 {
		return x.Mnt_id, true
	}
	// Before Linux 5.8, or in a sandbox that refuses statx.
	if name != "" {
		held, err := retry(func() (int, error) { return unix.Openat(fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0) })
		if err != nil {
			return 0, false
		}
		defer unix.Close(held)
		fd = held
	}
	return mountFromProc(fd)
}

// mountFromProc is mountAt for kernels without STATX_MNT_ID.
func mountFromProc(fd int) (id uint64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return 0, false
	}
	_, rest, ok := bytes.Cut(text, []byte("mnt_id:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	id, err = strconv.ParseUint(string(bytes.TrimSpace(line)), 10, 64)
	return id, ok && err == nil
}

// mounted reports whether a name in an open directory, or the descriptor itself, is on another
// mount than the root. Where the kernel does not identify mounts, the device tells it of a directory;
// what is mounted over a file cannot be recognised there, and the kernel refuses to rename it.
func (f *linuxFS) mounted(fd int, name string) bool {
	if f.mount != 0 {
		if id, ok := mountAt(fd, name); ok {
			return id != f.mount
		}
	}
	var st unix.Stat_t
	err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && st.Dev != f.dev
}

// mountOf identifies the mount that a name is on, for the portable implementation.
func mountOf(root *os.Root, name string) (uint64, error) {
	dir, err := root.Open(".")
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	id, ok := mountAt(int(dir.Fd()), name)
	if !ok {
		return 0, unix.ENOTSUP
	}
	return id, nil
}

// MountsBelow lists the files and directories below root that something is mounted over. A bind mount of root's own file
// system has root's device number, and a file of an overlay another than its directory: only the identity of the mount
// tells what is the project's.
func MountsBelow(root string) (found []string) {
	fd, err := retry(func() (int, error) { return unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	own, ok := mountAt(fd, "")
	if !ok {
		return nil
	}
	top, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return nil
	}
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	top = strings.TrimSuffix(top, "/") + "/"
	device := ""
	below := map[string]string{} // the path from the root: its device
	for line := range bytes.Lines(text) {
		// The mount's id, its parent's, the device, the directory that is mounted, and where.
		fields := strings.SplitN(string(line), " ", 6)
		if len(fields) < 6 {
			continue
		}
		if fields[0] == strconv.FormatUint(own, 10) {
			device = fields[2]
		}
		if rest, ok := strings.CutPrefix(mountEscapes.Replace(fields[4]), top); ok && rest != "" {
			below[rest] = fields[2]
		}
	}
	for path, on := range below {
		if on != device { // looking there could wait for another computer
			found = append(found, path)
		} else if id, ok := mountAt(fd, path); ok && id != own { // else another mount hides it
			found = append(found, path)
		}
	}
	return found
}

// mountEscapes undoes how the kernel writes paths in mountinfo.
var mountEscapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
