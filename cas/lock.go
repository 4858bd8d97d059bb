package cas

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/rewind-cli/rewind/cas/vfs"
)

const (
	appendLock = "append"
	usersLock  = "users"
)

// lockPoll bounds how long a waiting process sleeps between two tries. The
// append lock is held for about a millisecond.
const (
	lockPollMin = 200 * time.Microsecond
	lockPollMax = 5 * time.Millisecond
)

// WaitNotice is how long a process waits for a lock before Waiting is called.
const WaitNotice = time.Second

// lockFile opens a lock file, and makes it where it is missing. A read-only
// store needs one that is there: without, it returns nil.
func (s *Store) lockFile(name string) (*flock.Flock, error) {
	file := filepath.Join(s.o.LockDir, name)
	if s.o.ReadOnly {
		if _, err := os.Lstat(file); err != nil {
			return nil, nil
		}
		return flock.New(file, flock.SetFlag(os.O_RDONLY|vfs.NoFollow|vfs.NoWait)), nil
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.makeLockDir(); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}
	switch {
	case err == nil:
		err = f.Chmod(0o600)
		if err == nil && s.o.Owner != nil {
			err = s.o.Owner(file)
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	return flock.New(file, flock.SetFlag(os.O_RDWR|vfs.NoFollow|vfs.NoWait)), nil
}

// makeLockDir makes the lock directory. Locks are the operating system's,
// whatever file system the packs are on.
// Those of a store that is gone are not made: who only looks must not make it anew.
func (s *Store) makeLockDir() error {
	if _, err := os.Lstat(filepath.Dir(s.o.LockDir)); err != nil {
		return err
	}
	return (&Store{o: Options{Owner: s.o.Owner}, fs: vfs.OS}).makeDir(s.o.LockDir)
}

// lock takes a lock, waiting until ctx ends: *BusyError.
func (s *Store) lock(ctx context.Context, name string, try func(*flock.Flock) (bool, error)) (*flock.Flock, error) {
	for {
		f, err := s.lockOnce(ctx, name, try)
		if err != nil || f == nil {
			return nil, err
		}
		if held, err := s.hold(f); held || err != nil {
			return f, err
		}
	}
}

func (s *Store) lockOnce(ctx context.Context, name string, try func(*flock.Flock) (bool, error)) (*flock.Flock, error) {
	f, err := s.lockFile(name)
	if err != nil || f == nil {
		return nil, err
	}
	if s.o.Waiting != nil {
		defer time.AfterFunc(WaitNotice, func() { s.o.Waiting(f.Path()) }).Stop()
	}
	start := time.Now()
	for wait := lockPollMin; ; wait = min(wait*2, lockPollMax) {
		ok, err := try(f)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if ok {
			return f, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			s.unlock(f) // it is not held
			return nil, &BusyError{Lock: name, Waited: time.Since(start)}
		case <-timer.C:
		}
	}
}

// Use takes the shared users lock until release is called. While it is held,
// gc unlinks nothing.
func (s *Store) Use(ctx context.Context) (release func(), err error) {
	f, err := s.lock(ctx, usersLock, (*flock.Flock).TryRLock)
	if err != nil {
		return nil, err
	}
	if err := s.notice(); err != nil {
		return nil, errors.Join(err, s.unlock(f))
	}
	return func() { s.unlock(f) }, nil // closing is enough for a lock
}

// notice forgets what is known of the packs if a gc or repair came between, or another directory has the place of the store's.
func (s *Store) notice() error {
	now, err := s.Generation()
	if err != nil {
		return err
	}
	dir, err := s.fs.Lstat(s.o.Dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.packs) > 0 && (now != s.generation || s.listed != nil && !sameFile(dir, s.listed)) {
		s.leaveAll()
	}
	s.generation, s.listed = now, dir
	return nil
}

func (s *Store) unlock(f *flock.Flock) error {
	if f == nil {
		return nil
	}
	s.mu.Lock()
	s.held = slices.DeleteFunc(s.held, func(h *flock.Flock) bool { return h == f })
	s.mu.Unlock()
	return f.Close()
}
