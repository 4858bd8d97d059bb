package search

import (
	"context"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// state is a checkpoint as it is searched: what it takes to ask for it again.
type state struct {
	seq  uint64
	root oid.ID
}

// version is what a path had from a state on.
type version struct {
	state   uint32 // its number, from the oldest; the working tree is behind the last
	content uint32 // its number, from 1; 0: the path was absent, or no file
}

// timeline is which content each path had, and when.
type timeline struct {
	states   []state // oldest first
	contents []content
	paths    []string // in byte order
	precious []bool   // a version of the path was marked
	first    []int    // of each path's versions, and the end
	versions []version
	problems []Problem
}

// Problem is something that could not be searched.
type Problem struct {
	Path string // "" where a checkpoint's tree cannot be read
	Seq  uint64 // of a checkpoint that has it; 0: the working tree
	Err  error
}

// gatherer makes a timeline.
type gatherer struct {
	*timeline
	ctx     context.Context
	p       *project.Project
	db      *manifest.DB
	chosen  pathspec.Selection
	pathIDs map[string]uint32
	known   map[oid.ID]uint32
	all     []event
}

// event is a version before it is sorted by its path.
type event struct {
	path uint32
	version
}

func newGatherer(ctx context.Context, p *project.Project, db *manifest.DB, chosen pathspec.Selection) *gatherer {
	return &gatherer{timeline: &timeline{contents: make([]content, 1)}, ctx: ctx, p: p, db: db, chosen: chosen,
		pathIDs: map[string]uint32{}, known: map[oid.ID]uint32{}}
}

// checkpoints collects the changes of all checkpoints, oldest first.
func (g *gatherer) checkpoints() error {
	for c, err := range g.db.Checkpoints(manifest.Query{All: true}) {
		if err != nil {
			return err
		}
		g.states = append(g.states, state{c.Seq, c.Root})
	}
	slices.Reverse(g.states)
	count := g.p.Counting("look through", "checkpoint")
	var good oid.ID // tree of the newest state that could be read
	broken := false
	for i, s := range g.states {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		if i%256 == 0 {
			count(i, len(g.states))
		}
		// A change is taken only when all of its checkpoint were read.
		before := len(g.all)
		err := g.changes(s, good, broken, func(c manifest.Change) error {
			g.add(uint32(i), c, false)
			return nil
		})
		switch {
		case err == nil:
			good, broken = s.root, false
		case project.IsDamage(err):
			g.all, broken = g.all[:before], true
			g.problems = append(g.problems, Problem{Seq: s.seq, Err: err})
		default:
			return err
		}
	}
	count(len(g.states), len(g.states))
	return nil
}

// changes visits what a state changed against the one before; or, where that could not be read, against the
// last that could.
func (g *gatherer) changes(s state, good oid.ID, broken bool, visit func(manifest.Change) error) error {
	if broken {
		return manifest.Diff(g.p.LoadDir, good, s.root, visit)
	}
	return manifest.Each(g.db.Changes(s.seq), visit)
}

// add notes a change of a file. Links and directories have no content.
func (g *gatherer) add(state uint32, c manifest.Change, staged bool) {
	if !c.Old.IsFile() && !c.New.IsFile() {
		return
	}
	if c.Old.IsFile() && c.New.IsFile() && c.Old.ID == c.New.ID && c.Old.Kind == c.New.Kind && !c.Precious() {
		return // its mode
	}
	id, known := g.pathIDs[c.Path]
	if !known {
		if !g.chosen.Match(c.Path) {
			return
		}
		path := strings.Clone(c.Path)
		id = uint32(len(g.paths))
		g.pathIDs[path] = id
		g.paths = append(g.paths, path)
		g.precious = append(g.precious, false)
	}
	g.precious[id] = g.precious[id] || c.Precious()
	e := event{path: id, version: version{state: state}}
	if c.New.IsFile() {
		e.content = g.content(c.New, staged)
	}
	g.all = append(g.all, e)
}

func (g *gatherer) content(e *manifest.Entry, staged bool) uint32 {
	n, ok := g.known[e.ID]
	if !ok {
		n = uint32(len(g.contents))
		g.known[e.ID] = n
		g.contents = append(g.contents, content{id: e.ID, size: e.Size, kind: e.Kind, staged: staged})
	}
	return n
}

// done sorts what was collected by path.
func (g *gatherer) done() *timeline {
	order := make([]uint32, len(g.paths))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(g.paths[a], g.paths[b]) })
	place := make([]int, len(order)) // of a path, in the order
	paths, precious := make([]string, len(order)), make([]bool, len(order))
	for at, id := range order {
		place[id], paths[at], precious[at] = at, g.paths[id], g.precious[id]
	}
	g.first = make([]int, len(paths)+1)
	for _, e := range g.all {
		g.first[place[e.path]+1]++
	}
	for i := range paths {
		g.first[i+1] += g.first[i]
	}
	g.versions = make([]version, len(g.all))
	next := slices.Clone(g.first)
	for _, e := range g.all { // each path's stay in the order of the states
		at := place[e.path]
		g.versions[next[at]] = e.version
		next[at]++
	}
	g.paths, g.precious = paths, precious
	return g.timeline
}

// of are the versions of a path, oldest first.
func (t *timeline) of(path int) []version { return t.versions[t.first[path]:t.first[path+1]] }
