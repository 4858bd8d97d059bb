package project

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/account"
)

// StoreSize is what the store takes on disk, in bytes. The mirror's hard links take nothing.
func (p *Project) StoreSize() (int64, error) {
	var total int64
	err := p.EachStoreFile(func(_ string, info fs.FileInfo) { total += account.Allocated(info) })
	return total, err
}

// EachStoreFile visits the store's files; those that vanish meanwhile are left out.
func (p *Project) EachStoreFile(visit func(rel string, info fs.FileInfo)) error {
	seen := map[[2]uint64]bool{}
	return filepath.WalkDir(p.at.Store, func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if key, shared := account.LinkKey(info); shared {
			if seen[key] {
				return nil // tables that two generations of the database share
			}
			seen[key] = true
		}
		rel, err := filepath.Rel(p.at.Store, file)
		visit(filepath.ToSlash(rel), info)
		return err
	})
}
