package cas

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/pack"

	"github.com/gofrs/flock"
)

// Stray is something in the objects directory or in the mirror that has none of the store's names there. A program that
// edits all files below a directory leaves copies of packs beside them, under names of its own.
type Stray struct {
	File string
	// Copy: it begins as a pack or an index of this store does, or is a name of a pack's file.
	Copy bool
	info fs.FileInfo
}

// Strays lists what is not the store's. Links and directories are named, and not looked into.
func (s *Store) Strays() ([]Stray, error) {
	strays, err := s.straysIn(s.o.Dir)
	mirror, merr := s.ownMirror()
	if mirror == "" || errors.Join(err, merr) != nil {
		return strays, errors.Join(err, merr)
	}
	more, err := s.straysIn(mirror)
	return append(strays, more...), err
}

func (s *Store) straysIn(dir string) (strays []Stray, err error) {
	entries, err := s.fs.ReadDir(dir)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	var packs []fs.FileInfo
	for _, e := range entries {
		name := e.Name()
		if _, ok := pack.ParseName(name); ok {
			if info, err := s.fs.Lstat(filepath.Join(dir, name)); err == nil {
				packs = append(packs, info)
			}
			continue
		}
		if isOwnName(name) {
			continue
		}
		info, err := s.fs.Lstat(filepath.Join(dir, name))
		if err != nil {
			if os.IsNotExist(err) {
				continue
			}
			return nil, err
		}
		strays = append(strays, Stray{File: filepath.Join(dir, name), info: info})
	}
	for i := range strays {
		f := &strays[i]
		f.Copy = f.info.Mode().IsRegular() &&
			(slices.ContainsFunc(packs, func(p fs.FileInfo) bool { return sameFile(p, f.info) }) || s.beginsAsOurs(f.File))
	}
	return strays, nil
}

// isOwnName reports whether the store gives a file this name, in the objects directory or in the mirror.
func isOwnName(name string) bool {
	switch name {
	case droppedName, olderDroppedName, condemnedName, generationName:
		return true
	}
	_, index := pack.ParseIndexName(name)
	return index || strings.HasSuffix(name, tmpSuffix)
}

// beginsAsOurs reports whether a file begins with the magic number and the store id of a pack or of an index.
func (s *Store) beginsAsOurs(file string) bool {
	f, err := s.fs.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return pack.BeginsAsOurs(f, s.o.StoreID)
}

// RemoveCopies removes the copies among the strays: what a purge takes out of the packs is in them still.
func (s *Store) RemoveCopies(ctx context.Context) (removed []string, err error) {
	strays, err := s.Strays()
	strays = slices.DeleteFunc(strays, func(f Stray) bool { return !f.Copy })
	if len(strays) == 0 || err != nil {
		return nil, err
	}
	lock, err := s.lock(ctx, appendLock, (*flock.Flock).TryLock)
	if err != nil {
		return nil, err
	}
	defer s.unlock(lock)
	for _, f := range strays {
		if err := s.remove(f.File); err != nil {
			return removed, err
		}
		removed = append(removed, f.File)
	}
	return removed, errors.Join(s.syncDir(), s.syncMirror())
}
