//go:build !linux && !darwin && !freebsd && !netbsd

package scan

import "os"

// statOf knows no change time and no inode here: the modification time
// stands for both, so that an edit which puts it back is not seen.
func statOf(info os.FileInfo) stat {
	t := info.ModTime()
	return stat{
		size: info.Size(), mtime: t.Unix(), mtimeNs: int64(t.Nanosecond()),
		ctime: t.Unix(), ctimeNs: int64(t.Nanosecond()), mode: modeOf(info.Mode()),
	}
}

// foreign is not asked for here.
func foreign(os.FileInfo) bool { return false }
