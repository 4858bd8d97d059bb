package attribution

import (
	"slices"
	"time"

	"github.com/rewind-cli/rewind/manifest"
)

// linked is the owner of a path that an edit wrote through another name of the same file: hard links have their content
// and their change time in common. No call declares the other names.
func (a *Attribution) linked(s *interval, is *manifest.Entry) (o Owner, ok bool) {
	if a.db == nil || a.linking || is == nil || is.Kind == manifest.Subdir || s.at.IsZero() || s.at.Nanosecond() == 0 {
		return o, false
	}
	asked := a.o.From
	defer func() { a.linking, a.o.From = false, asked }()
	a.linking, a.o.From = true, min(asked, a.commit(s.to, -1)) // the edit may be older than what is asked about
	for _, t := range a.writtenAt(s)[s.at.UnixNano()] {
		if t.Path == s.path || t.Seq <= s.from || t.Entry == nil || !alike(t.Entry, is) {
			continue
		}
		steps, err := a.steps(a.db, t.Path)
		if err != nil {
			return o, false
		}
		var own []Step
		for _, step := range steps {
			if step.To.Seq > s.from && step.To.Seq <= t.Seq {
				own = append(own, step)
			}
		}
		if len(own) > 0 {
			return Together(own), true
		}
	}
	return o, false
}

// writtenAt are the touches behind edits in front of a commit, since the checkpoint before it, by when their paths were written.
func (a *Attribution) writtenAt(s *interval) map[int64][]manifest.Touch {
	if found, ok := a.written[s.to]; ok {
		return found
	}
	found := map[int64][]manifest.Touch{}
	for t, err := range a.db.Touches(manifest.TouchQuery{From: a.commit(s.to, -1), To: s.to}) {
		if err != nil {
			break // whoever asks for the path itself meets it
		}
		if t.After && !t.Changed.Equal(time.Time{}) {
			found[t.Changed.UnixNano()] = append(found[t.Changed.UnixNano()], t)
		}
	}
	if a.written == nil {
		a.written = map[uint64]map[int64][]manifest.Touch{}
	}
	a.written[s.to] = found
	return found
}

// WroteSame are the calls that wrote a path after a step had made it, and left it as it was: those that named it, and
// commands that ran when it was written again. steps are those of the path; now is when it was written last.
func (a *Attribution) WroteSame(steps []Step, made *Step, now time.Time) (works []*Work) {
	var again []time.Time
	for i := range steps {
		if s := &steps[i]; !s.Again.IsZero() && s.To.Seq >= made.To.Seq {
			again = append(again, s.Again)
		}
	}
	// What an operation brought back, it wrote itself.
	if s := &steps[len(steps)-1]; s.Class != Operation && !s.Written.IsZero() && now.After(s.Written) {
		again = append(again, now)
	}
	wrote := func(w *window) bool {
		if w.closed != 0 && !w.End.Before(made.To.Time) && slices.Contains(w.files, made.Path) {
			return true
		}
		return !w.edits() && slices.ContainsFunc(again, func(at time.Time) bool { return w.holds(at, lastTick(at)) })
	}
	for _, windows := range [][]*window{a.windows, a.lasting} {
		for _, w := range windows {
			if w.loose || w.doubtful || !wrote(w) || slices.ContainsFunc(steps, func(s Step) bool { return slices.Contains(s.Works(), &w.Work) }) {
				continue
			}
			works = append(works, &w.Work)
		}
	}
	return works
}
