package attribution

import (
	"maps"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/manifest"
)

// Lost is what lies in front of the oldest checkpoint, where others were removed: that it was done is known, as hook events and
// change times go on in the next checkpoint that stays, but not what was there before.
type Lost struct {
	Path string // "" where it is not known which
	Work Work   // of those that match the first
	Sure bool   // it wrote there; else somebody did, and it could have
	Owner
}

// Lost are the paths that such work wrote in front of the oldest checkpoint, or could have, in path order.
func (a *Attribution) Lost(match func(*Work) bool) (lost []Lost, err error) {
	pt := a.oldest()
	if pt == nil || pt.c.Parent == (manifest.CheckpointID{}) {
		return nil, nil // nothing was removed
	}
	calls := a.callsBefore(pt, match)
	err = a.ask(func(db *manifest.DB) error {
		touched, own, err := touchedBefore(db, pt, match)
		if err != nil || len(calls) == 0 && len(own) == 0 {
			return err
		}
		lost, err = a.lost(pt, calls, touched, own, match)
		return err
	})
	slices.SortStableFunc(lost, func(x, y Lost) int { return strings.Compare(x.Path, y.Path) })
	return lost, err
}

// callsBefore are the calls of such work that were there in front of a checkpoint, in the order in which they began.
func (a *Attribution) callsBefore(pt *point, match func(*Work) bool) (calls []*window) {
	begins := beginsAt(pt)
	for _, all := range [][]*window{a.windows, a.lasting, a.turns} {
		for _, w := range all {
			switch {
			case w.opened > pt.seq, !w.Start.Before(pt.time), w.old, !match(&w.Work):
			case w.kind == turn && a.tells[w.of.main()]: // its calls say more
			case begins != nil && w.begunBy(begins, pt.seq):
			default:
				calls = append(calls, w)
			}
		}
	}
	slices.SortStableFunc(calls, func(x, y *window) int { return x.Start.Compare(y.Start) })
	return calls
}

// touchedBefore are the paths that were touched in front of a checkpoint, and the oldest touch of each that is of the work.
func touchedBefore(db *manifest.DB, pt *point, match func(*Work) bool) (touched map[string]bool, own map[string]Work, err error) {
	touched, own = map[string]bool{}, map[string]Work{}
	for t, err := range db.Touches(manifest.TouchQuery{To: pt.seq}) {
		if err != nil {
			return nil, nil, err
		}
		if !t.After || !t.Time.Before(pt.time) {
			continue
		}
		touched[t.Path] = true
		by := Work{Agent: t.Agent, Session: t.Session, Subagent: t.Subagent, PromptID: t.PromptID, Tool: t.Tool, Call: t.Call, Start: t.Time, End: t.Time}
		if _, ok := own[t.Path]; !ok && match(&by) {
			own[t.Path] = by
		}
	}
	return touched, own, nil
}

func (a *Attribution) lost(pt *point, calls []*window, touched map[string]bool, own map[string]Work, match func(*Work) bool) (lost []Lost, err error) {
	for path, by := range own {
		lost = append(lost, Lost{Path: path, Work: by, Sure: true})
	}
	if len(calls) == 0 {
		return lost, nil
	}
	changed, whole := a.changedBefore(pt)
	if !whole {
		for _, w := range calls {
			if !w.doubtful && !w.End.IsZero() && w.End.Before(pt.time) {
				lost = append(lost, Lost{Work: w.Work, Sure: true})
			}
		}
	}
	var others map[string][]Step // of paths that were touched, who did
	if some := slices.Sorted(maps.Keys(touched)); len(some) > 0 {
		if others, err = a.StepsOf(some); err != nil {
			return nil, err
		}
	}
	for _, c := range changed {
		if _, known := own[c.Path]; known {
			continue
		}
		sure := slices.IndexFunc(calls, func(w *window) bool {
			return w.edits() && !w.doubtful && w.names(c.Path) && !w.Start.After(lastTick(c.At).Add(early))
		})
		if sure >= 0 {
			lost = append(lost, Lost{Path: c.Path, Work: calls[sure].Work, Sure: true})
			continue
		}
		owners := []Owner{a.owner(interval{path: c.Path, hi: pt.time, to: pt.seq, at: c.At, begins: beginsAt(pt)})}
		if touched[c.Path] {
			owners = owners[:0]
			for _, s := range others[c.Path] {
				if s.To.Seq <= pt.seq {
					owners = append(owners, s.Owner)
				}
			}
		}
		for _, o := range owners {
			if all, some := o.Of(match); some {
				first := slices.IndexFunc(o.Works(), match)
				lost = append(lost, Lost{Path: c.Path, Work: *o.Works()[first], Sure: all, Owner: o})
				break
			}
		}
	}
	return lost, nil
}

// changedBefore is what is known of when paths were written in front of the oldest checkpoint; whole reports whether that is
// all that was.
func (a *Attribution) changedBefore(pt *point) (changed []manifest.Changed, whole bool) {
	windows, err := manifest.ParseWindows(pt.c.Windows)
	changed, failed := manifest.ParseChanged(pt.c.Changed)
	whole = err == nil && (failed == nil || pt.c.Changed == "") &&
		!slices.ContainsFunc(windows, func(w manifest.Window) bool { return w.Edge == manifest.WindowLost })
	if pt.c.Changed != "" {
		return changed, whole
	}
	// Nothing was written; or the times are not known, or there are too many.
	timed := a.o.Now != nil && len(a.o.Now.At) > 0
	for _, other := range a.points {
		timed = timed || other.c != nil && other.c.Changed != ""
	}
	return nil, whole && timed && pt.c.Added+pt.c.Modified+pt.c.Deleted == 0
}

// oldest is the oldest checkpoint that is asked about; nil where there is none.
func (a *Attribution) oldest() *point {
	for _, pt := range a.points {
		if pt.c != nil {
			return pt
		}
	}
	return nil
}
