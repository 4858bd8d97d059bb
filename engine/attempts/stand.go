package attempts

import (
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// stand is what the log says of the attempts of one place. Attempts are counted from 1; 0 is none of them.
type stand struct {
	last    []*manifest.Checkpoint // the newest while the tree stood at each
	gone    []bool                 // a newer state was there, and has been collected
	mixed   []bool                 // another attempt's agent worked in the same tree
	prompts []int
	at      int // where the tree stands now
	wasAt   map[uint64]int
	with    map[treeAt]*manifest.Checkpoint // of an attempt: its newest with a tree
	apart   bool                            // a conversation that was begun anew since has the tree now: what comes of that is not the attempt's
	wasSo   map[uint64]bool                 // apart at a checkpoint, and before an operation
}

// treeAt is a tree that an attempt had.
type treeAt struct {
	at   int
	root oid.ID
}

// before is how it was before an operation: where the tree stood, and the end of the attempt to which the operation went.
type before struct {
	at, to int
	last   *manifest.Checkpoint
	after  oid.ID // the tree with which it came there
}

// stands finds where the tree stood, from the first of a place's prompts on.
func stands(l *log, starts []*manifest.Checkpoint, part func(*manifest.Operation, *manifest.Checkpoint) bool) *stand {
	n := len(starts) + 1
	s := &stand{last: make([]*manifest.Checkpoint, n), gone: make([]bool, n), mixed: make([]bool, n), prompts: make([]int, n), wasAt: map[uint64]int{}, with: map[treeAt]*manifest.Checkpoint{}, wasSo: map[uint64]bool{}}
	index := map[uint64]int{}
	for i, c := range starts {
		index[c.Seq] = i + 1
	}
	base := starts[0].Root
	owner := map[sessionKey]int{} // of a session's work: the one attempt that it is known in; -1 for several
	moved := map[uint64]before{}
	roots := map[oid.ID]int{}
	take := func(c *manifest.Checkpoint, talks bool) {
		// Of two with the same tree, the older one has the conversation if the newer one has another one's, or none.
		if old := s.last[s.at]; talks || old == nil || old.Root != c.Root || s.gone[s.at] {
			s.last[s.at], s.gone[s.at] = c, false
		}
		s.with[treeAt{s.at, c.Root}] = s.last[s.at]
		s.wasAt[c.Seq] = s.at
		roots[c.Root] = s.at
	}
	for _, e := range l.events {
		switch c := e.c; {
		case e.seq() < starts[0].Seq:
		case e.op != nil:
			op, was := e.op, s.at
			if op.After != (oid.ID{}) {
				if s.at > 0 && op.Safety != (manifest.CheckpointID{}) && l.byID[op.Safety] == nil && s.last[s.at] != nil && s.last[s.at].Root != op.Before {
					s.gone[s.at] = true
				}
				s.move(l, op, moved, roots, base, part)
				s.moveApart(l, op)
			}
			moved[op.Seq] = before{was, s.at, s.last[s.at], op.After}
			s.arrive(op, moved)
		case index[c.Seq] > 0:
			if s.at > 0 && !s.apart {
				take(c, false) // what it was left as: the conversation had left it before
			}
			s.at, s.apart = index[c.Seq], false
			take(c, true)
			s.wasAt[c.Seq] = 0 // its own work comes after it
			s.prompts[s.at]++
			own(owner, sessionOf(c), s.at)
		case s.at > 0 && l.apart(c, starts[s.at-1]):
			if !s.apart && c.Kind != manifest.Stop && c.Kind != manifest.SessionEnd {
				take(c, false) // as above
			}
			s.wasAt[c.Seq], s.wasSo[c.Seq] = s.at, s.apart
			s.apart = s.apart || l.isTyped[c.Seq]
		case s.apart && (c.Session == "" || c.Kind == manifest.Safety):
			s.wasAt[c.Seq], s.wasSo[c.Seq] = s.at, true
		default:
			s.apart = false
			if k := sessionOf(c); c.Session != "" {
				by, known := owner[k]
				switch {
				case !known && s.at > 0:
					own(owner, k, s.at)
				case by > 0 && s.at > 0 && by != s.at && c.Kind != manifest.Safety:
					s.mixed[by], s.mixed[s.at] = true, true
					s.at = by
				}
			}
			if l.isTyped[c.Seq] && s.at > 0 && l.sameTalk(c, starts[s.at-1]) {
				s.prompts[s.at]++
			}
			take(c, c.Session != "")
		}
	}
	return s
}

func own(owner map[sessionKey]int, k sessionKey, at int) {
	if by, ok := owner[k]; ok && by != at {
		at = -1
	}
	owner[k] = at
}

// moveApart notes whose tree an operation led to, of the conversations that had it where that was.
func (s *stand) moveApart(l *log, op *manifest.Operation) {
	was := s.apart
	c := l.byID[op.Checkpoint]
	switch {
	case op.PutsBack() || op.Kind == manifest.OpRevert:
	case op.Undoes != 0:
		s.apart = s.wasSo[op.Undoes]
	default:
		s.apart = c != nil && s.wasSo[c.Seq]
	}
	s.wasSo[op.Seq] = was
}

// move notes where an operation left the tree.
func (s *stand) move(l *log, op *manifest.Operation, moved map[uint64]before, roots map[oid.ID]int, base oid.ID, part func(*manifest.Operation, *manifest.Checkpoint) bool) {
	if op.PutsBack() {
		return
	}
	switch op.Kind {
	case manifest.OpUndoRestore, manifest.OpRedoRestore:
		if b, ok := moved[op.Undoes]; ok {
			s.at = b.at
			return
		}
	case manifest.OpRestore, manifest.OpUndo:
	default:
		return // it takes some of the work back
	}
	c := l.byID[op.Checkpoint]
	switch {
	case c != nil && op.After != c.Root && part(op, c):
	case op.After == base:
		s.at = 0
	case c != nil:
		s.at = s.wasAt[c.Seq]
	default:
		s.at = roots[op.After]
	}
}

// arrive gives the attempt to which an operation went the end that it has now, if a checkpoint has it. A visit to another attempt that
// is undone before anything was done there leaves that one's end as it was.
func (s *stand) arrive(op *manifest.Operation, moved map[uint64]before) {
	if op.After == (oid.ID{}) || op.PutsBack() {
		return
	}
	if c := s.with[treeAt{s.at, op.After}]; s.at > 0 && c != nil {
		s.last[s.at], s.gone[s.at] = c, false
	}
	if b := moved[op.Undoes]; b.to > 0 && b.to != s.at && b.last != nil && s.last[b.to].Root == b.after {
		s.last[b.to] = b.last
	}
}
