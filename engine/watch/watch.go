package watch

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrUnsupported: the system does not tell of changes.
	ErrUnsupported = errors.New("this system does not tell of changes")
	// ErrGone: the directory was moved, removed or unmounted.
	ErrGone = errors.New("the directory is gone")
)

// LimitError: the system watches no more directories, or for no more programs.
type LimitError struct {
	Setting string // of the system
	Limit   string // its value, "" where it cannot be read
}

func (e *LimitError) Error() string {
	if e.Limit == "" {
		return "the system's limit " + e.Setting + " is reached"
	}
	return fmt.Sprintf("the system's limit %s = %s is reached", e.Setting, e.Limit)
}

// Options of a tree that is watched.
type Options struct {
	Root   string
	Wanted func(path string, dir bool) bool // relative to Root, with /; called by one goroutine at a time
	Rules  func(name string) bool           // is a file that decides what Wanted says; nil: none
	Hash   uint64                           // of the rules that decide, those files apart
}

// Tree is a directory that is watched.
type Tree interface {
	// Changed holds a value after one or more changes. It is closed when there will be no more: Err says why.
	Changed() <-chan struct{}
	// Stale reports whether what counts may have changed: the tree is to be opened anew.
	Stale() bool
	// Directories counts those that are watched.
	Directories() int
	// Watches reports whether all of these directories are watched that are there.
	Watches(dirs map[string]bool) bool
	// Err is why Changed was closed: ErrGone, *LimitError; nil after Close.
	Err() error
	// Ask says what may have changed, and Seen takes the report on the look that followed.
	Ask(Question) Answer
	Seen(*Answer, Report)
	Close()
}

// Pace says when a tree that changes is looked at.
type Pace struct {
	Quiet time.Duration // it has been still for so long
	Least time.Duration // between two looks
	Most  time.Duration // it is looked at after this although it does not come to rest; 0: never
}

// Due is when to look: first and last are the times of the first and the last change since
// the look before, which was at before (zero for none).
func (p Pace) Due(first, last, before time.Time) time.Time {
	due := last.Add(p.Quiet)
	if p.Most > 0 && due.After(first.Add(p.Most)) {
		due = first.Add(p.Most)
	}
	if !before.IsZero() && due.Before(before.Add(p.Least)) {
		due = before.Add(p.Least)
	}
	return due
}
