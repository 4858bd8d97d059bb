package gitrepo

import (
	"sync"
	"sync/atomic"

	"github.com/rewind-cli/rewind/engine/ignore"
)

// LazyTracked is the set of tracked paths below a directory, read from the
// index when it is first asked: a scan in which nothing changed never asks.
// It is safe for concurrent use.
type LazyTracked struct {
	load   func() (*Tracked, error)
	failed *atomic.Pointer[error]
	folded func() *Tracked // nil where the case of letters counts
}

// Lazy is the set of paths below the directory given to Find, relative to it. With fold set
// (core.ignoreCase) the case of letters does not count.
func (r Repo) Lazy(fold bool) *LazyTracked {
	failed := &atomic.Pointer[error]{}
	l := &LazyTracked{failed: failed, load: sync.OnceValues(func() (*Tracked, error) {
		t, err := r.Tracked()
		if err != nil {
			failed.Store(&err)
			return nil, err
		}
		return t.Sub(r.Prefix), nil
	})}
	if fold {
		l.folded = sync.OnceValue(func() *Tracked {
			t, err := l.load()
			if err != nil {
				return &Tracked{}
			}
			return t.Folded()
		})
	}
	return l
}

// Load reads the index if that was not done yet. Errors are those of Repo.Tracked.
func (l *LazyTracked) Load() (*Tracked, error) { return l.load() }

// Failed is why the index could not be read, nil if it was read, or was not needed.
func (l *LazyTracked) Failed() error {
	if err := l.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Has is Tracked.Has; false where the index cannot be read.
func (l *LazyTracked) Has(path string) bool {
	t, err := l.load()
	return err == nil && (t.Has(path) || l.folded != nil && l.folded().Has(ignore.Fold(path)))
}

// HasBelow is Tracked.HasBelow; false where the index cannot be read.
func (l *LazyTracked) HasBelow(dir string) bool {
	t, err := l.load()
	return err == nil && (t.HasBelow(dir) || l.folded != nil && l.folded().HasBelow(ignore.Fold(dir)))
}

// Rule is Tracked.Rule; nil where that fails.
func (l *LazyTracked) Rule(path string) []byte {
	t, err := l.load()
	if err != nil {
		return nil
	}
	text, err := t.Rule(path)
	if err != nil {
		return nil
	}
	return text
}
