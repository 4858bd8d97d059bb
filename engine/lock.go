package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a held lock is tried again: short beside the 30 s that
// a command waits and the 200 ms of a hook, long beside a system call.
const lockPoll = 5 * time.Millisecond

// fileLock is a held lock. The kernel drops it with the process that holds it.
type fileLock struct{ flock *flock.Flock }

// lockFile takes the lock file exclusively or shared and waits for it until
// ctx ends (*BusyError). A lock that must not be waited for gets a context that
// has already ended.
func lockFile(ctx context.Context, file, name string, exclusive bool) (*fileLock, error) {
	start := time.Now()
	l := flock.New(file, flock.SetPermissions(0o600), flock.SetFlag(os.O_CREATE|os.O_RDONLY|openNoFollow|openNonblock))
	take, try := l.TryRLockContext, l.TryRLock
	if exclusive {
		take, try = l.TryLockContext, l.TryLock
	}
	ok, err := try()
	if err == nil && !ok {
		ok, err = take(ctx, lockPoll)
	}
	switch {
	case ok:
		return &fileLock{l}, nil
	case errors.Is(err, context.DeadlineExceeded) || err == nil:
		return nil, &BusyError{Lock: name, Waited: time.Since(start)}
	case errors.Is(err, context.Canceled):
		return nil, err
	}
	return nil, fmt.Errorf("lock %s: %w", file, err)
}

func (l *fileLock) release() {
	// Closing the file drops the lock; a failure here would mean that it was not open.
	_ = l.flock.Close()
}

// lock takes one of the project's locks exclusively, with the project's patience.
func (p *Project) lock(ctx context.Context, name string) (*fileLock, error) {
	ctx, cancel := p.wait(ctx)
	defer cancel()
	return lockFile(ctx, filepath.Join(p.place.store, lockName, name), name, true)
}

// wait bounds a lock's waiting time by the project's patience.
func (p *Project) wait(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, p.patience())
}

func (p *Project) patience() time.Duration {
	if p.lockWait != 0 {
		return p.lockWait
	}
	return 30 * time.Second
}
