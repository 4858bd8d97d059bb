package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// FS is the tree of a project. It is safe for concurrent use.
type FS interface {
	// OpenDir opens the directory at path ("" is the root, "/" separates).
	// Errors: *NameError, ErrLink, ErrMount, fs.ErrNotExist, ErrNotDir.
	OpenDir(path string) (Dir, error)
	// Sync makes everything written to the file system durable.
	Sync() error
	Close() error
}

// Dir is an open directory of the project. All names are single components and
// are checked; none is followed if it is a link. A Dir is used by one
// goroutine at a time and must be closed.
type Dir interface {
	// Path is the path that the directory was opened by.
	Path() string
	// Stat describes the directory itself.
	Stat() (Info, error)
	Lstat(name string) (Info, error)
	// Mounted reports whether a name is on another mount than the project's root. Something is
	// mounted over that directory or that file then, and it is not the project's.
	Mounted(name string) bool
	// HasGit reports whether there is a .git, of any kind, in the directory.
	HasGit() bool
	// Names lists the directory, .git included, in no order.
	Names() ([]string, error)
	// OpenFile opens a regular file for reading and never blocks on what is
	// not one. Errors: ErrLink, ErrNotRegular, ErrMount.
	OpenFile(name string) (*os.File, Info, error)
	Readlink(name string) (string, error)
	// Subdir opens a directory in this one.
	Subdir(name string) (Dir, error)

	// Create makes a new file; it fails with fs.ErrExist if there is anything.
	// Its mode is 0600 until Chmod.
	Create(name string) (File, error)
	// Mkdir makes a directory of mode 0700.
	Mkdir(name string) error
	Symlink(target, name string) error
	// Rename fails with fs.ErrExist if there is anything at to.
	Rename(from, to string) error
	// Exchange swaps two names, of whatever kinds. Where the system cannot do
	// it at once, b never vanishes as long as it is no directory, and what it
	// was may stay at the name Aside(a) after a crash.
	Exchange(a, b string) error
	Unlink(name string) error
	Rmdir(name string) error
	// Chmod sets the bits 07777 of a file or a directory, never through a link. Error: ErrMount.
	Chmod(name string, mode uint32) error
	// Chown gives a name, a link itself too, to an owner.
	Chown(name string, uid, gid uint32) error
	Close() error
}

// File is a new file being written.
type File interface {
	io.Writer
	Chmod(mode uint32) error
	Chown(uid, gid uint32) error
	// SetAttrs sets extended attributes (ACLs are among them). Those that the
	// file system or the person's rights do not allow are left out.
	SetAttrs(a Attrs) error
	// Stat describes the file.
	Stat() (Info, error)
	Close() error
}

// Aside is the name that Exchange may leave behind when it is interrupted on a
// system that cannot swap names at once.
func Aside(temp string) string { return temp + asideSuffix }

// FileKind is what a name is.
type FileKind uint8

const (
	Regular FileKind = iota + 1
	Directory
	Link
	FIFO
	Socket
	Device
)

func (k FileKind) String() string {
	switch k {
	case Regular:
		return "file"
	case Directory:
		return "directory"
	case Link:
		return "symlink"
	case FIFO:
		return "fifo"
	case Socket:
		return "socket"
	case Device:
		return "device"
	}
	return "nothing"
}

// Info describes a name. Fields that the system does not have are zero.
type Info struct {
	Kind         FileKind
	Mode         uint32 // 07777
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970
	Dev, Ino     uint64
	Nlink        uint64
	UID, GID     uint32
}

// Same reports whether a and b are the same file with, as far as its stat
// tells, the same content. The ctime is left out, since a rename changes it.
func (a Info) Same(b Info) bool {
	return a.Kind == b.Kind && a.Dev == b.Dev && a.Ino == b.Ino && a.Size == b.Size && a.Mtime == b.Mtime && a.Mode == b.Mode
}

// Attrs are extended attributes by name.
type Attrs map[string][]byte

var (
	// ErrLink: a component, or the name, is a symbolic link.
	ErrLink = errors.New("it leads through a symbolic link")
	// ErrMount: a component, or the name, is on another mount.
	ErrMount = errors.New("something is mounted there")
	// ErrNotDir: a component is something else than a directory.
	ErrNotDir = errors.New("not a directory")
	// ErrNotRegular: not a regular file.
	ErrNotRegular = errors.New("not a regular file")
)

// LockedError: an attribute of the file system forbids the change (chattr +i or +a).
type LockedError struct{ What string } // "immutable", "append-only", "in an immutable directory", "in an append-only directory"

func (e *LockedError) Error() string { return "it is " + e.What }
func (e *LockedError) Unwrap() error { return fs.ErrPermission }
