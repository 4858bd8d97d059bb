package page

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/web"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// The working tree gives no sign of a change, so it is scanned again and again while a page is open.
const (
	// treeEvery is how long it is left alone at least, and treeRest how many times as long as the last look took:
	// looking costs a fiftieth of a core at most.
	treeEvery = 4 * time.Second
	treeRest  = 50
	// treeSoon and treeSoonRest are the same for a person who comes back to the page, or chooses now.
	treeSoon     = time.Second
	treeSoonRest = 5
	// The longer nothing changed, the longer it is left alone: a treeCalm-th of that time, treeLate at most.
	treeCalm = 20
	treeLate = 30 * time.Second
	// treeFresh is how long a look serves who asks for the rows because of it.
	treeFresh = 2 * time.Second
)

// treeWatch is what the looks at the tree found. Its methods are called by several goroutines.
type treeWatch struct {
	mu    sync.Mutex
	at    time.Time // when a look last succeeded
	ended time.Time // when one last did, or did not
	took  time.Duration
	soon  bool      // a person waits for it
	moved time.Time // when it was last found changed, or a person waited
	root  oid.ID
	fresh *timeline.Present // for the next one who wants the rows; nil for none
	log   string            // where the log was before fresh
}

// due reports whether it is time to look.
func (w *treeWatch) due(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	every, rest := treeEvery, time.Duration(treeRest)
	if w.soon {
		every, rest = treeSoon, treeSoonRest
	} else if !w.moved.IsZero() {
		every = max(every, min(treeLate, now.Sub(w.moved)/treeCalm))
	}
	return now.Sub(w.ended) >= max(every, rest*w.took)
}

// hasten makes it due soon.
func (w *treeWatch) hasten() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.soon, w.moved = true, time.Now()
}

// saw records a scan and its duration; n is nil if the scan failed.
func (w *treeWatch) saw(n *timeline.Present, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended, w.took, w.soon = time.Now(), took, false
	if n != nil {
		if w.root != n.Root {
			w.moved = w.ended
		}
		w.at, w.root = w.ended, n.Root
	}
}

// keep has a look ready for who wants the rows, as long as the log is where it was before it.
func (w *treeWatch) keep(n *timeline.Present, log string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fresh, w.log = n, log
}

// take gives it, once; nil for none that is fresh.
func (w *treeWatch) take(last func() (string, error)) *timeline.Present {
	w.mu.Lock()
	n, log, ended := w.fresh, w.log, w.ended
	w.fresh = nil
	w.mu.Unlock()
	if n == nil || time.Since(ended) > treeFresh {
		return nil
	}
	if at, err := last(); err != nil || at != log {
		return nil
	}
	return n
}

// lookedAt is when a look last succeeded.
func (w *treeWatch) lookedAt() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

// word changes when the tree is found otherwise than it was.
func (w *treeWatch) word() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%x", w.root[:8])
}

// watchTree looks at the tree when that is due and no other request works with the project.
func (s *space) watchTree(ctx context.Context) {
	if !s.watch.due(time.Now()) {
		return
	}
	release := s.TryTake()
	if release == nil {
		return
	}
	defer release()
	if !s.watch.due(time.Now()) {
		return // another page's
	}
	at, err := s.LogAt()
	if err != nil {
		return // News says so
	}
	s.watch.keep(nil, at) // not that of before
	if n, _ := s.LookAtTree(ctx); n != nil {
		s.watch.keep(n, at)
	}
}

// lookAtTree looks at the tree, or takes a look that is fresh.
func (s *space) lookAtTree(ctx context.Context) (*timeline.Present, error) {
	if now := s.watch.take(s.LogAt); now != nil {
		return now, nil
	}
	from := time.Now()
	now, err := timeline.Look(ctx, s.P)
	if err != nil {
		now = nil
	}
	s.watch.saw(now, time.Since(from))
	return now, err
}

// Looked is when the tree was last looked at; "" for never.
func (s *space) Looked() string {
	at := s.watch.lookedAt()
	if at.IsZero() {
		return ""
	}
	return app.ViewTime(at)
}

// now wants the tree looked at soon: the news tell what is found.
func (s *space) now(context.Context, web.Args) (any, error) {
	s.watch.hasten()
	return map[string]string{"looked": s.Looked()}, nil
}
