package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rewind/cas"
	"rewind/cas/vfs"

	"github.com/gofrs/flock"
)

// LockPoll is how often a held lock is tried again: short beside the 30 s that
// a command waits and the 200 ms of a hook, long beside a system call.
const LockPoll = 5 * time.Millisecond

// FileLock is a held lock. The kernel drops it with the process that holds it.
type FileLock struct{ flock *flock.Flock }

// LockFile takes the lock file exclusively or shared and waits for it until
// ctx ends (*BusyError). A lock that must not be waited for gets a context that
// has already ended.
func LockFile(ctx context.Context, file, name string, exclusive bool) (*FileLock, error) {
	start := time.Now()
	l := flock.New(file, flock.SetPermissions(0o600), flock.SetFlag(os.O_CREATE|os.O_RDONLY|vfs.NoFollow|vfs.NoWait))
	take, try := l.TryRLockContext, l.TryRLock
	if exclusive {
		take, try = l.TryLockContext, l.TryLock
	}
	ok, err := try()
	if err == nil && !ok {
		ok, err = take(ctx, LockPoll)
	}
	switch {
	case ok:
		return &FileLock{l}, nil
	case errors.Is(err, context.DeadlineExceeded) || err == nil:
		return nil, &BusyError{Lock: name, Waited: time.Since(start)}
	case errors.Is(err, context.Canceled):
		return nil, err
	}
	return nil, fmt.Errorf("lock %s: %w", file, err)
}

func (l *FileLock) Release() {
	// Closing the file drops the lock; a failure here would mean that it was not open.
	_ = l.flock.Close()
}

// Lock takes one of the project's locks exclusively, with the project's patience.
func (p *Project) Lock(ctx context.Context, name string) (*FileLock, error) {
	ctx, cancel := p.Wait(ctx)
	defer cancel()
	return p.lock(ctx, name, true)
}

// LockShared takes one of the project's locks shared, and waits for it until ctx ends.
func (p *Project) LockShared(ctx context.Context, name string) (*FileLock, error) {
	return p.lock(ctx, name, false)
}

func (p *Project) lock(ctx context.Context, name string, exclusive bool) (*FileLock, error) {
	file := filepath.Join(p.place.store, LockName, name)
	if tell := p.noteWaiting(); tell != nil {
		defer time.AfterFunc(cas.WaitNotice, func() { tell(file) }).Stop()
	}
	return LockFile(ctx, file, name, exclusive)
}

// noteWaiting tells whoever opened the project which process holds a lock file; nil where
// nobody wants to know.
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

const TreeLockName = "tree"

// Expired is the context for a lock that must not be waited for.
var Expired = func() context.Context {
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	cancel()
	return ctx
}()
