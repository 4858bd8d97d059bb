//go:build amd64 || arm64

package tracee

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rewind-cli/rewind/internal/testkit/crashfs"
)

// Replay does to a disk in memory what a call of a run did, so that its power
// can be cut after each. The Tracer must have kept the data.
func Replay(disk *crashfs.FS, c *Call) error {
	if c.Errno != 0 || !c.Changes {
		return nil
	}
	switch c.Name {
	case "openat", "openat2":
		if c.Flags&(unix.O_CREAT|unix.O_TRUNC) == 0 {
			return nil
		}
		_, err := disk.OpenFile(c.Path, c.Flags, fs.FileMode(c.Mode))
		return err
	case "write", "pwrite64", "ftruncate", "fsync", "fdatasync":
		return replayFile(disk, c)
	case "copy_file_range":
		return replayCopy(disk, c)
	case "syncfs":
		disk.Sync()
	case "mkdirat":
		return disk.MkdirAll(c.Path, fs.FileMode(c.Mode))
	case "unlinkat":
		return disk.Remove(c.Path)
	case "renameat", "renameat2":
		if c.Flags&unix.RENAME_EXCHANGE == 0 {
			return disk.Rename(c.Path, c.To)
		}
		disk.Exchange(c.Path, c.To)
	case "linkat":
		return disk.Link(c.Path, c.To)
	case "symlinkat":
		disk.Symlink(c.To, c.Path)
	case "fchmod", "fchmodat":
		disk.Chmod(c.Path, fs.FileMode(c.Mode))
	case "flock", "utimensat", "fchown", "fchownat": // leave nothing that a power cut takes
	default:
		return fmt.Errorf("%s is not replayed yet", c.Name)
	}
	return nil
}

// replayCopy copies what a file has beyond the end of another. That is all that a
// program does which copies files whole, from their beginning on.
func replayCopy(disk *crashfs.FS, c *Call) error {
	data, release, err := disk.Map(c.To)
	if err != nil {
		return err
	}
	f, err := disk.OpenFile(c.Path, os.O_RDWR, 0)
	if err != nil {
		return errors.Join(err, release())
	}
	info, err := f.Stat()
	if err == nil && info.Size() < int64(len(data)) {
		_, err = f.WriteAt(data[info.Size():], info.Size())
	}
	return errors.Join(err, release())
}

// replayFile does what works on an open file. One without a name is nobody's any more.
func replayFile(disk *crashfs.FS, c *Call) error {
	f, err := disk.OpenFile(c.Path, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.EISDIR):
		return disk.SyncDir(c.Path)
	case err != nil:
		return err
	case c.Name == "ftruncate":
		return f.Truncate(c.Size)
	case c.Data != nil:
		_, err = f.WriteAt(c.Data[:c.Size], c.Offset)
		return err
	}
	return f.Sync()
}
