package attribution

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

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
		h := &tracer{a: a, path: path, old: old, base: old, saved: old, last: from}
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
	err := a.ask(func(*manifest.DB) error {
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
				wanted = wanted || op.op != nil && match(a.madeBy("", nil, op, nil, nil).By)
			}
			if wanted {
				if err := look(pt.seq); err != nil {
					return err
				}
			}
		}
		if a.o.Now != nil {
			return look(ThenNow)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// Declared are the paths that edits of such work named, in order: also those that no checkpoint holds. Edits that may have
// been refused are left out.
func (a *Attribution) Declared(match func(*Work) bool) []string {
	found := map[string]bool{}
	for _, all := range [][]*window{a.windows, a.lasting} {
		for _, w := range all {
			if !w.edits() || w.doubtful || len(w.files) == 0 || !match(&w.Work) {
				continue
			}
			for _, f := range w.files {
				found[f] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
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
