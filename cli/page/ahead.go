package page

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/cli/web"
)

// A page asks for the first rows, the changes and the conversation of the row that it opens at, and then for all rows. They are
// made before it asks: while a browser starts, and while the page draws what it has.

const (
	// aheadFresh is how long what was made ahead serves.
	aheadFresh = 20 * time.Second
	// aheadLook bounds the look at the tree for the first rows: a large tree's row of now comes with all of them.
	aheadLook = 40 * time.Millisecond
	// aheadAfter is how long nothing is made after the address is known: a browser takes longer to start.
	aheadAfter = 8 * time.Millisecond
	// aheadFor bounds how long all rows are made without being asked for.
	aheadFor = time.Minute
	// startRows are the first; the page asks for as many (FIRST in app.js).
	startRows = 200
)

// startView is what a page needs to draw itself for the first time.
type startView struct {
	Timeline *timelineView `json:"timeline"`
	ID       string        `json:"id,omitempty"` // of the row that it opens at
	Look     any           `json:"look,omitempty"`
	Talk     any           `json:"talk,omitempty"`
}

// ahead is what was made before it was asked for. Its methods are called by several goroutines.
type ahead struct {
	wg sync.WaitGroup // makes all rows

	mu     sync.Mutex
	ctx    context.Context // of what runs by itself; nil: nothing does
	start  *startView
	log    string // where the log was then
	made   time.Time
	all    *allAhead
	allAt  time.Time
	making chan struct{} // closed when all rows are there; nil: they are not being made
}

// allAhead are all rows, as they are sent.
type allAhead struct {
	news string
	data web.Encoded
}

// begin makes what a page asks for first, until ctx ends.
func (s *space) begin(ctx context.Context) {
	s.ahead.mu.Lock()
	s.ahead.ctx = ctx
	s.ahead.mu.Unlock()
	s.ahead.wg.Go(func() {
		select {
		case <-time.After(aheadAfter): // it serves first
		case <-ctx.Done():
			return
		}
		if release, err := s.take(ctx); err == nil {
			_, _ = s.startNow(ctx) // an error is returned to the request that needs it
			release()
		}
		s.makeAll() // then: it takes longer, and is asked for later
	})
}

// Start is what a page asks for first.
func (s *space) Start(ctx context.Context) (any, error) {
	release, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	at, err := s.LogAt()
	if err != nil {
		return nil, explained(err)
	}
	defer s.makeAll()
	a := &s.ahead
	a.mu.Lock()
	kept := a.start
	if time.Since(a.made) > aheadFresh || a.log != at || kept != nil && kept.Timeline.News != "" && kept.Timeline.News != s.newsAt(at) {
		kept = nil
	}
	a.start = nil
	a.mu.Unlock()
	if kept != nil {
		s.watch.hasten() // the tree is looked at once more
		return kept, nil
	}
	v, err := s.startNow(ctx)
	return v, explained(err)
}

// startNow makes it, and keeps it for who asks next. The caller has taken the project.
func (s *space) startNow(ctx context.Context) (*startView, error) {
	at, err := s.LogAt()
	if err != nil {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, aheadLook)
	n, _ := s.LookAtTree(soon)
	cancel()
	if n != nil {
		s.watch.keep(n, at)
	}
	v := &startView{}
	if v.Timeline, err = s.timelineOf(ctx, screen.InProject, startRows, n != nil, false, nil); err != nil {
		return nil, err
	}
	if at := openedAt(v.Timeline.Rows); at >= 0 {
		v.ID = v.Timeline.Rows[at].ID
		args := url.Values{"id": {v.ID}}.Get
		if look, err := s.look(ctx, args); err == nil {
			v.Look = look
		}
		if talk, err := s.talk(ctx, args); err == nil {
			v.Talk = talk
		}
	}
	a := &s.ahead
	a.mu.Lock()
	a.start, a.log, a.made = v, at, time.Now()
	a.mu.Unlock()
	return v, nil
}

// openedAt is the row that a page opens at: now where something is new in it, else the newest that shows something; -1 for
// none. newest in app.js says the same.
func openedAt(rows []rowView) int {
	shows := func(r rowView) bool { return !r.Dim && (r.Prompt || r.changes()) }
	for i, r := range rows {
		if r.ID == "@" && r.changes() || r.ID != "@" && shows(r) {
			return i
		}
	}
	return min(len(rows), 2) - 1
}

func (r *rowView) changes() bool {
	return r.Changes != nil && !r.Changes.None() || r.Then != nil
}

// makeAll makes all rows, unless they are there or being made, or nothing runs by itself. It does not take the project,
// since rows are only read.
func (s *space) makeAll() {
	a := &s.ahead
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx == nil || a.ctx.Err() != nil || a.making != nil || a.all != nil && time.Since(a.allAt) < aheadFresh {
		return
	}
	made := make(chan struct{})
	a.making = made
	ctx := a.ctx
	a.wg.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, aheadFor)
		defer cancel()
		var all *allAhead
		if v, err := s.timelineOf(ctx, screen.InProject, 0, true, true, nil); err == nil {
			if data, err := v.encoded(); err == nil {
				all = &allAhead{v.News, data}
			}
		}
		a.mu.Lock()
		a.all, a.allAt, a.making = all, time.Now(), nil
		a.mu.Unlock()
		close(made)
		time.AfterFunc(aheadFresh, func() { // no page asked for it, and it is large
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.all == all {
				a.all = nil
			}
		})
	})
}

// await waits for all rows, where they are being made. Whoever does must not have the project: others ask meanwhile.
func (a *ahead) await(ctx context.Context) {
	a.mu.Lock()
	making := a.making
	a.mu.Unlock()
	if making == nil {
		return
	}
	select {
	case <-making:
	case <-ctx.Done():
	}
}

// takeAll gives all rows, once, where they were made ahead and are what they would be now; else nil.
func (a *ahead) takeAll(s *space) any {
	a.mu.Lock()
	v, at := a.all, a.allAt
	a.all = nil
	a.mu.Unlock()
	if v == nil || time.Since(at) > aheadFresh {
		return nil
	}
	if news, err := s.news(); err != nil || v.news != news {
		return nil
	}
	return v.data
}

// end waits for what runs by itself; its context has ended.
func (a *ahead) end() { a.wg.Wait() }
