package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// The working tree tells nobody that it changed: while a page looks, it is looked at again and again.
const (
	// treeEvery is how long it is left alone at least, and treeRest how many times as long as the last look took:
	// looking costs a fiftieth of a core at most.
	treeEvery = 4 * time.Second
	treeRest  = 50
	// treeSoon and treeSoonRest are the same for somebody who comes back to the page, or chooses now.
	treeSoon     = time.Second
	treeSoonRest = 5
	// The longer nothing changed, the longer it is left alone: a treeCalm-th of that time, treeLate at most.
	treeCalm = 20
	treeLate = 30 * time.Second
	// treeFresh is how long a look serves who asks for the rows because of it.
	treeFresh = 2 * time.Second
)

// treeWatch is what the looks at the tree found. Its methods are called by several goroutines; nil is one that
// notes nothing.
type treeWatch struct {
	mu    sync.Mutex
	at    time.Time // when a look last succeeded
	ended time.Time // when one last did, or did not
	took  time.Duration
	soon  bool      // somebody waits for it
	moved time.Time // when it was last found otherwise, or somebody waited
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

// saw notes a look, that found nothing where n is nil.
func (w *treeWatch) saw(n *timeline.Present, took time.Duration) {
	if w == nil {
		return
	}
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
	if w == nil {
		return nil
	}
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

// word changes when the tree is found otherwise than it was.
func (w *treeWatch) word() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%x", w.root[:8])
}

// watchTree looks at the tree where that is due and nobody else works with the project.
func (s *uiSpace) watchTree(ctx context.Context) {
	if !s.watch.due(time.Now()) {
		return
	}
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	default:
		return
	}
	if !s.watch.due(time.Now()) {
		return // another page's
	}
	at, err := s.logAt()
	if err != nil {
		return // News says so
	}
	s.watch.keep(nil, at) // not that of before
	if n, _ := s.lookAtTree(ctx); n != nil {
		s.watch.keep(n, at)
	}
}

// Looked is when the tree was last looked at; "" for never.
func (s *uiSpace) Looked() string {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.at.IsZero() {
		return ""
	}
	return viewTime(s.watch.at)
}

// uiNow wants the tree looked at soon: the news tell what is found.
func (s *uiSpace) uiNow() any {
	s.watch.hasten()
	return map[string]string{"looked": s.Looked()}
}

// storeStamp says, by three stats, whether a store can be otherwise than it was: whoever watches asks it four times a
// second.
type storeStamp struct {
	mu      sync.Mutex
	files   []string // the format, the directory of packs and the newest pack of the log
	infos   []os.FileInfo
	checked time.Time // when the store was last really looked at
	settled bool      // then nothing of it was younger than stampFor
	log     string    // where its log was then
}

// stampFor is how long stats are trusted: two changes of a directory can have the same time. Where the last one is longer
// ago, the next one has another: then they are trusted for stampLong.
const (
	stampFor  = 2 * time.Second
	stampLong = 30 * time.Second
)

// still gives the log's place where nothing was touched since it was noted.
func (t *storeStamp) still(now time.Time) (log string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	trusted := stampFor
	if t.settled {
		trusted = stampLong
	}
	if len(t.infos) == 0 || now.Sub(t.checked) > trusted {
		return "", false
	}
	for i, was := range t.infos {
		is, err := os.Lstat(t.files[i])
		if err != nil || !os.SameFile(is, was) || is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) {
			t.infos = nil
			return "", false
		}
	}
	return t.log, true
}

// see takes the stamps of a store, before it is looked at.
func (t *storeStamp) see(store string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	objects := filepath.Join(store, account.ObjectsName)
	t.settled = true
	t.files, t.infos, t.checked = []string{filepath.Join(store, account.FormatName), objects}, nil, now
	if packs, _ := filepath.Glob(filepath.Join(objects, "log-*.pack")); len(packs) > 0 {
		t.files = append(t.files, slices.Max(packs))
	}
	for _, file := range t.files {
		info, err := os.Lstat(file)
		if err != nil {
			t.infos = nil
			return
		}
		t.infos = append(t.infos, info)
		age := now.Sub(info.ModTime())
		t.settled = t.settled && age > stampFor
	}
}

// note keeps what the look found; "" for nothing.
func (t *storeStamp) note(log string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.log = log; log == "" {
		t.infos = nil
	}
}
