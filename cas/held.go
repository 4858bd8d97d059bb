package cas

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// The store's directory can be removed while a process works in it, and another process rebuild it from the mirror. The lock
// files are in that directory: who locked those that were removed is no longer alone, and the names that it knows lead to the
// packs of the rebuilt store. So whoever changes packs asks before each removal whether the directory and the lock files are
// those that it locked.

// ReplacedError says that the store's directory is no longer the one that was locked. Nothing more was changed.
type ReplacedError struct{ Dir string }

func (e *ReplacedError) Error() string {
	return e.Dir + " was removed or replaced by another process while this one used it, which stopped"
}

// hold notes a lock that was taken, and which directory it is of. false: the lock file was removed before it was locked, and
// the lock was given back.
func (s *Store) hold(f *flock.Flock) (bool, error) {
	if s.o.ReadOnly {
		return true, nil
	}
	if same, err := isNamed(f); !same || err != nil {
		return false, errors.Join(err, f.Close())
	}
	dir, err := s.fs.Lstat(s.o.Dir)
	if err != nil {
		return false, errors.Join(err, f.Close())
	}
	s.mu.Lock()
	first := len(s.held) == 0
	if first {
		s.home = dir
	}
	if s.stays != nil {
		s.home, first = s.stays, false
	}
	s.held = append(s.held, f)
	s.mu.Unlock()
	if first {
		return true, nil
	}
	if err := s.sure(); err != nil {
		return false, errors.Join(err, s.unlock(f))
	}
	return true, nil
}

// Stay keeps the store in the directory that it is in: until leave is called, every lock of another one that is put in its place
// is a *ReplacedError. It is for whoever decides by what it has read under an earlier lock.
func (s *Store) Stay() (leave func(), err error) {
	open, _ := os.OpenFile(s.o.Dir, os.O_RDONLY|vfs.NoWait, 0) // so that no directory made meanwhile gets its number; nil on a file system of the tests
	dir, err := s.fs.Lstat(s.o.Dir)
	if err != nil {
		open.Close() // it was only opened
		return nil, err
	}
	s.mu.Lock()
	s.stays = dir
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		s.stays = nil
		s.mu.Unlock()
		open.Close() // it was only opened
	}, nil
}

// isNamed reports whether a lock file still has its name.
func isNamed(f *flock.Flock) (bool, error) {
	held, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Lstat(f.Path())
	return err == nil && os.SameFile(held, now), ignoreMissing(err)
}

// sure reports a *ReplacedError unless the store is where it was when the first of the locks that are held was taken.
func (s *Store) sure() error {
	s.mu.RLock()
	home, held := s.home, slices.Clone(s.held)
	s.mu.RUnlock()
	if home == nil {
		return nil // nothing was ever locked
	}
	dir, err := s.fs.Lstat(s.o.Dir)
	if ignoreMissing(err) != nil {
		return err
	}
	if err != nil || !sameFile(dir, home) {
		return &ReplacedError{s.o.Dir}
	}
	for _, f := range held {
		if same, err := isNamed(f); err != nil {
			return err
		} else if !same {
			return &ReplacedError{s.o.Dir}
		}
	}
	return nil
}

// remove removes a name of the store or of its mirror, if the store is still the one that was locked.
func (s *Store) remove(file string) error {
	if err := s.sure(); err != nil {
		return err
	}
	return ignoreMissing(s.fs.Remove(file))
}

// lockPack waits until no other process adds to the file of a pack: a store that was rebuilt has the same file, and locks of its
// own. Closing what it returns gives the lock back. An error closes f.
func lockPack(ctx context.Context, f vfs.File) (vfs.File, error) {
	start := time.Now()
	for {
		ok, err := tryLockPack(f)
		if ok {
			return lockedPack{f}, nil
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(&BusyError{Lock: appendLock, Waited: time.Since(start)}, f.Close())
		case <-time.After(lockPollMin):
		}
	}
}

type lockedPack struct{ vfs.File }

// Close gives the lock back before it closes the file: a process that is being started has the open file, too, until it has
// closed it, and would hold the lock that long.
func (f lockedPack) Close() error {
	unlockPack(f.File)
	return f.File.Close()
}

// replaced links the packs in by into the mirror before those in going leave it. Into a mirror on another file system nothing
// can be linked: see Mirrored.
func (s *Store) replaced(going, by []pack.Name) error {
	mirror, err := s.ownMirror()
	if mirror == "" || err != nil {
		return err
	}
	if !slices.ContainsFunc(going, func(n pack.Name) bool { return s.hasName(mirror, n) }) {
		return nil
	}
	for _, n := range by {
		t := twin{name: n}
		err := t.look(s, mirror)
		if err == nil && sameFile(t.first, t.second) {
			continue
		}
		if t.first == nil {
			return fmt.Errorf("the old packs stay: what replaces them cannot be seen: %w", err)
		}
		if dir, err := s.fs.Lstat(mirror); err == nil && !sameDevice(t.first, dir) {
			continue
		}
		s.mirrorPack(n)
		if err := t.look(s, mirror); err != nil || !sameFile(t.first, t.second) {
			s.mu.RLock()
			defer s.mu.RUnlock()
			return fmt.Errorf("the old packs stay: what replaces them cannot be put into the mirror: %w", errors.Join(s.mirrorErr, err))
		}
	}
	return nil
}

// sameFile reports whether two names lead to one file, of the operating system or of a file system of the tests.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) || a.Sys() != nil && a.Sys() == b.Sys()
}

// ignoreMissing is for removing what may be gone already.
func ignoreMissing(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
