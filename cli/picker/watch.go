package picker

import (
	"fmt"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// The working tree gives no sign of a change, so it is scanned again and again while a page is open.
const (
	// treeEvery is how long it is left alone at least, and treeRest how many times as long as the last look took:
	// looking costs a fiftieth of a core at most.
	treeEvery = 4 * time.Second
	treeRest  = 50
	// TreeSoon and treeSoonRest are the same for somebody who comes back to the page, or chooses now.
	TreeSoon     = time.Second
	treeSoonRest = 5
	// The longer nothing changed, the longer it is left alone: a treeCalm-th of that time, treeLate at most.
	treeCalm = 20
	treeLate = 30 * time.Second
	// treeFresh is how long a look serves who asks for the rows because of it.
	treeFresh = 2 * time.Second
)

// TreeWatch is what the looks at the tree found. Its methods are called by several goroutines; nil is one that
// notes nothing.
type TreeWatch struct {
	Mu    sync.Mutex
	At    time.Time // when a look last succeeded
	ended time.Time // when one last did, or did not
	took  time.Duration
	soon  bool      // somebody waits for it
	moved time.Time // when it was last found otherwise, or somebody waited
	root  oid.ID
	fresh *timeline.Present // for the next one who wants the rows; nil for none
	log   string            // where the log was before fresh
}

// Due reports whether it is time to look.
func (w *TreeWatch) Due(now time.Time) bool {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	every, rest := treeEvery, time.Duration(treeRest)
	if w.soon {
		every, rest = TreeSoon, treeSoonRest
	} else if !w.moved.IsZero() {
		every = max(every, min(treeLate, now.Sub(w.moved)/treeCalm))
	}
	return now.Sub(w.ended) >= max(every, rest*w.took)
}

// Hasten makes it due soon.
func (w *TreeWatch) Hasten() {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.soon, w.moved = true, time.Now()
}

// Saw records a scan and its duration; n is nil if the scan failed.
func (w *TreeWatch) Saw(n *timeline.Present, took time.Duration) {
	if w == nil {
		return
	}
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.ended, w.took, w.soon = time.Now(), took, false
	if n != nil {
		if w.root != n.Root {
			w.moved = w.ended
		}
		w.At, w.root = w.ended, n.Root
	}
}

// Keep has a look ready for who wants the rows, as long as the log is where it was before it.
func (w *TreeWatch) Keep(n *timeline.Present, log string) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.fresh, w.log = n, log
}

// Take gives it, once; nil for none that is fresh.
func (w *TreeWatch) Take(last func() (string, error)) *timeline.Present {
	if w == nil {
		return nil
	}
	w.Mu.Lock()
	n, log, ended := w.fresh, w.log, w.ended
	w.fresh = nil
	w.Mu.Unlock()
	if n == nil || time.Since(ended) > treeFresh {
		return nil
	}
	if at, err := last(); err != nil || at != log {
		return nil
	}
	return n
}

// Word changes when the tree is found otherwise than it was.
func (w *TreeWatch) Word() string {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return fmt.Sprintf("%x", w.root[:8])
}
