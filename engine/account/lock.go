package account

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"

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
	return nil, InPlace(file, false, fmt.Errorf("lock %s: %w", file, err))
}

// Release drops the lock.
func (l *FileLock) Release() {
	// Closing the file drops the lock; a failure here would mean that it was not open.
	_ = l.flock.Close()
}

// TreeLockName is the lock of whoever changes the working tree; savers share it.
const TreeLockName = "tree"

// Expired is the context for a lock that must not be waited for.
var Expired = func() context.Context {
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	cancel()
	return ctx
}()

// StoreLocks are the locks in a store's directory, in the order in which they are taken. The account's stores.lock
// comes between tree and users.
var StoreLocks = []string{"gc", "tree", "users", "append"}
