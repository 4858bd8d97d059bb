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
	// Windows are those that no checkpoint has taken along yet.
	Windows []manifest.Window
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
	tells     map[source]bool // sessions that told of calls
	whole     bool            // in the whole log
	calls     map[callKey]*window
	texts     map[string]string // prompts by their ids
	dirs      map[oid.ID]manifest.Dir
	db        *manifest.DB // while a question is asked
	known     map[uint64][]Step
}

// New reads the log. Errors: those of project.Query.
func New(ctx context.Context, p *project.Project, o Options) (*Attribution, error) {
	a := &Attribution{ctx: ctx, p: p, o: o, dirs: map[oid.ID]manifest.Dir{}, known: map[uint64][]Step{}}
	if err := p.Query(ctx, a.load); err != nil {
		return nil, err
	}
	return a, nil
}

// Steps are the changes of a path, oldest first: from the first look that found it there.
func (a *Attribution) Steps(path string) (steps []Step, err error) {
	err = a.ask(func(db *manifest.DB) error {
		steps, err = a.steps(db, path)
		return err
	})
	return steps, err
}

// Ask is for several questions with one look into the database.
func (a *Attribution) Ask(questions func() error) error {
	return a.ask(func(*manifest.DB) error { return questions() })
}

// ask opens the database, where it is not open.
func (a *Attribution) ask(question func(*manifest.DB) error) error {
	if a.db != nil {
		return question(a.db)
	}
	return a.p.Query(a.ctx, func(db *manifest.DB) error {
		a.db = db
		defer func() { a.db = nil }()
		return question(db)
	})
}

// StepsOf is Steps for several paths, with one look into the database.
func (a *Attribution) StepsOf(paths []string) (map[string][]Step, error) {
	all := make(map[string][]Step, len(paths))
	err := a.ask(func(db *manifest.DB) error {
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
	h := &tracer{a: a, path: path, from: a.o.From}
	if len(versions) > 0 {
		h.old = versions[0].Old
	}
	h.base = h.old
	looks, err := a.looks(db, path, versions)
	if err != nil {
		return nil, err
	}
	i := 0
	for _, pt := range looks {
		var entry *manifest.Entry
		switch {
		case pt.touch != nil:
			entry = pt.touch.Entry
		case pt.c != nil:
			for versions[i].Seq < pt.seq {
				i++
			}
			entry = versions[i].New
		default:
			e, ok, err := manifest.Find(a.loadDir, pt.root, path)
			if project.IsDamage(a.p.Classify(err)) {
				continue // the checkpoints around it tell enough
			} else if err != nil {
				return nil, err
			}
			if ok {
				entry = &e
			}
		}
		if n := a.index(pt.seq); n > 0 {
			h.rest(a.points[n-1])
		}
		h.see(pt, entry)
	}
	if len(a.points) > 0 {
		h.rest(a.points[len(a.points)-1])
	}
	return h.steps, h.now()
}

// looks are the checkpoints that changed the path, all operations, and the path's touches.
func (a *Attribution) looks(db *manifest.DB, path string, versions []manifest.Version) ([]*point, error) {
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
	for t, err := range db.Touches(manifest.TouchQuery{From: a.o.From, To: a.o.To, Path: path}) {
		if err != nil {
			return nil, err
		}
		looks = append(looks, touchPoint(t))
	}
	slices.SortFunc(looks, func(x, y *point) int { return cmp.Compare(x.seq, y.seq) })
	return looks, nil
}

func touchPoint(t manifest.Touch) *point {
	return &point{seq: t.Seq, time: t.Time, touch: &t, at: map[string]time.Time{t.Path: t.Changed}}
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
	base  *manifest.Entry // in the newest checkpoint
	last  *point          // the newest look that found old; nil: none
	from  uint64          // steps up to it are not asked for
	steps []Step
}

// rest is a look at the whole tree that found nothing new.
func (t *tracer) rest(pt *point) {
	if t.last == nil || pt.seq > t.last.seq {
		if t.last != nil && t.last.touch != nil && !t.skips(pt, t.base) && !alike(t.old, t.base) {
			for first := t.a.index(t.last.seq); t.a.points[first] != pt; first++ {
				if t.a.points[first].c != nil {
					pt = t.a.points[first]
					break
				}
			}
			t.see(pt, t.base) // what the touch saw was taken back
			return
		}
		t.last = pt
	}
}

func (t *tracer) see(pt *point, entry *manifest.Entry) {
	if pt.touch != nil {
		t.before(pt)
	} else {
		t.base = entry
		if t.skips(pt, entry) {
			return
		}
	}
	if !alike(t.old, entry) && pt.seq > t.from {
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

// skips reports whether a checkpoint that was committed behind touches saw the path before them.
func (t *tracer) skips(pt *point, entry *manifest.Entry) bool {
	if pt.c == nil || t.last == nil || t.last.touch == nil || t.last.time.Before(pt.time) || alike(t.old, entry) {
		return false
	}
	for i := len(t.steps) - 1; i >= 0 && !t.steps[i].To.Time.Before(pt.time); i-- {
		if alike(t.steps[i].From.Entry, entry) {
			return true
		}
	}
	return false
}

// before sees to it that the path was as in the newest checkpoint in front of a call that left a touch behind it
// alone: else there were one in front of it.
func (t *tracer) before(pt *point) {
	c := pt.touch
	if !c.After || t.last == nil || t.last.touch == nil || alike(t.old, t.base) || sameCall(t.last.touch, c) {
		return
	}
	w := t.a.call(c)
	if w == nil || w.Start.Before(t.last.time) {
		return
	}
	t.see(&point{seq: t.last.seq, time: w.Start, touch: &manifest.Touch{Seq: t.last.seq, Time: w.Start, Agent: c.Agent, Session: c.Session, Subagent: c.Subagent,
		PromptID: c.PromptID, Tool: c.Tool, Call: c.Call, Path: c.Path, Entry: t.base}}, t.base)
}

func sameCall(a, b *manifest.Touch) bool {
	return a.Agent == b.Agent && a.Session == b.Session && a.Subagent == b.Subagent && a.Call == b.Call && (a.Call != "" || a.Tool == b.Tool)
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
	if from == nil && to.touch == nil {
		return Owner{Class: Outside} // it was there when the first look was taken
	}
	s := interval{path: path, hi: to.time, to: to.seq, deleted: deleted}
	if from != nil {
		s.lo, s.from = from.time, from.seq
	}
	if from != nil && from.touch != nil { // its commit takes no windows along
		s.from = a.commit(from.seq, -1)
	}
	if t := to.touch; t != nil {
		s.to, s.at = a.commit(to.seq, +1), to.changed(path, s.lo)
		by := &Work{Agent: t.Agent, Session: t.Session, Subagent: t.Subagent, PromptID: t.PromptID, Tool: t.Tool, Call: t.Call, Start: t.Time, End: t.Time}
		if !t.After {
			s.begins = by
			return a.owner(s)
		}
		return a.touched(s, from, t, by)
	}
	s.at = to.changed(path, s.lo)
	if c := to.c; c != nil && (c.Kind == manifest.PreTool || c.Kind == manifest.Prompt) {
		s.begins = &Work{Agent: c.Agent, Session: c.Session, Subagent: c.Subagent, Tool: c.Tool, Call: c.ToolUseID}
	}
	return a.owner(s)
}

// touched is the owner of what a call was seen to leave.
func (a *Attribution) touched(s interval, from *point, t *manifest.Touch, by *Work) Owner {
	w := a.call(t)
	if w != nil {
		by = &w.Work
	} else {
		by.Prompt = a.texts[by.PromptID]
	}
	// What was there before it is known: it was looked at, or it was as in the newest checkpoint.
	if from != nil && from.touch != nil && !from.touch.After && sameCall(from.touch, t) || w != nil && !w.Start.Equal(w.End) {
		o := Owner{Class: Declared, By: by}
		s.at = time.Time{} // what began behind the look is not meant
		for _, other := range a.overlapping(s) {
			if w == nil || other == w || other.kind != edit || !other.names(s.path) || other.End.Before(w.Start) && !other.End.IsZero() {
				continue
			}
			o.Also, o.Class = append(o.Also, &other.Work), Shared
		}
		return o
	}
	o := a.owner(s)
	also := o.Also
	if o.By != nil {
		also = append([]*Work{o.By}, also...)
	}
	also = slices.DeleteFunc(also, func(w *Work) bool { return w.source() == by.source() && w.Call == by.Call })
	if o = (Owner{Class: Declared, By: by, AlsoOutside: true}); len(also) > 0 {
		o.Also, o.Class = also, Shared
	}
	return o
}

// call is the window of a touch's call; nil where it is not known.
func (a *Attribution) call(t *manifest.Touch) *window {
	if t.Call == "" {
		return nil
	}
	return a.calls[callKey{source{t.Agent, t.Session, t.Subagent}, t.Call}]
}

// commit is the checkpoint before (-1) or behind a sequence number, by its own.
func (a *Attribution) commit(seq uint64, way int) uint64 {
	n := a.index(seq)
	if way < 0 {
		n--
	}
	for ; n >= 0 && n < len(a.points); n += way {
		if a.points[n].c != nil {
			return a.points[n].seq
		}
	}
	if way < 0 {
		return 0
	}
	return ThenNow
}

// Changes are the steps to checkpoint seq from the one before it, in path order; those of ThenNow from the
// newest. Of no such checkpoint there are none.
func (a *Attribution) Changes(seq uint64) ([]Step, error) {
	if steps, ok := a.known[seq]; ok {
		return steps, nil
	}
	steps, err := a.changes(seq)
	if err == nil {
		a.known[seq] = steps
	}
	return steps, err
}

func (a *Attribution) changes(seq uint64) ([]Step, error) {
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
	err = a.ask(func(db *manifest.DB) error {
		for i, pt := range looks[1:] {
			some, err := a.pair(db, looks[i], pt)
			if err != nil {
				return err
			}
			steps = append(steps, some...)
		}
		return nil
	})
	return steps, a.p.Classify(err)
}

// pair are the steps between two looks at the tree, with the touches between them.
func (a *Attribution) pair(db *manifest.DB, from, to *point) (steps []Step, err error) {
	touches := map[string][]*point{}
	q := manifest.TouchQuery{To: to.seq}
	if from != nil {
		q.From = from.seq
	}
	for t, err := range db.Touches(q) {
		if err != nil {
			return nil, err
		}
		touches[t.Path] = append(touches[t.Path], touchPoint(t))
	}
	trace := func(path string, old, new *manifest.Entry) {
		h := &tracer{a: a, path: path, old: old, base: old, last: from}
		for _, pt := range touches[path] {
			h.see(pt, pt.touch.Entry)
		}
		h.see(to, new)
		steps = append(steps, h.steps...)
		delete(touches, path)
	}
	err = a.differences(db, from, to, func(c manifest.Change) error {
		trace(c.Path, c.Old, c.New)
		return a.ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	for path := range touches { // what is as it was, and was not meanwhile
		e, ok, err := manifest.Find(a.loaderOf(to), to.root, path)
		switch {
		case err != nil:
			return nil, err
		case ok:
			trace(path, &e, &e)
		default:
			trace(path, nil, nil)
		}
	}
	return steps, nil
}

func (a *Attribution) loaderOf(pt *point) func(oid.ID) (manifest.Dir, error) {
	if pt.seq == ThenNow {
		return a.o.Now.Load
	}
	return a.loadDir
}

// differences visits what differs between two looks.
func (a *Attribution) differences(db *manifest.DB, from, to *point, visit func(manifest.Change) error) error {
	if from == nil || from.c == nil || to.c == nil {
		var root oid.ID
		if from != nil {
			root = from.root
		}
		return manifest.Diff(a.loaderOf(to), root, to.root, visit)
	}
	for c, err := range db.Changes(to.seq) {
		if err == nil {
			err = visit(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

// Between are the steps behind commit from, up to commit to (ThenNow: the working tree), by path, oldest first.
func (a *Attribution) Between(from, to uint64) (map[string][]Step, error) {
	steps := map[string][]Step{}
	take := func(seq uint64) error {
		some, err := a.Changes(seq)
		for _, s := range some {
			if s.To.Seq > from {
				steps[s.Path] = append(steps[s.Path], s)
			}
		}
		return err
	}
	err := a.ask(func(*manifest.DB) error {
		for _, pt := range a.points[a.index(from+1):] {
			if pt.seq > to {
				break
			}
			if pt.c == nil {
				continue
			}
			if err := take(pt.seq); err != nil {
				return err
			}
		}
		if to == ThenNow && a.o.Now != nil {
			return take(ThenNow)
		}
		return nil
	})
	return steps, err
}
