package project

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/engine/account"
)

// SweepLock is held by the one that sweeps or forgets, and for a moment by whoever puts objects into the store that no commit of its
// log needs.
const SweepLock = "gc"

// Lock takes one of the project's locks exclusively, with the project's patience. The order of all
// locks is in docs/INVARIANTS.md.
func (p *Project) Lock(ctx context.Context, name string) (*account.FileLock, error) {
	ctx, cancel := p.Wait(ctx)
	defer cancel()
	return p.lock(ctx, name, true)
}

// LockShared takes one of the project's locks shared, and waits for it until ctx ends.
func (p *Project) LockShared(ctx context.Context, name string) (*account.FileLock, error) {
	return p.lock(ctx, name, false)
}

func (p *Project) lock(ctx context.Context, name string, exclusive bool) (*account.FileLock, error) {
	file := filepath.Join(p.at.Store, account.LockName, name)
	if tell := p.noteWaiting(); tell != nil {
		defer time.AfterFunc(cas.WaitNotice, func() { tell(file) }).Stop()
	}
	lock, err := account.LockFile(ctx, file, name, exclusive)
	if errors.Is(err, fs.ErrNotExist) && p.ReadOnly == nil && account.MakeDir(filepath.Dir(file), p.Owner) == nil {
		lock, err = account.LockFile(ctx, file, name, exclusive) // find -empty -delete took the directory
	}
	if gone := p.unlessGone(err); gone != nil {
		if err == nil {
			lock.Release()
		}
		return nil, gone
	}
	return lock, nil
}

// unlessGone is the error, or, of a store that deinit has removed since it was opened, *NotInitializedError.
func (p *Project) unlessGone(err error) error {
	if _, serr := os.Stat(p.at.Store); errors.Is(serr, fs.ErrNotExist) {
		return &NotInitializedError{Root: p.at.Root}
	}
	return err
}

// noteWaiting reports to the opener of the project which process holds a lock file; nil if
// it gave no callback.
func (p *Project) noteWaiting() func(file string) {
	if p.waiting == nil {
		return nil
	}
	return func(file string) { p.waiting(lockHolder(file)) }
}

// Wait bounds a lock's waiting time by the project's patience.
func (p *Project) Wait(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, p.Patience())
}

func (p *Project) Patience() time.Duration {
	if p.lockWait != 0 {
		return p.lockWait
	}
	return 30 * time.Second
}
