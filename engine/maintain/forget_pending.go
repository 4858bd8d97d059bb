package maintain

import (
	"context"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// PendingForget is since when something is forgotten whose bytes are still in the
// store, nil for no such thing: somebody read the store, or the process died.
func PendingForget(ctx context.Context, p *project.Project) (*time.Time, error) {
	n := p.Forgetting()
	if n == nil || n.Sweeping {
		return since(n), nil
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	replayed, err := manifest.Replay(ctx, p.Log(), n.Log+1, manifest.Skip)
	if err != nil || !replayed.Amended() {
		return nil, p.Classify(err)
	}
	return since(n), nil
}

// stillPending is PendingForget for whoever holds the lock of gc: a note whose forget was never committed goes. Else the next gc
// would take itself for the rest of that forget.
func stillPending(ctx context.Context, p *project.Project) (bool, error) {
	if !p.IsForgetting() {
		return false, nil
	}
	n := p.Forgetting()
	at, err := PendingForget(ctx, p)
	if at == nil && err == nil {
		err = p.EndForgetting(n)
	}
	return at != nil, err
}

// IsUnfinished reports whether FinishForgetting has something to do.
func IsUnfinished(p *project.Project) bool { return p.IsForgetting() || gitstate.ToLookFor(p) != nil }

func since(n *project.ForgettingNote) *time.Time {
	if n == nil {
		return nil
	}
	return &n.Since
}

// FinishForgetting finishes an interrupted forget, if no other process is in the way, and obeys those of other accounts.
// It is called after each write; if it fails, status shows that, and the next write tries again.
func FinishForgetting(ctx context.Context, p *project.Project) {
	ObeyForgotten(ctx, p)
	_ = p.SignUp(account.MirrorLooked) // the write has removed from the mirror what was dropped; the next command notes it, too
	if p.ReadOnly != nil || !p.IsForgetting() {
		return
	}
	lock, err := account.LockFile(account.Expired, filepath.Join(p.StoreDir(), account.LockName, project.SweepLock), project.SweepLock, true)
	if err != nil {
		return
	}
	defer lock.Release()
	if pending, err := stillPending(ctx, p); pending && err == nil {
		_, _ = collect(ctx, p, GCOptions{only: true})
	}
}
