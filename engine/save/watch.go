package save

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/scan"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/engine/watch"
	"github.com/rewind-cli/rewind/manifest"
)

// WatchOptions of one Watch.
type WatchOptions struct {
	Open func(context.Context) (*project.Project, error) // anew for each save: the store may come and go meanwhile
	Pace watch.Pace
	Look bool // look from time to time, also where the system tells of changes
	// By itself: no person ends it. It ends after that long without a change or when it cannot save, and with an error where the
	// system tells of no changes; 0: by hand.
	Idle time.Duration

	// What happened, one at a time, on the goroutine of Watch.
	Started func(root string, directories int) // directories: 0 where it looks from time to time
	Looking func(why error)                    // it only looks from now on; nil: as asked
	Saved   func(*checkpoint.Saved)
	Failed  func(error) // a save; the next change tries it again. The same error is reported once
}

// AlreadyWatchedError: another process watches the project.
type AlreadyWatchedError struct{ Root string }

func (e *AlreadyWatchedError) Error() string {
	return "another rewind watch runs in " + e.Root
}

// watchTool is what the checkpoints of Watch have as their tool.
const watchTool = "watch"

const (
	watchLockName = "watch"
	watchWhole    = time.Minute            // between two looks at everything: not all changes cause an event
	wholeShare    = 100                    // they take at most this part of the time
	watchRetry    = 10 * time.Second       // after a save that failed
	watchGitPause = 500 * time.Millisecond // while git has its index locked
	watchGitMost  = time.Minute            // a lock that is older was left behind
	watchSweep    = 50                     // saves between two sweeps
	lookShare     = 20                     // looking takes at most this part of the time
	lookMost      = time.Minute            // between two looks
)

// Watch saves when the tree has changed and come to rest, until ctx ends: then it saves what is not saved
// yet, and returns nil. Errors: *AlreadyWatchedError, watch.ErrGone where the root was moved or
// removed, those of opening the project at the beginning.
func Watch(ctx context.Context, o WatchOptions) error {
	p, err := o.Open(ctx)
	if err != nil {
		return err
	}
	w := &watching{WatchOptions: o, ctx: ctx, root: p.Root(), cache: p.StatCacheFile(), pause: watchWhole}
	lock, err := account.LockFile(account.Expired, filepath.Join(p.StoreDir(), account.LockName, watchLockName), watchLockName, true)
	p.Close()
	var busy *account.BusyError
	if errors.As(err, &busy) {
		return &AlreadyWatchedError{w.root}
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	if kind, remote := stores.Remote(w.root); remote && !o.Look {
		w.Look = true
		why := errors.New("it is on " + kind + ", which does not report changes by other machines")
		if o.Idle > 0 {
			return why
		}
		w.looks(why)
	} else if o.Look {
		w.looks(nil)
	}
	if !w.Look {
		err := w.follow()
		var limit *watch.LimitError
		if o.Idle > 0 || !errors.As(err, &limit) && !errors.Is(err, watch.ErrUnsupported) {
			return err
		}
		w.looks(err)
	}
	return w.look()
}

type watching struct {
	WatchOptions
	ctx    context.Context
	root   string
	failed string // the last text that Failed got
	saves  int
	server *watch.Server
	cache  string        // the stat cache's file
	whole  time.Time     // when everything was looked at last
	pause  time.Duration // until that is done again
}

func (w *watching) looks(why error) {
	if w.Looking != nil {
		w.Looking(why)
	}
}

// save saves, if something changed, and reports whether that is done.
func (w *watching) save(ctx context.Context) (bool, error) {
	if info, err := os.Stat(w.root); err != nil || !info.IsDir() {
		return false, watch.ErrGone
	}
	p, err := w.Open(ctx)
	if err == nil {
		defer p.Close()
		var saved *checkpoint.Saved
		began := time.Now()
		whole := began.Sub(w.whole) >= w.pause
		saved, err = Save(ctx, p, checkpoint.Options{Kind: manifest.PostTool, OnlyIfChanged: true, Whole: whole, By: conversation.Trigger{Tool: watchTool}})
		if err == nil {
			w.failed = ""
			if whole {
				w.whole, w.pause = began, max(watchWhole, wholeShare*time.Since(began))
			}
			if saved.Skipped {
				return true, nil
			}
			w.Saved(saved)
			w.sweep(ctx, p)
			return true, nil
		}
	}
	if ctx.Err() != nil {
		return false, nil
	}
	if text := err.Error(); text != w.failed {
		w.failed = text
		w.Failed(err)
	}
	return false, nil
}

// sweep lets go what retention does not keep, now and then.
func (w *watching) sweep(ctx context.Context, p *project.Project) {
	if w.saves++; w.saves%watchSweep != 0 || !p.Settings().Retention.Auto {
		return
	}
	_, _ = maintain.GC(ctx, p, maintain.GCOptions{Auto: true}) // the next one tries again
}

// last saves what came since the last save, when the person has ended it.
func (w *watching) last(dirty bool) error {
	if !dirty {
		return nil
	}
	_, err := w.save(context.WithoutCancel(w.ctx))
	return err
}

// tree watches the project under the rules of now.
func (w *watching) tree() (watch.Tree, func(), error) {
	p, err := w.Open(w.ctx)
	if err != nil {
		return nil, nil, err
	}
	defer p.Close()
	fs, err := rootfs.Open(w.root)
	if err != nil {
		return nil, nil, err
	}
	today := rules.Today(p, session.Kept(p), fs)
	o := watch.Options{Root: w.root, Wanted: today.Captures, Rules: ignore.RuleFile}
	if today.Rules != nil {
		o.Hash = scan.RulesHash(today.Rules, p.Settings().MaxFileSize)
	}
	t, err := watch.Open(o)
	if err != nil {
		fs.Close()
		return nil, nil, err
	}
	w.server.Answer(t)
	return t, func() { t.Close(); fs.Close() }, nil
}

// directories are those that a stat cache has, nil where it is not the present one.
func (w *watching) directories(id string) map[string]bool {
	cache, err := scan.LoadCache(w.cache)
	if err != nil || cache.ID() != id {
		return nil
	}
	return cache.Directories()
}

// follow saves as the system tells of changes. Errors: *watch.LimitError and watch.ErrUnsupported, where
// it can only be looked; watch.ErrGone.
func (w *watching) follow() error {
	w.server = watch.Serve(w.root, w.directories)
	defer w.server.Close()
	t, end, err := w.tree()
	if err != nil {
		return err
	}
	defer func() { end() }()
	w.Started(w.root, t.Directories())
	if done, err := w.save(w.ctx); err != nil {
		return err
	} else if !done && w.ctx.Err() != nil {
		return w.last(true)
	}
	var first, last, before time.Time // of what is not saved; of the last save
	last = time.Now()
	timer := time.NewTimer(w.rest())
	defer timer.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return w.last(!first.IsZero())
		case _, ok := <-t.Changed():
			if !ok {
				return t.Err()
			}
			last = time.Now()
			if first.IsZero() {
				first = last
			}
			timer.Reset(time.Until(w.Pace.Due(first, last, before)))
			continue
		case <-timer.C:
		}
		if w.Idle > 0 && first.IsZero() && time.Since(last) >= w.Idle {
			return nil
		}
		if gitBusy(w.root) {
			timer.Reset(watchGitPause)
			continue
		}
		done, err := w.save(w.ctx)
		if err != nil {
			return err
		}
		before = time.Now()
		if !done && w.Idle > 0 {
			return nil // the store may be gone for good; the next prompt starts another one
		}
		if !done {
			timer.Reset(watchRetry)
			continue
		}
		first = time.Time{}
		timer.Reset(w.rest())
		if t.Stale() {
			fresh, freshEnd, err := w.tree()
			if err != nil && w.Idle > 0 {
				return nil // as above
			} else if err != nil {
				return err
			}
			end()
			t, end = fresh, freshEnd
			timer.Reset(w.Pace.Least + w.Pace.Quiet) // what came while it did not watch
		}
	}
}

// rest is how long it waits for a change.
func (w *watching) rest() time.Duration {
	if w.Idle > 0 {
		return min(w.pause, w.Idle)
	}
	return w.pause
}

// look saves when two looks in a row find the same tree, and another than was saved.
func (w *watching) look() error {
	w.Started(w.root, 0)
	if done, err := w.save(w.ctx); err != nil {
		return err
	} else if !done && w.ctx.Err() != nil {
		return w.last(true)
	}
	settled, err := w.seen() // what is saved
	if err != nil {
		return err
	}
	seen, first, before := settled, time.Time{}, time.Now()
	pause := w.Pace.Quiet
	for {
		select {
		case <-w.ctx.Done():
			return w.last(!first.IsZero())
		case <-time.After(pause):
		}
		began := time.Now()
		now, err := w.seen()
		if err != nil {
			return err
		}
		pause = min(max(w.Pace.Quiet, lookShare*time.Since(began)), max(lookMost, w.Pace.Quiet))
		switch {
		case now == settled || now == (oid.ID{}):
			seen, first = now, time.Time{}
			continue
		case first.IsZero():
			first = began
		}
		moved := now != seen
		seen = now
		if moved && (w.Pace.Most == 0 || time.Since(first) < w.Pace.Most) || time.Since(before) < w.Pace.Least || gitBusy(w.root) {
			continue
		}
		done, err := w.save(w.ctx)
		if err != nil {
			return err
		}
		if before = time.Now(); done {
			settled, first = now, time.Time{}
		}
	}
}

// seen is the present tree; zero where it cannot be looked at.
func (w *watching) seen() (oid.ID, error) {
	if info, err := os.Stat(w.root); err != nil || !info.IsDir() {
		return oid.ID{}, watch.ErrGone
	}
	p, err := w.Open(w.ctx)
	if err == nil {
		defer p.Close()
		var c *checkpoint.Captured
		if c, err = checkpoint.CaptureTree(w.ctx, p, checkpoint.CaptureOptions{Look: true}); err == nil {
			defer c.Discard()
			w.failed = ""
			return c.Root(), nil
		}
	}
	if text := err.Error(); w.ctx.Err() == nil && text != w.failed {
		w.failed = text
		w.Failed(err)
	}
	return oid.ID{}, nil
}

// gitBusy reports whether git is changing the tree: between two states of it there is none to keep.
func gitBusy(root string) bool {
	dir := filepath.Join(root, ".git")
	if to, ok := gitrepo.LinkTarget(dir); ok { // of a worktree
		dir = to
	}
	info, err := os.Lstat(filepath.Join(dir, "index.lock"))
	return err == nil && time.Since(info.ModTime()) < watchGitMost
}
