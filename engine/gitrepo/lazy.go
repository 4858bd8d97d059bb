package gitrepo

import "sync"

// LazyTracked is the set of tracked paths below a directory, read from the
// index when it is first asked: a scan in which nothing changed never asks.
// It is safe for concurrent use.
type LazyTracked struct {
	load func() (*Tracked, error)
}

// Lazy is the set of paths below the directory given to Find, relative to it.
func (r Repo) Lazy() *LazyTracked {
	return &LazyTracked{sync.OnceValues(func() (*Tracked, error) {
		t, err := r.Tracked()
		if err != nil {
			return nil, err
		}
		return t.Sub(r.Prefix), nil
	})}
}

// Load reads the index if that was not done yet. Errors are those of Repo.Tracked.
func (l *LazyTracked) Load() (*Tracked, error) { return l.load() }

// Has is Tracked.Has; false where the index cannot be read.
func (l *LazyTracked) Has(path string) bool {
	t, err := l.load()
	return err == nil && t.Has(path)
}

// HasBelow is Tracked.HasBelow; false where the index cannot be read.
func (l *LazyTracked) HasBelow(dir string) bool {
	t, err := l.load()
	return err == nil && t.HasBelow(dir)
}
