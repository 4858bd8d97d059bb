package cas

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A store can be behind the mirror: after git stash --all the store comes
// back by itself and goes on, and whoever then puts the stash's old files into
// its place, or those of a backup, has the beginning of a log whose rest only
// the mirror has.

// Return says what comes back from the mirror.
type Return struct {
	Empty bool // no pack of the log is left in the objects directory
	// Rewritten: the log was written anew in the mirror since, by a sweep or a purge. What is in
	// the objects directory has packs that were dropped.
	Rewritten bool
}

// CatchUp brings a store forward that is behind the mirror, or has lost packs that the mirror has, and
// unlinks in the mirror what was dropped meanwhile. There is nothing to do, and no lock to wait for, in nearly all cases.
// Errors: *BusyError.
func (s *Store) CatchUp(ctx context.Context) (done bool, err error) {
	if s.o.ReadOnly || !s.behind() {
		return false, nil
	}
	a, err := s.Append(ctx)
	if err != nil {
		return false, err
	}
	err = s.returnLost(func(Repaired) {})
	s.mu.Lock()
	s.ready = false
	s.mu.Unlock()
	return err == nil, errors.Join(err, a.Close())
}

// behind looks at the newest log pack, and for packs that only the mirror has.
func (s *Store) behind() bool {
	lost, stale, err := s.onlyInMirror()
	if len(lost)+len(stale) > 0 && err == nil {
		return true
	}
	names, err := s.names()
	mirror := s.mirrorNow()
	if err != nil || len(names) == 0 || mirror == "" {
		return false
	}
	for _, n := range names {
		if n.kind == logPack {
			first, ferr := s.fs.Lstat(filepath.Join(s.o.Dir, n.file()))
			second, serr := s.fs.Lstat(filepath.Join(mirror, n.file()))
			if ferr != nil || serr != nil {
				return false
			}
			return !sameFile(first, second) && second.Mode().IsRegular() && second.Size() > first.Size()
		}
	}
	return false
}

// ahead reports whether the mirror has log packs of this store behind newest.
func (s *Store) ahead(newest uint64) bool {
	lost, _, err := s.onlyInMirror()
	return err == nil && slices.ContainsFunc(lost, func(n packName) bool { return n.kind == logPack && n.tag > newest })
}

// returning tells of packs that are about to come back.
func (s *Store) returning(lost []packName) error {
	if s.o.Returning == nil {
		return nil
	}
	names, err := s.names()
	if err != nil {
		return err
	}
	r, mirror := Return{Empty: true}, s.mirrorNow()
	for _, n := range names {
		if n.kind != logPack {
			break
		}
		newer := slices.ContainsFunc(lost, func(l packName) bool { return l.kind == logPack && l.tag > n.tag })
		r.Empty = false
		r.Rewritten = r.Rewritten || newer && !s.hasName(mirror, n)
	}
	if r.Rewritten {
		if err := s.keepDropped(); err != nil {
			return err
		}
	}
	return s.o.Returning(r)
}

func (s *Store) purging() bool { return s.o.Purging != nil && s.o.Purging() }

// takeSecond gives log packs the content of the mirror where they are a
// beginning of it, and reports whether there were such. The caller holds the
// append lock.
func (s *Store) takeSecond() (taken bool, err error) {
	mirror, err := s.ownMirror()
	if mirror == "" || s.Diverged() {
		return false, err
	}
	names, err := s.names()
	if err != nil {
		return false, err
	}
	for _, n := range names {
		if n.kind != logPack {
			continue
		}
		first, second := filepath.Join(s.o.Dir, n.file()), filepath.Join(mirror, n.file())
		old, err := s.fs.Lstat(first)
		if err != nil {
			return false, err
		}
		further, err := s.fs.Lstat(second)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (sameFile(old, further) || !further.Mode().IsRegular() || further.Size() <= old.Size()) {
			continue
		}
		if err != nil {
			return false, nil // the mirror is out of reach: Mirrored tells
		}
		if same, err := s.sameEnd(first, second, old.Size()); err != nil || !same {
			if errors.Is(err, os.ErrPermission) {
				err = nil
			}
			return false, err
		}
		if !taken && s.o.Returning != nil {
			if err := s.o.Returning(Return{}); err != nil {
				return false, err
			}
		}
		tmp := first + tmpSuffix
		if err := ignoreMissing(s.fs.Remove(tmp)); err != nil {
			return false, err
		}
		if err := s.fs.Link(second, tmp); err != nil {
			return false, nil // on another file system names are copies, made anew by the next save
		}
		if err := s.fs.Rename(tmp, first); err != nil {
			return false, err
		}
		taken = true
	}
	if !taken {
		return false, nil
	}
	s.mu.Lock()
	s.leaveAll()
	s.mu.Unlock()
	return true, s.syncDir()
}
