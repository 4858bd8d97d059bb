package timeline

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/engine/gitevents"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/project"
)

// gitSpan is the two states between which a row tells what git did: from its own, or of an operation from the one before
// it, to the next. So each event is in one row, whichever rows are shown. via is what the row itself left: of what an operation
// brought back, and git lost again, both are told.
type gitSpan struct{ from, via, to gitevents.Point }

// point is what is known of git in a state.
func (s *State) point() gitevents.Point {
	return gitevents.Point{Root: s.Root, State: s.git, Repository: s.repository}
}

// spanGit says of a row from which state on it tells what git did, and which one it left; until is the next state, nil for not known.
func (r *Row) spanGit(from, left, until *State) {
	if until == nil {
		until = left
	}
	span := gitSpan{from.point(), left.point(), until.point()}
	if span.from.State != span.via.State || span.via.State != span.to.State || span.from.Repository != span.to.Repository {
		r.span = &span
	}
}

// maxGitLooks bounds how many rows without any other news are looked at for what git did.
const maxGitLooks = 1000

// unfoldGit shows a row that has no other news than what git did.
func (t *Timeline) unfoldGit(r *Row) error {
	if r.Folded == "" || r.Folded == TakenBack {
		return nil
	}
	tells, err := t.tellsGit(r)
	if tells {
		r.Folded = ""
	}
	return err
}

// tellsGit reports whether git did something in a row that is shown for nothing else. Of a long history not all is looked at.
func (t *Timeline) tellsGit(r *Row) (bool, error) {
	if r.span == nil || t.gitLooks >= maxGitLooks {
		return false, nil
	}
	t.gitLooks++
	if t.git == nil {
		t.git = NewGit(t.p, t.o.Present, t.o.Git)
	}
	events, err := t.git.Of(r)
	return len(events) > 0, err
}

// GitMemory remembers what git did between states: what is shown again and again reads each of them once. Its methods are
// called by several goroutines.
type GitMemory struct {
	mu    sync.Mutex
	known map[gitSpan][]gitevents.Event
}

// mostRemembered bounds a memory, in spans.
const mostRemembered = 20_000

func (m *GitMemory) find(span gitSpan) ([]gitevents.Event, bool) {
	if m == nil {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	events, ok := m.known[span]
	return events, ok
}

func (m *GitMemory) keep(span gitSpan, events []gitevents.Event) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= mostRemembered {
		m.known = map[gitSpan][]gitevents.Event{}
	}
	m.known[span] = events
}

// Git reads what git did in rows. It is for one goroutine; the caller holds the project.
type Git struct {
	p      *project.Project
	now    *Present
	memory *GitMemory
	reader *gitevents.Reader
}

// NewGit reads of rows that were made with now, which may be nil: the tree was not looked at. So may memory.
func NewGit(p *project.Project, now *Present, memory *GitMemory) *Git {
	return &Git{p, now, memory, gitevents.NewReader(gitstate.InStore(p), p.Root())}
}

// Of is what git did from a row's state until the next, the oldest event first: it costs nothing where git's state is the
// same. What is damaged is not known: verify tells of that. It is read once.
func (g *Git) Of(r *Row) ([]gitevents.Event, error) {
	if r.span == nil {
		return nil, nil
	}
	if r.git != nil {
		return *r.git, nil
	}
	events, known := g.memory.find(*r.span)
	if !known {
		first, err := g.between(r.span.from, r.span.via)
		if err != nil {
			return nil, err
		}
		then, err := g.between(r.span.via, r.span.to)
		if err != nil {
			return nil, err
		}
		events = append(first, then...)
		g.memory.keep(*r.span, events)
	}
	r.git = &events
	return events, nil
}

func (g *Git) between(from, to gitevents.Point) ([]gitevents.Event, error) {
	switch {
	case from == to:
		return nil, nil
	case g.now != nil && to == g.now.point() && from == g.now.gitSince:
		return slices.Clone(g.now.git), nil
	}
	events, err := g.reader.Between(from, to)
	if err = g.p.Classify(err); project.IsDamage(err) || errors.As(err, new(*gitstate.FormatError)) {
		return nil, nil
	}
	return events, err
}

// ReadGit reads what git did in rows, the first of them first, for as long as it may take. Git gives it then.
func ReadGit(ctx context.Context, p *project.Project, rows []*Row, now *Present, memory *GitMemory, within time.Duration) error {
	until := time.Now().Add(within)
	var git *Git
	for _, r := range rows {
		if r.span == nil || r.git != nil {
			continue
		}
		if git == nil {
			release, err := p.Use(ctx)
			if err != nil {
				return err
			}
			defer release()
			git = NewGit(p, now, memory)
		}
		if err := ctx.Err(); err != nil || time.Now().After(until) {
			return err
		}
		if _, err := git.Of(r); err != nil {
			return err
		}
	}
	return nil
}

// Git is what git did in a row, the oldest event first; none where it was not read.
func (r *Row) Git() []gitevents.Event {
	if r.git == nil {
		return nil
	}
	return *r.git
}

// lookAtGit reads what git did since the newest state, as long as the capture is there.
func (n *Present) lookAtGit(ctx context.Context, objects gitstate.Objects, p *project.Project, since gitevents.Point) error {
	n.gitSince = since
	events, err := gitevents.NewReader(objects, p.Root()).Between(since, n.point())
	if err != nil && ctx.Err() != nil {
		return err
	}
	n.git = events // what is damaged, or no state of git's, has none
	return nil
}

func (n *Present) point() gitevents.Point {
	return gitevents.Point{Root: n.Root, State: n.gitState, Repository: n.repository}
}
