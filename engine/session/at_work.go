package session

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
)

// activeFor is how long after its last sign of life a session counts as active.
const activeFor = time.Hour

// atWork finds the only session that was active in the last hour, of one agent if that is named.
func atWork(ctx context.Context, p *project.Project, agent string) (*Chosen, error) {
	r, err := readRoster(ctx, p, p.Env.Time().Add(-activeFor))
	if err != nil {
		return nil, err
	}
	all, nested, err := r.candidates(ctx, p, agent)
	if err != nil {
		return nil, err
	}
	left := meant(all)
	if len(left) == 1 {
		return &Chosen{Info: r.complete(&left[0].member), How: left[0].how(all), ByItself: true}, nil
	}
	none := &UnclearError{Nested: nested, Now: p.Env.Time()}
	slices.SortStableFunc(left, func(a, b *candidate) int { return b.mark().Compare(a.mark()) })
	for _, x := range left {
		none.Choices = append(none.Choices, r.complete(&x.member))
	}
	return nil, none
}

// candidate is a session that can be meant. It is a value: the rules compare candidates, and make another one of a
// candidate where they know more of it.
type candidate struct {
	member
	lineage string // equal for all sessions of a lineage
	bare    bool   // it was opened after its last message
}

// meant returns the candidates that can be meant; the choice is clear if that is one. The rules, in order:
//  1. While another session of its lineage is open, a session that was opened and closed without a message does not count
//     as opened.
//  2. Of each lineage, those sessions go that the person continued in another one (continues).
//  3. A session that was opened and has no message since has the messages of its lineage.
//  4. The sessions go that the person left for another lineage (replaces).
func meant(all []*candidate) []*candidate {
	kin := func(x, y *candidate) bool { return x.lineage == y.lineage }
	closed := make([]*candidate, len(all))
	for i, x := range all {
		closed[i] = x.withoutGlance(all)
	}
	left := keep(closed, func(x, y *candidate) bool { return kin(x, y) && y.continues(x) })
	for i, x := range left {
		left[i] = x.withMessages(closed)
	}
	return keep(left, func(x, y *candidate) bool { return !kin(x, y) && y.replaces(x) })
}

// keep returns the candidates that go for no other one.
func keep(all []*candidate, goes func(x, y *candidate) bool) (left []*candidate) {
	for _, x := range all {
		if !slices.ContainsFunc(all, func(y *candidate) bool { return x != y && goes(x, y) }) {
			left = append(left, x)
		}
	}
	return left
}

// withoutGlance is the first rule.
func (x *candidate) withoutGlance(all []*candidate) *candidate {
	open := func(y *candidate) bool { return y.lineage == x.lineage && !y.LastPrompt.IsZero() && !y.over() }
	if x.LastPrompt.IsZero() || !x.over() || !x.LastPrompt.Before(x.reopened) || !slices.ContainsFunc(all, open) {
		return x
	}
	c := *x
	c.reopened = time.Time{}
	return &c
}

// continues reports whether the person continued in y what x began: x had no prompt since y began, or y was opened last.
func (y *candidate) continues(x *candidate) bool {
	if !y.newer(x) {
		return false
	}
	first, prompt := y.first, x.LastPrompt
	if y.fromFile || x.fromFile { // lines that both have are from before the fork
		first, _ = y.apart(x)
		_, prompt = x.apart(y)
	}
	if first.IsZero() {
		first = y.opened // it has no message yet
	}
	return prompt.IsZero() || prompt.Before(later(first, y.began()))
}

// newer reports whether the person was in s later than in o.
func (s *candidate) newer(o *candidate) bool {
	if c := cmp.Or(s.mark().Compare(o.mark()), s.Seen.Compare(o.Seen)); c != 0 {
		return c > 0
	}
	return s.ID > o.ID
}

// apart gives the times of the oldest and the newest prompt that s has and o does not.
func (s *candidate) apart(o *candidate) (oldest, newest time.Time) {
	shared := map[string]bool{}
	for _, prompt := range o.prompts {
		shared[prompt.ID] = true
	}
	for _, prompt := range s.prompts {
		if prompt.Copy || shared[prompt.ID] {
			continue
		}
		if oldest.IsZero() || prompt.Time.Before(oldest) {
			oldest = prompt.Time
		}
		newest = later(newest, prompt.Time)
	}
	return oldest, newest
}

// withMessages is the third rule.
func (x *candidate) withMessages(all []*candidate) *candidate {
	if !x.LastPrompt.IsZero() && !x.began().After(x.LastPrompt) {
		return x
	}
	c, last := *x, x
	c.bare, c.first = true, x.mark()
	for _, y := range all {
		if y.lineage == x.lineage && y.LastPrompt.After(last.LastPrompt) {
			last = y
		}
	}
	if last != x {
		c.LastPrompt, c.recent, c.ended = last.LastPrompt, last.recent, time.Time{}
		if x.over() && last.over() {
			c.ended = later(x.ended, last.ended)
		}
	}
	return &c
}

// replaces reports whether the person left x for y, which is of another lineage. Of these rules the first that applies
// decides; where none does, both are at work.
func (y *candidate) replaces(x *candidate) bool {
	switch {
	case y.openedAfter(x):
		return true
	case x.openedAfter(y), !y.recent:
		return false
	case !x.recent:
		return true
	case x.over() && y.LastPrompt.After(later(x.ended, x.mark())):
		return true
	}
	// One ended, and x did nothing beside y: it had no prompt, and no turn of it went on.
	return (x.over() || y.over()) && later(x.mark(), x.worked).Before(y.first)
}

// openedAfter reports whether s is open, and was opened after the end of o.
func (s *candidate) openedAfter(o *candidate) bool {
	return o.over() && !s.over() && s.reopened.After(later(o.ended, o.made))
}

// how says why x is the one that is meant, of all candidates.
func (x *candidate) how(all []*candidate) string {
	other := func(is func(y *candidate) bool) bool {
		return slices.ContainsFunc(all, func(y *candidate) bool { return y.lineage != x.lineage && is(y) })
	}
	switch {
	case len(all) == 1:
		return "the only one active in the last hour"
	case other(func(y *candidate) bool { return y.LastPrompt.After(x.LastPrompt) }):
		return "it was opened after the others ended"
	case other(func(y *candidate) bool { return !y.over() || y.ended.After(x.LastPrompt) }):
		return "the others' last prompts are older"
	case other(func(*candidate) bool { return true }):
		return "the others ended before its last prompt"
	case x.bare && x.made.After(x.reopened) && x.redone:
		return "redo went back to it"
	case x.bare && x.made.After(x.reopened):
		return "undo went back to it"
	case x.bare:
		return "the one of its lineage opened last"
	}
	return "the newest of its lineage in the last hour"
}
