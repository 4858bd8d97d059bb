package measure

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Allocated is what everything at and below dir takes on disk, in bytes: blocks,
// not lengths; an inode with several names counts once. What vanishes
// meanwhile counts nothing.
func Allocated(dir string) (int64, error) {
	var sum int64
	seen := map[uint64]bool{}
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				sum += allocated(info, seen)
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
