package attribution

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Options of New.
type Options struct {
	// From and To bound the commits that are asked about, To inclusive; 0: all.
	From, To uint64
	// Now is the working tree; nil: nobody looked.
	Now *Present
}

// Present is the working tree as a scan found it.
type Present struct {
	Time time.Time // when the scan began, on the file system's clock
	Root oid.ID
	Load func(oid.ID) (manifest.Dir, error) // its directories
	// At is the change time of each path that differs from the newest checkpoint, of a deleted one that of
	// its directory. nil: not known.
	At map[string]time.Time
}

// Attribution answers who changed what, of the log as New found it. It holds nothing open, and is for one
// goroutine. The caller holds the project.
type Attribution struct {
	ctx context.Context
	p   *project.Project
	o   Options

	points    []*point  // oldest first
	windows   []*window // but for those in lasting, in the order in which they opened
	reach     []uint64  // see reachOf
	lasting   []*window // left in the background, and open
	turns     []*window
	turnReach []uint64
	tells     map[source]bool
	dirs      map[oid.ID]manifest.Dir
}

// New reads the log. Errors: those of project.Query.
func New(ctx context.Context, p *project.Project, o Options) (*Attribution, error) {
	a := &Attribution{ctx: ctx, p: p, o: o, dirs: map[oid.ID]manifest.Dir{}}
	if err := p.Query(ctx, a.load); err != nil {
		return nil, err
	}
	return a, nil
}

// Steps are the changes of a path, oldest first: from the first look that found it there.
func (a *Attribution) Steps(path string) (steps []Step, err error) {
	err = a.p.Query(a.ctx, func(db *manifest.DB) error {
		steps, err = a.steps(db, path)
		return err
	})
	return steps, err
}

// StepsOf is Steps for several paths, with one look into the database.
func (a *Attribution) StepsOf(paths []string) (map[string][]Step, error) {
	all := make(map[string][]Step, len(paths))
	err := a.p.Query(a.ctx, func(db *manifest.DB) error {
		for _, path := range paths {
			steps, err := a.steps(db, path)
			if err != nil {
				return err
			}
			all[path] = steps
		}
		return nil
	})
	return all, err
}

func (a *Attribution) steps(db *manifest.DB, path string) ([]Step, error) {
	var versions []manifest.Version
	for v, err := range db.History(path) {
		if err != nil {
			return nil, err
		}
		if a.o.To != 0 && v.Seq > a.o.To {
			continue
		}
		versions = append(versions, v)
		if v.Seq <= a.o.From {
			break // what it was at the beginning
		}
	}
	slices.Reverse(versions)
	h := &tracer{a: a, path: path}
	if len(versions) > 0 {
		h.old = versions[0].Old
	}
	i := 0
	looks := a.looks(versions)
	for _, pt := range looks {
		var entry *manifest.Entry
		if pt.c != nil {
			for i < len(versions) && versions[i].Seq < pt.seq {
				i++
			}
			entry = versions[i].New
			if n := a.index(pt.seq); n > 0 && a.points[n-1].c != nil {
				h.rest(a.points[n-1]) // it was as before there
			}
		} else {
			e, ok, err := manifest.Find(a.loadDir, pt.root, path)
			if project.IsDamage(a.p.Classify(err)) {
				continue // verify tells of that; so do the checkpoints around it, which are live
			} else if err != nil {
				return nil, err
			}
			if ok {
				entry = &e
			}
		}
		h.see(pt, entry)
	}
	if err := h.now(); err != nil {
		return nil, err
	}
	return h.steps, nil
}

// looks are the checkpoints that changed the path, and all operations.
func (a *Attribution) looks(versions []manifest.Version) []*point {
	looks := make([]*point, 0, len(versions))
	for _, pt := range a.points {
		if pt.op != nil {
			looks = append(looks, pt)
		}
	}
	for _, v := range versions {
		if n := a.index(v.Seq); n < len(a.points) && a.points[n].seq == v.Seq {
			looks = append(looks, a.points[n])
		}
	}
	slices.SortFunc(looks, func(x, y *point) int { return cmp.Compare(x.seq, y.seq) })
	return looks
}

// index is that of the first point that is not older than a sequence number.
func (a *Attribution) index(seq uint64) int {
	return sort.Search(len(a.points), func(i int) bool { return a.points[i].seq >= seq })
}

// loadDir loads a directory, and keeps it.
func (a *Attribution) loadDir(id oid.ID) (manifest.Dir, error) {
	if d, ok := a.dirs[id]; ok {
		return d, nil
	}
	d, err := a.p.LoadDir(id)
	if err == nil {
		a.dirs[id] = d
	}
	return d, err
}

// tracer follows a path from look to look.
type tracer struct {
	a     *Attribution
	path  string
	old   *manifest.Entry
	last  *point // the newest look that found old; nil: none
	steps []Step
}

// rest is a look that found the path as it was.
func (t *tracer) rest(pt *point) {
	if t.last == nil || pt.seq > t.last.seq {
		t.last = pt
	}
}

func (t *tracer) see(pt *point, entry *manifest.Entry) {
	if !alike(t.old, entry) && pt.seq > t.a.o.From {
		s := Step{Path: t.path, To: pt.version(entry)}
		if t.last != nil {
			s.From = t.last.version(nil)
		}
		s.From.Entry = t.old
		s.Owner = t.a.madeBy(t.path, t.last, pt, entry == nil)
		t.steps = append(t.steps, s)
	}
	t.old, t.last = entry, pt
}

// now takes the working tree in.
func (t *tracer) now() error {
	n := t.a.o.Now
	if n == nil {
		return nil
	}
	e, ok, err := manifest.Find(n.Load, n.Root, t.path)
	if err != nil {
		return t.a.p.Classify(err)
	}
	var entry *manifest.Entry
	if ok {
		entry = &e
	}
	if len(t.a.points) > 0 {
		t.rest(t.a.points[len(t.a.points)-1])
	}
	t.see(n.point(), entry)
	return nil
}

func (n *Present) point() *point {
	return &point{seq: ThenNow, time: n.Time, root: n.Root, at: n.At}
}

// madeBy is the owner of what lies between two looks; from is nil where there was none.
func (a *Attribution) madeBy(path string, from, to *point, deleted bool) Owner {
	if to.op != nil {
		o := to.op
		verb := o.Verb
		if verb == "" {
			verb = string(o.Kind)
		}
		return Owner{Class: Operation, By: &Work{Session: o.Session, Tool: verb, Summary: o.Args, Start: o.Time, End: o.Time, Operation: o.Seq}}
	}
	s := interval{path: path, hi: to.time, to: to.seq, deleted: deleted}
	if from == nil {
		return Owner{Class: Outside} // it was there when the first look was taken
	}
	s.lo, s.from = from.time, from.seq
	s.at = to.changed(path, s.lo)
	if c := to.c; c != nil && (c.Kind == manifest.PreTool || c.Kind == manifest.Prompt) {
		s.begins = &Work{Agent: c.Agent, Session: c.Session, Subagent: c.Subagent, Tool: c.Tool, Call: c.ToolUseID}
	}
	return a.owner(s)
}

// Changes are the steps to checkpoint seq from the one before it, in path order; those of ThenNow from the
// newest. Of no such checkpoint there are none.
func (a *Attribution) Changes(seq uint64) ([]Step, error) {
	n := a.index(seq)
	var to *point
	switch {
	case seq == ThenNow && a.o.Now != nil:
		to, n = a.o.Now.point(), len(a.points)
	case n < len(a.points) && a.points[n].seq == seq && a.points[n].c != nil:
		to = a.points[n]
	default:
		return nil, nil
	}
	looks := []*point{to}
	for n--; n >= 0 && a.points[n].op != nil; n-- {
		looks = append(looks, a.points[n])
	}
	if n >= 0 {
		looks = append(looks, a.points[n])
	} else {
		looks = append(looks, nil)
	}
	slices.Reverse(looks)
	steps, err := a.between(looks)
	if len(looks) > 2 && project.IsDamage(err) {
		// What an operation left is kept by the checkpoint after it; where that is gone, they are one.
		steps, err = a.between([]*point{looks[0], to})
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(steps, func(x, y Step) int { return cmp.Compare(x.Path, y.Path) })
	return steps, nil
}

// between are the steps from look to look; the first may be nil, for nothing.
func (a *Attribution) between(looks []*point) (steps []Step, err error) {
	for i, pt := range looks[1:] {
		from := looks[i]
		err := a.differences(from, pt, func(c manifest.Change) error {
			s := Step{Path: c.Path, From: Version{Entry: c.Old}, To: pt.version(c.New)}
			if from != nil {
				s.From = from.version(c.Old)
			}
			s.Owner = a.madeBy(c.Path, from, pt, c.New == nil)
			steps = append(steps, s)
			return a.ctx.Err()
		})
		if err != nil {
			return nil, a.p.Classify(err)
		}
	}
	return steps, nil
}

// differences visits what differs between two looks.
func (a *Attribution) differences(from, to *point, visit func(manifest.Change) error) error {
	if from == nil || from.c == nil || to.c == nil {
		load := a.loadDir
		if to.seq == ThenNow {
			load = a.o.Now.Load
		}
		var root oid.ID
		if from != nil {
			root = from.root
		}
		return manifest.Diff(load, root, to.root, visit)
	}
	return a.p.Query(a.ctx, func(db *manifest.DB) error {
		for c, err := range db.Changes(to.seq) {
			if err == nil {
				err = visit(c)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Paths are those with a step that such work made, or could have made, in order.
func (a *Attribution) Paths(match func(*Work) bool) ([]string, error) {
	found := map[string]bool{}
	look := func(seq uint64) error {
		steps, err := a.Changes(seq)
		for _, s := range steps {
			if _, some := s.Of(match); some {
				found[s.Path] = true
			}
		}
		return err
	}
	var matching []*window
	for _, all := range [][]*window{a.windows, a.lasting, a.turns} {
		for _, w := range all {
			if match(&w.Work) {
				matching = append(matching, w)
			}
		}
	}
	for i, pt := range a.points {
		if pt.c == nil || pt.seq <= a.o.From || i == 0 {
			continue
		}
		before := i - 1
		for before > 0 && a.points[before].c == nil {
			before--
		}
		wanted := false
		for _, w := range matching {
			if wanted = w.opened <= pt.seq && (w.closed == 0 || w.closed >= a.points[before].seq); wanted {
				break
			}
		}
		for _, op := range a.points[before+1 : i] {
			wanted = wanted || op.op != nil && match(a.madeBy("", nil, op, false).By)
		}
		if wanted {
			if err := look(pt.seq); err != nil {
				return nil, err
			}
		}
	}
	if a.o.Now != nil {
		if err := look(ThenNow); err != nil {
			return nil, err
		}
	}
	paths := make([]string, 0, len(found))
	for p := range found {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths, nil
}
