package attribution

import (
	"slices"

	"github.com/rewind-cli/rewind/manifest"
)

// mayHaveMoved are edits of other paths whose text candidates may have moved, or copied before it went: where the states
// between two looks were removed, what was edited there and is gone is known from nothing else.
func (a *Attribution) mayHaveMoved(s *interval, all []candidate) (edits []candidate) {
	if s.deleted || !slices.ContainsFunc(all, func(c candidate) bool { return !c.edits() }) {
		return nil
	}
	for _, w := range a.goneBefore(s.to) {
		moved := func(c candidate) bool {
			return !c.edits() && c.of.main() != w.of.main() && !c.ends().Before(w.Start)
		}
		if !w.names(s.path) && slices.ContainsFunc(all, moved) {
			edits = append(edits, candidate{window: w})
		}
	}
	return edits
}

// goneBefore are the edits between a checkpoint and the one before it of which nothing is left: the states between the two were
// removed, no touch tells, and the path is not there any more.
func (a *Attribution) goneBefore(seq uint64) []*window {
	if edits, ok := a.gone[seq]; ok {
		return edits
	}
	edits := a.findGone(seq)
	if a.gone == nil {
		a.gone = map[uint64][]*window{}
	}
	a.gone[seq] = edits
	return edits
}

func (a *Attribution) findGone(seq uint64) (edits []*window) {
	from, removed := a.removedBefore(seq)
	if !removed {
		return nil
	}
	to := a.points[a.index(seq)]
	for _, w := range a.windows {
		if !w.edits() || w.opened > seq || w.closed != 0 && w.closed <= from {
			continue
		}
		if slices.ContainsFunc(w.files, func(path string) bool { return a.isGone(path, from, to) }) {
			edits = append(edits, w)
		}
	}
	return edits
}

// removedBefore reports whether states in front of a checkpoint were removed: behind from, the one before it that is kept, 0
// for none.
func (a *Attribution) removedBefore(seq uint64) (from uint64, removed bool) {
	n := a.index(seq)
	if n == len(a.points) || a.points[n].seq != seq || a.points[n].c == nil {
		return 0, false // the working tree
	}
	parent := a.points[n].c.Parent
	for n--; n >= 0 && a.points[n].c == nil; n-- {
	}
	if n >= 0 {
		from, removed = a.points[n].seq, a.points[n].c.ID != parent
	} else {
		removed = true
	}
	return from, removed && parent != manifest.CheckpointID{}
}

// isGone reports whether a path is not there at a checkpoint, or cannot be looked at, and no touch since from tells of it.
func (a *Attribution) isGone(path string, from uint64, to *point) bool {
	if _, there, err := manifest.Find(a.loadDir, to.root, path); there && err == nil {
		return false
	}
	if a.db != nil {
		touches, err := a.db.TouchesOf(manifest.TouchQuery{From: from, To: to.seq}, []string{path})
		return err != nil || len(touches) == 0
	}
	return true
}
