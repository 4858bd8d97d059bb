//go:build amd64 || arm64

package tracee

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// kind is how the arguments of a call are laid out.
type kind int

const (
	onFile    kind = iota // fd
	onPath                // path
	at                    // directory fd, path
	atTwo                 // two directory fds with paths
	mapped                // fd is the fifth argument
	copied                // two fds: from the first, or into it
	symlinked             // target, directory fd, path
)

type shape struct {
	name    string
	kind    kind
	changes bool
	writes  bool
}

var shapes = map[uint64]shape{
	unix.SYS_READ:            {"read", onFile, false, false},
	unix.SYS_READV:           {"readv", onFile, false, false},
	unix.SYS_PREAD64:         {"pread64", onFile, false, false},
	unix.SYS_FSTAT:           {"fstat", onFile, false, false},
	unix.SYS_FSTATFS:         {"fstatfs", onFile, false, false},
	unix.SYS_GETDENTS64:      {"getdents64", onFile, false, false},
	unix.SYS_FLISTXATTR:      {"flistxattr", onFile, false, false},
	unix.SYS_FGETXATTR:       {"fgetxattr", onFile, false, false},
	unix.SYS_CLOSE:           {"close", onFile, false, false},
	unix.SYS_WRITE:           {"write", onFile, true, true},
	unix.SYS_WRITEV:          {"writev", onFile, true, true},
	unix.SYS_PWRITE64:        {"pwrite64", onFile, true, true},
	unix.SYS_FALLOCATE:       {"fallocate", onFile, true, true},
	unix.SYS_FTRUNCATE:       {"ftruncate", onFile, true, false},
	unix.SYS_FSYNC:           {"fsync", onFile, true, false},
	unix.SYS_FDATASYNC:       {"fdatasync", onFile, true, false},
	unix.SYS_SYNCFS:          {"syncfs", onFile, true, false},
	unix.SYS_SYNC_FILE_RANGE: {"sync_file_range", onFile, true, false},
	unix.SYS_FLOCK:           {"flock", onFile, true, false},
	unix.SYS_FCHMOD:          {"fchmod", onFile, true, false},
	unix.SYS_FCHOWN:          {"fchown", onFile, true, false},
	unix.SYS_FSETXATTR:       {"fsetxattr", onFile, true, true},
	unix.SYS_FREMOVEXATTR:    {"fremovexattr", onFile, true, false},
	unix.SYS_SENDFILE:        {"sendfile", copied, true, true},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", copied, true, true},
	unix.SYS_MMAP:            {"mmap", mapped, false, false},
	unix.SYS_STATFS:          {"statfs", onPath, false, false},
	unix.SYS_TRUNCATE:        {"truncate", onPath, true, false},
	unix.SYS_LLISTXATTR:      {"llistxattr", onPath, false, false},
	unix.SYS_LGETXATTR:       {"lgetxattr", onPath, false, false},
	unix.SYS_LSETXATTR:       {"lsetxattr", onPath, true, true},
	unix.SYS_OPENAT:          {"openat", at, false, false}, // by its flags
	unix.SYS_OPENAT2:         {"openat2", at, false, false},
	unix.SYS_STATX:           {"statx", at, false, false},
	sysFstatat:               {"newfstatat", at, false, false},
	unix.SYS_FACCESSAT:       {"faccessat", at, false, false},
	unix.SYS_FACCESSAT2:      {"faccessat2", at, false, false},
	unix.SYS_READLINKAT:      {"readlinkat", at, false, false},
	unix.SYS_MKDIRAT:         {"mkdirat", at, true, true},
	unix.SYS_MKNODAT:         {"mknodat", at, true, true},
	unix.SYS_UNLINKAT:        {"unlinkat", at, true, false},
	unix.SYS_FCHMODAT:        {"fchmodat", at, true, false},
	unix.SYS_FCHOWNAT:        {"fchownat", at, true, false},
	unix.SYS_UTIMENSAT:       {"utimensat", at, true, false},
	unix.SYS_RENAMEAT:        {"renameat", atTwo, true, true},
	unix.SYS_RENAMEAT2:       {"renameat2", atTwo, true, true},
	unix.SYS_LINKAT:          {"linkat", atTwo, true, true},
	unix.SYS_SYMLINKAT:       {"symlinkat", symlinked, true, true},
}

// decode reads a call that thread tid is about to make; nil: none on files.
func decode(tid int, nr uint64, args [6]uint64, data bool) (*Call, error) {
	s, ok := shapes[nr]
	if !ok {
		return nil, nil
	}
	c := &Call{Name: s.name, FD: -1, Offset: -1, Changes: s.changes, Writes: s.writes}
	var err error
	switch s.kind {
	case onFile:
		c.Path, err = fileOf(tid, args[0])
		c.FD, c.Size = int(int32(args[0])), int64(args[2])
	case mapped:
		if int32(args[4]) < 0 {
			return nil, nil
		}
		c.Path, err = fileOf(tid, args[4])
	case copied:
		into, from, size := args[0], args[1], args[3]
		if nr == unix.SYS_COPY_FILE_RANGE {
			into, from, size = args[2], args[0], args[4]
		}
		if c.Path, err = fileOf(tid, into); err == nil {
			c.To, err = fileOf(tid, from)
		}
		c.FD, c.Size = int(int32(into)), int64(size)
	case onPath:
		c.Path, err = pathAt(tid, unix.AT_FDCWD, args[0])
		c.ByName, c.Size = true, int64(args[1])
	case at:
		c.Path, err = pathAt(tid, int32(args[0]), args[1])
		c.ByName = args[1] != 0
	case atTwo:
		if c.Path, err = pathAt(tid, int32(args[0]), args[1]); err == nil {
			c.To, err = pathAt(tid, int32(args[2]), args[3])
		}
		c.ByName = true
	case symlinked:
		var target []byte
		if target, err = text(tid, args[0]); err == nil {
			c.To = string(target)
			c.Path, err = pathAt(tid, int32(args[1]), args[2])
		}
		c.ByName = true
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	switch nr {
	case unix.SYS_OPENAT:
		c.open(int(args[2]), uint32(args[3]))
	case unix.SYS_OPENAT2:
		how, err := memory(tid, args[2], 16)
		if err != nil {
			return nil, err
		}
		c.open(int(binary.LittleEndian.Uint64(how)), uint32(binary.LittleEndian.Uint64(how[8:])))
	case unix.SYS_MKDIRAT, unix.SYS_FCHMODAT:
		c.Mode = uint32(args[2])
	case unix.SYS_FCHMOD:
		c.Mode = uint32(args[1])
	case unix.SYS_RENAMEAT2:
		c.Flags = int(args[4])
	case unix.SYS_UNLINKAT:
		c.Flags = int(args[2])
	case unix.SYS_FLOCK:
		c.Flags = int(args[1])
	case unix.SYS_FTRUNCATE:
		c.Size = int64(args[1])
	case unix.SYS_WRITE, unix.SYS_PWRITE64:
		if nr == unix.SYS_PWRITE64 {
			c.Offset = int64(args[3])
		}
		if data && strings.HasPrefix(c.Path, "/") {
			if c.Offset < 0 {
				c.Offset, err = position(tid, args[0])
			}
			if err == nil {
				c.Data, err = memory(tid, args[1], int(args[2]))
			}
		}
	}
	return c, err
}

// position is where the next write to an open file goes.
func position(tid int, fd uint64) (at int64, err error) {
	info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", tid, int32(fd)))
	if err != nil {
		return 0, err
	}
	var flags int
	if _, err := fmt.Sscanf(string(info), "pos: %d\nflags: %o", &at, &flags); err != nil {
		return 0, err
	}
	if flags&unix.O_APPEND != 0 {
		st, err := os.Stat(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(fd)))
		if err != nil {
			return 0, err
		}
		at = st.Size()
	}
	return at, nil
}

func (c *Call) open(flags int, mode uint32) {
	c.Flags, c.Mode = flags, mode
	c.Changes = flags&(unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC) != 0
	c.Writes = flags&unix.O_CREAT != 0
}

// fileOf is the name of an open file; what is none, as a socket, has no leading slash.
func fileOf(tid int, fd uint64) (string, error) {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(fd)))
	if os.IsNotExist(err) {
		return "", nil // the call will fail by itself
	}
	return strings.TrimSuffix(name, " (deleted)"), err
}

// pathAt is an absolute path; address 0: the directory itself.
func pathAt(tid int, dirfd int32, address uint64) (string, error) {
	var name []byte
	if address != 0 {
		var err error
		if name, err = text(tid, address); err != nil {
			return "", err
		}
	}
	if filepath.IsAbs(string(name)) {
		return filepath.Clean(string(name)), nil
	}
	if dirfd == unix.AT_FDCWD {
		dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", tid))
		return filepath.Join(dir, string(name)), err
	}
	dir, err := fileOf(tid, uint64(uint32(dirfd)))
	return filepath.Join(dir, string(name)), err
}

// text reads a string that ends with a zero.
func text(tid int, address uint64) ([]byte, error) {
	const page = 4096
	var all []byte
	for len(all) < 2*page {
		// Up to a page's end: the next one may not be there.
		part, err := memory(tid, address, int(page-address%page))
		if err != nil {
			return nil, err
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return append(all, part[:end]...), nil
		}
		all = append(all, part...)
		address += uint64(len(part))
	}
	return nil, fmt.Errorf("a path of more than %d bytes", len(all))
}

func memory(tid int, address uint64, size int) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	b := make([]byte, size)
	n, err := unix.ProcessVMReadv(tid, []unix.Iovec{{Base: &b[0], Len: uint64(size)}}, []unix.RemoteIovec{{Base: uintptr(address), Len: size}}, 0)
	if err == unix.EPERM || err == unix.ENOSYS {
		return nil, &RefusedError{err}
	}
	if err == nil && n < size {
		err = fmt.Errorf("only %d of %d bytes could be read", n, size)
	}
	return b, err
}
