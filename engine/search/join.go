package search

import (
	"cmp"
	"slices"
)

// joiner makes spans of the versions of one path.
type joiner struct {
	r        *runner
	path     string
	precious bool
	clipped  bool
	now      map[uint64]*presence // the lines that match in the version before
	round    uint32
	order    int
}

// presence is a line that is there.
type presence struct {
	hit
	from  uint32 // state
	round uint32 // in which it was seen last
	order int
}

// see takes in a version, which the path has from state on. The lines that are gone have been.
func (j *joiner) see(state uint32, h *hits) error {
	if h.more && !j.clipped {
		j.clipped = true
		j.r.sum.Clipped = append(j.r.sum.Clipped, j.path)
	}
	if len(h.lines) == 0 && len(j.now) == 0 {
		return nil
	}
	if j.now == nil {
		j.now = map[uint64]*presence{}
	}
	j.round++
	for _, x := range h.lines {
		if p := j.now[x.sum]; p != nil {
			p.round = j.round
			continue
		}
		j.order++
		j.now[x.sum] = &presence{hit: x, from: state, round: j.round, order: j.order}
	}
	if len(j.now) == len(h.lines) {
		return nil
	}
	return j.tell(func(p *presence) bool { return p.round != j.round }, state)
}

// end tells of what is there still.
func (j *joiner) end() error {
	return j.tell(func(*presence) bool { return true }, uint32(len(j.r.t.states))+1)
}

// tell visits the lines that are gone from a state on, in the order in which they came.
func (j *joiner) tell(gone func(*presence) bool, state uint32) error {
	var list []*presence
	for sum, p := range j.now {
		if gone(p) {
			list = append(list, p)
			delete(j.now, sum)
		}
	}
	slices.SortFunc(list, func(a, b *presence) int { return cmp.Compare(a.order, b.order) })
	now := uint32(len(j.r.t.states))
	for _, p := range list {
		s := Span{Path: j.path, Precious: j.precious, Line: int(p.line), Text: p.text, Clipped: p.clipped, Start: int(p.start), End: int(p.end),
			Oldest: p.from == 0, Now: state > now}
		if s.Hidden = j.precious && !j.r.open; s.Hidden {
			s.Text, s.Start, s.End = "", 0, 0
		}
		var err error
		if s.Appeared, err = j.r.listed(p.from); err != nil {
			return err
		}
		if s.Vanished, err = j.r.listed(state); err != nil {
			return err
		}
		if p.from < now {
			if s.Last, err = j.r.listed(min(state, now) - 1); err != nil {
				return err
			}
		}
		j.r.sum.Spans++
		if err := j.r.visit(s); err != nil {
			return err
		}
	}
	return nil
}
