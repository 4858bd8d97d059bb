package attribution

import (
	"slices"
	"time"

	"github.com/rewind-cli/rewind/manifest"
)

// tracer follows a path from look to look.
type tracer struct {
	a     *Attribution
	path  string
	old   *manifest.Entry
	base  *manifest.Entry // as the newest look at the whole tree found it
	saved *manifest.Entry // in the newest checkpoint
	last  *point          // the newest look that found old; nil: none
	from  uint64          // steps up to it are not asked for
	whole bool            // all looks at the path are followed
	steps []Step
}

// rest is a look at the whole tree that found nothing new in checkpoints. The first one behind a touch, or an operation,
// may have found something else than that.
func (t *tracer) rest(pt *point) {
	if t.last != nil && pt.seq <= t.last.seq {
		return
	}
	if t.last != nil && t.last.c == nil && !alike(t.old, t.saved) {
		for _, first := range t.a.points[t.a.index(t.last.seq):] {
			if first.seq > pt.seq {
				break
			}
			if first.c != nil && !t.skips(first, t.saved) {
				t.see(first, t.saved) // what it saw was taken back
				break
			}
		}
	}
	t.last = pt
}

func (t *tracer) see(pt *point, entry *manifest.Entry) {
	if pt.touch != nil {
		t.before(pt)
	} else {
		if t.base = entry; pt.c != nil {
			t.saved = entry
		}
		if t.skips(pt, entry) {
			return
		}
	}
	if !alike(t.old, entry) && pt.seq > t.from {
		t.step(pt, entry)
	} else if t.equals(pt) {
		t.step(pt, entry)
	} else if n := len(t.steps); n > 0 && pt.c != nil {
		if s, at := &t.steps[n-1], pt.changed(t.path, time.Time{}); at.After(s.Written) && !s.Written.IsZero() {
			s.Again = at
		}
	}
	t.old, t.last = entry, pt
}

func (t *tracer) step(pt *point, entry *manifest.Entry) {
	s := Step{Path: t.path, To: pt.version(entry), Edit: pt.touch != nil && pt.touch.After, Back: pt.back}
	if t.last != nil {
		s.From = t.last.version(nil)
	}
	s.From.Entry = t.old
	s.Written = pt.changed(t.path, time.Time{})
	s.Owner = t.a.madeBy(t.path, t.last, pt, t.old, entry)
	t.steps = append(t.steps, s)
}

// equals reports whether an operation left a path as it was, since the state that it went to has the same there, while the path was
// written in between: from then on it is whose it was in that state.
func (t *tracer) equals(pt *point) bool {
	n := len(t.steps)
	if !t.whole || pt.back == 0 || pt.op.OfSome() || pt.seq <= t.from || n == 0 || t.steps[n-1].To.Seq <= pt.back {
		return false
	}
	undone := func(s Step) bool { return s.Class == Operation && s.To.Seq >= pt.op.Undoes }
	if pt.op.Undoes != 0 && !slices.ContainsFunc(t.steps, undone) {
		return false // what was undone had not changed it
	}
	for i := n - 1; i >= 0; i-- {
		if t.steps[i].To.Seq <= pt.back {
			return alike(t.steps[i].To.Entry, t.old)
		}
	}
	return alike(t.steps[0].From.Entry, t.old) && t.from < pt.back
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
	if w == nil || w.Start.Before(t.last.time) || w.missing(t.path) || !t.a.checkpointBetween(t.last.seq, pt.seq) {
		return // without a checkpoint between them it was looked at, if that could be
	}
	t.see(&point{seq: t.last.seq, time: w.Start, touch: &manifest.Touch{Seq: t.last.seq, Time: w.Start, Agent: c.Agent, Session: c.Session, Subagent: c.Subagent,
		PromptID: c.PromptID, Tool: c.Tool, Call: c.Call, Path: c.Path, Entry: t.base}}, t.base)
}

// checkpointBetween reports whether a checkpoint lies between two sequence numbers.
func (a *Attribution) checkpointBetween(after, before uint64) bool {
	for i := a.index(before) - 1; i >= 0 && a.points[i].seq > after; i-- {
		if a.points[i].c != nil {
			return true
		}
	}
	return false
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
