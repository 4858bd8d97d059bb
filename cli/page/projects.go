package page

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/plan"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
)

// source answers the page: what the picker shows of a project, and plans as the picker makes them. The projects are
// those of the account's registry, beside the one that the command was given in.
type source struct {
	c     *app.Call
	first account.StoreID

	mu     sync.Mutex
	spaces map[account.StoreID]*space
	ctx    context.Context // of what spaces do by themselves; nil: nothing
	stop   context.CancelFunc
}

func newSource(c *app.Call, p *project.Project) *source {
	return &source{c: c, first: p.ID, spaces: map[account.StoreID]*space{p.ID: newSpace(c, p)}}
}

// begin lets the projects make what a page asks for first, before it does.
func (s *source) begin(ctx context.Context) {
	s.mu.Lock()
	s.ctx, s.stop = context.WithCancel(ctx)
	first := s.spaces[s.first]
	s.mu.Unlock()
	first.begin(s.ctx)
}

func newSpace(c *app.Call, p *project.Project) *space {
	s := &space{Source: picker.NewSource(c, p), plans: plan.New(c, p)}
	s.Share(s.lookAtTree)
	return s
}

// lookAtStores bounds how long the page's list of projects waits for directories that do not answer.
const lookAtStores = 500 * time.Millisecond

func (s *source) Projects(context.Context) ([]web.Project, error) {
	all, err := account.KnownStores(s.c.Env)
	if err != nil {
		s.c.Out.Note("the registry of stores: %v", err) // those that are open can still be looked at
	}
	roots, alive := map[account.StoreID]string{}, map[account.StoreID]func() bool{}
	for _, k := range all {
		roots[k.ID], alive[k.ID] = k.Root, func() bool { return k.State(s.c.Env) == account.Live }
	}
	s.mu.Lock()
	var pulled []web.Project
	for id, space := range s.spaces {
		if space.own != nil {
			continue
		}
		roots[id], alive[id] = space.P.Root(), func() bool { return space.there() == nil }
		logs, err := space.P.Pulled()
		if err != nil {
			s.c.Out.Note("what was pulled of other machines: %v", err)
		}
		for _, l := range logs {
			pulled = append(pulled, web.Project{ID: pulledID(space.P, l.Name).String(), Name: filepath.Base(space.P.Root()) + " of " + l.Name, Root: space.P.Root()})
		}
	}
	s.mu.Unlock()
	delete(alive, s.first) // it is what the page was opened for
	found := make(chan account.StoreID, len(alive))
	for id, there := range alive {
		go func() { // a mount that hangs must not keep the others
			if !there() {
				id = account.StoreID{}
			}
			found <- id
		}()
	}
	names := map[account.StoreID]string{s.first: roots[s.first]}
	over := time.After(lookAtStores)
wait:
	for range alive {
		select {
		case id := <-found:
			if id != (account.StoreID{}) {
				names[id] = roots[id]
			}
		case <-over:
			break wait
		}
	}
	out := pulled
	for id, root := range names {
		out = append(out, web.Project{ID: id.String(), Name: filepath.Base(root), Root: root})
	}
	slices.SortFunc(out, func(a, b web.Project) int {
		switch first := s.first.String(); {
		case a.ID == first:
			return -1
		case b.ID == first:
			return 1
		case a.Name != b.Name:
			return strings.Compare(a.Name, b.Name)
		}
		return strings.Compare(a.Root, b.Root)
	})
	return out, nil
}

// Space opens a project of the registry, once.
func (s *source) Space(ctx context.Context, name string) (web.Space, error) {
	id, err := account.ParseStoreID(name)
	if err != nil {
		return nil, noUIProject()
	}
	s.mu.Lock()
	space := s.spaces[id]
	if space == nil {
		space, err = s.pulled(id)
	}
	s.mu.Unlock()
	if space != nil || err != nil {
		return space, explained(err)
	}
	if space, err = s.open(ctx, id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.spaces[id]; before != nil { // two asked at once
		_ = space.P.Close()
		return before, nil
	}
	s.spaces[id] = space
	if s.ctx != nil {
		space.begin(s.ctx)
	}
	return space, nil
}

// pulledID is the page's name of what was pulled into a project under a name: of the form of a store's id, as all addresses are.
func pulledID(p *project.Project, name string) (id account.StoreID) {
	sum := oid.Sum([]byte(p.ID.String() + "/" + name))
	copy(id[:], sum[:])
	return id
}

// pulled is the space of a pulled log of an open project; nil where none has that id. The caller holds the lock.
func (s *source) pulled(id account.StoreID) (*space, error) {
	for _, own := range s.spaces {
		if own.own != nil {
			continue
		}
		logs, err := own.P.Pulled()
		if err != nil {
			return nil, err
		}
		for _, l := range logs {
			if pulledID(own.P, l.Name) != id {
				continue
			}
			v, err := own.P.View(l)
			if err != nil {
				return nil, err
			}
			s.spaces[id] = &space{Source: own.View(v), own: own, plans: own.plans}
			return s.spaces[id], nil
		}
	}
	return nil, nil
}

func (s *source) open(ctx context.Context, id account.StoreID) (*space, error) {
	all, err := account.KnownStores(s.c.Env)
	if err != nil {
		return nil, explained(err)
	}
	at := slices.IndexFunc(all, func(k account.KnownStore) bool { return k.ID == id })
	if at < 0 {
		return nil, noUIProject()
	}
	k := all[at]
	if state := k.State(s.c.Env); state != account.Live {
		return nil, &failure{app.Failure{Code: app.ExitNotFound, Message: "the store of " + app.EscapePath(k.Root) + " is " + string(state), Hint: "rewind stores says what is left of it"}, http.StatusGone}
	}
	// What was exported, or named, for the first project counts only there.
	c := *s.c
	c.Session, c.Root, c.Project, c.Env.Asked = "", k.Root, nil, ""
	p, err := project.Open(ctx, project.OpenOptions{Env: c.Env, Root: k.Root})
	if err != nil {
		return nil, explained(err)
	}
	if p.ID != id {
		_ = p.Close()
		return nil, &failure{app.Failure{Code: app.ExitNotFound, Message: "another store is in " + app.EscapePath(k.Root) + " now", Hint: "reload the page: it lists the projects"}, http.StatusGone}
	}
	maintain.CatchUp(ctx, p)
	return newSpace(&c, p), nil
}

func noUIProject() error {
	return &failure{app.Failure{Code: app.ExitNotFound, Message: "there is no such project", Hint: "reload the page: it lists the projects"}, http.StatusNotFound}
}

// close gives back what was opened beside the first project, which is the command's.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
	}
	for id, space := range s.spaces {
		space.ahead.end()
		if id != s.first && space.own == nil {
			_ = space.P.Close() // what had to be durable is so
		}
	}
}
