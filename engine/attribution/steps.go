package attribution

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Steps are the changes of a path, oldest first: from the first look that found it there.
func (a *Attribution) Steps(path string) (steps []Step, err error) {
	err = a.ask(func(db *manifest.DB) error {
		steps, err = a.steps(db, path)
		return err
	})
	return steps, err
}

// StepsOf is Steps for several paths, with one look into the database.
func (a *Attribution) StepsOf(paths []string) (map[string][]Step, error) {
	all := make(map[string][]Step, len(paths))
	err := a.ask(func(db *manifest.DB) error {
		var histories map[string][]manifest.Version
		var failed error
		var beside sync.WaitGroup
		beside.Go(func() { histories, failed = db.Histories(paths) })
		touches, err := db.TouchesOf(manifest.TouchQuery{From: a.o.From, To: a.o.To}, paths)
		beside.Wait()
		if err = errors.Join(failed, err); err != nil {
			return err
		}
		for _, path := range paths {
			steps, err := a.trace(path, histories[path], touches[path])
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
		versions = append(versions, v)
		if v.Seq <= a.o.From {
			break // what it was at the beginning
		}
	}
	touches, err := db.TouchesOf(manifest.TouchQuery{From: a.o.From, To: a.o.To}, []string{path})
	if err != nil {
		return nil, err
	}
	return a.trace(path, versions, touches[path])
}

// trace follows a path through its history, the newest first, and its touches, the oldest first.
func (a *Attribution) trace(path string, history []manifest.Version, touches []manifest.Touch) ([]Step, error) {
	var versions []manifest.Version
	for _, v := range history {
		if a.o.To != 0 && v.Seq > a.o.To {
			continue
		}
		versions = append(versions, v)
		if v.Seq <= a.o.From {
			break // what it was at the beginning
		}
	}
	slices.Reverse(versions)
	h := &tracer{a: a, path: path, from: a.o.From, whole: true}
	if len(versions) > 0 {
		h.old = versions[0].Old
	}
	h.base, h.saved = h.old, h.old
	i := 0
	for _, pt := range a.looks(versions, touches) {
		var entry *manifest.Entry
		switch {
		case pt.touch != nil:
			entry = pt.touch.Entry
		case pt.c != nil:
			for versions[i].Seq < pt.seq {
				i++
			}
			entry = versions[i].New
		case pt.root.IsZero():
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
		if !pt.root.IsZero() || pt.op == nil {
			h.see(pt, entry)
		} else if h.equals(pt) {
			h.step(pt, h.old)
		}
	}
	if len(a.points) > 0 {
		h.rest(a.points[len(a.points)-1])
	}
	return h.steps, h.now()
}

// looks are the checkpoints that changed a path, all operations, and the path's touches.
func (a *Attribution) looks(versions []manifest.Version, touches []manifest.Touch) []*point {
	looks := make([]*point, 0, len(versions)+len(touches))
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
	for _, t := range touches {
		looks = append(looks, touchPoint(t))
	}
	looks = append(looks, a.idle...)
	slices.SortFunc(looks, func(x, y *point) int { return cmp.Compare(x.seq, y.seq) })
	return looks
}

func touchPoint(t manifest.Touch) *point {
	return &point{seq: t.Seq, time: t.Time, touch: &t, at: map[string]time.Time{t.Path: t.Changed}}
}
