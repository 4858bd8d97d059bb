package measure

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/rootfs"
)

// Allocated is what everything at and below dir takes on disk, in bytes: blocks,
// not lengths; an inode with several names counts once. What vanishes
// meanwhile counts nothing.
func Allocated(dir string) (int64, error) {
	seen := map[uint64]bool{}
	return sum(dir, func(info fs.FileInfo) int64 { return allocated(info, seen) })
}

// Alone is what those files below dir whose name counts take on disk that have no other name.
func Alone(dir string, counts func(name string) bool) (int64, error) {
	return sum(dir, func(info fs.FileInfo) int64 {
		if info.IsDir() || !counts(info.Name()) || rootfs.InfoOf(info).Nlink > 1 {
			return 0
		}
		return allocated(info, nil)
	})
}

func sum(dir string, of func(fs.FileInfo) int64) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				sum += of(info)
				return nil
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return sum, err
}
