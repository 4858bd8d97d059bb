package session

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// sessionAtWork is the one that was active in the last hour, of an agent's if one is named.
func sessionAtWork(ctx context.Context, p *project.Project, agent string) (*Chosen, error) {
	r, err := readRoster(ctx, p, p.Env.Time().Add(-activeFor))
	if err != nil {
		return nil, err
	}
	candidates, err := candidatesOf(ctx, p, r)
	if err != nil {
		return nil, err
	}
	if agent != "" {
		candidates = slices.DeleteFunc(candidates, func(s *member) bool { return s.Agent != agent })
	}
	candidates, nested := leaveNested(p, candidates)
	family := families(r, candidates)
	left := meant(candidates, family)
	if len(left) == 1 {
		how := "the only one active in the last hour"
		if len(candidates) > 1 {
			how = "the newest of its lineage in the last hour"
			if slices.ContainsFunc(candidates, func(x *member) bool { return family[x.ID] != family[left[0].ID] }) {
				how = "the others ended before its last prompt"
			} else if x := left[0]; x.bare && x.made.After(x.reopened) {
				if how = "undo went back to it"; x.redone {
					how = "redo went back to it"
				}
			} else if x.bare {
				how = "the one of its lineage opened last"
			}
		}
		found := chosen(p, r, left[0], how)
		found.ByItself = true
		return found, nil
	}
	none := &UnclearError{Nested: nested, Now: p.Env.Time()}
	slices.SortStableFunc(left, func(a, b *member) int { return b.mark().Compare(a.mark()) })
	for _, s := range left {
		none.Choices = append(none.Choices, chosen(p, r, s, "").Info)
	}
	return nil, none
}

// meant leaves of each lineage where it went on, and then the lineages at work.
func meant(candidates []*member, family map[string]string) []*member {
	keep := func(list []*member, goes func(x, y *member) bool) (left []*member) {
		for _, x := range list {
			if !slices.ContainsFunc(list, func(y *member) bool { return x != y && goes(x, y) }) {
				left = append(left, x)
			}
		}
		return left
	}
	kin := func(x, y *member) bool { return x != y && family[x.ID] == family[y.ID] }
	for _, x := range candidates {
		// Looked into and closed again, while another one of the lineage is open.
		glance := x.over() && x.Said.Before(x.reopened) && !x.Said.IsZero()
		if glance && slices.ContainsFunc(candidates, func(y *member) bool { return kin(x, y) && !y.Said.IsZero() && !y.over() }) {
			x.reopened = time.Time{}
		}
	}
	left := keep(candidates, func(x, y *member) bool { return kin(x, y) && y.goesOn(x) })
	for _, x := range left {
		if !x.Said.IsZero() && !x.began().After(x.Said) {
			continue
		}
		// It was opened and has no message yet: the messages from before count for it.
		x.bare, x.first = true, x.mark()
		over, last := x.over(), x
		for _, y := range candidates {
			if kin(x, y) && y.Said.After(last.Said) {
				last = y
			}
		}
		if last != x {
			x.Said, x.recent = last.Said, last.recent
			x.ended = later(x.ended, last.ended)
			if !over || !last.over() {
				x.ended = time.Time{}
			}
		}
	}
	return keep(left, func(x, y *member) bool { return family[x.ID] != family[y.ID] && y.takesOver(x) })
}

// takesOver reports whether x, of another lineage, is not meant because y is:
// x has had no message for long, or one of the two has ended and the other had
// no prompt meanwhile, or was opened since. Otherwise both are at work.
func (y *member) takesOver(x *member) bool {
	opened := func(s, o *member) bool { return o.over() && !s.over() && s.reopened.After(later(o.ended, o.made)) }
	switch {
	case opened(y, x):
		return true
	case opened(x, y), !y.recent:
		return false
	case !x.recent:
		return true
	case x.over() && y.Said.After(later(x.ended, x.mark())):
		return true
	}
	return (x.over() || y.over()) && x.mark().Before(y.first)
}

// goesOn reports whether y is where the lineage of both went on: x had no prompt
// since y began, or was opened last.
func (y *member) goesOn(x *member) bool {
	if !y.later(x) {
		return false
	}
	first, said := y.first, x.Said
	if y.fromFile || x.fromFile {
		// Lines that both have are from before the fork.
		first, said = time.Time{}, time.Time{}
		for _, t := range y.apart(x) {
			if first.IsZero() || t.Before(first) {
				first = t
			}
		}
		for _, t := range x.apart(y) {
			if t.After(said) {
				said = t
			}
		}
	}
	if first.IsZero() {
		first = y.opened // it has no message yet
	}
	first = later(first, y.began())
	return said.Before(first) || said.IsZero()
}

// later reports whether the session went on after another one did.
func (s *member) later(o *member) bool {
	if c := cmp.Or(s.mark().Compare(o.mark()), s.Seen.Compare(o.Seen)); c != 0 {
		return c > 0
	}
	return s.ID > o.ID
}

// apart gives the times of the prompts that only s has.
func (s *member) apart(other *member) (times []time.Time) {
	shared := map[string]bool{}
	for _, said := range other.prompts {
		shared[said.ID] = true
	}
	for _, said := range s.prompts {
		if !said.Copy && !shared[said.ID] {
			times = append(times, said.Time)
		}
	}
	return times
}

// families gives each candidate the name of its lineage: those that come from
// one another, by what hooks and transcripts say, or whose transcripts begin
// with the same event.
func families(r *roster, candidates []*member) map[string]string {
	up := map[string]string{}
	find := func(id string) string {
		for up[id] != "" && up[id] != id {
			id = up[id]
		}
		return id
	}
	join := func(a, b string) {
		if a, b = find(a), find(b); a != b {
			up[a] = b
		}
	}
	for _, s := range candidates {
		seen := map[string]bool{s.ID: true}
		for a := s; a != nil && a.Parent != "" && !seen[a.Parent]; a = r.byID[a.Parent] {
			seen[a.Parent] = true
			join(a.ID, a.Parent)
		}
		if s.root != "" {
			join(s.ID, "\x00"+s.root)
		}
	}
	out := map[string]string{}
	for _, s := range candidates {
		out[s.ID] = find(s.ID)
	}
	return out
}

// candidatesOf are the sessions that had prompts, and were active lately.
func candidatesOf(ctx context.Context, p *project.Project, r *roster) ([]*member, error) {
	var out []*member
	described := 0
	for _, s := range r.list {
		if !s.active {
			continue
		}
		if !s.Told && s.newest.IsZero() {
			if s.Size == 0 || described >= maxDescribed {
				continue
			}
			if s.look(); !s.inside(p.Root()) && !s.forked {
				continue
			}
			if len(s.prompts) > 0 {
				described++
			}
		}
		if err := prompted(ctx, p, r, s); err != nil {
			return nil, err
		}
		if s.recent || !s.Said.IsZero() && s.active || !s.opened.IsZero() && len(s.prompts) > 0 {
			out = append(out, s)
		}
	}
	return out, nil
}

// prompted finds out when the person spoke in a session: by the checkpoints of
// its prompts, and by its transcript what they do not know of.
func prompted(ctx context.Context, p *project.Project, r *roster, s *member) error {
	s.look()
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Session: s.ID, Kinds: []manifest.CheckpointKind{manifest.Prompt}}) {
			if err != nil {
				return err
			}
			if c.Agent != s.Agent || !transcript.Typed(transcript.Agent(s.Agent), c.Prompt) {
				continue
			}
			if s.Said.IsZero() {
				s.Said = c.Time
			}
			s.first = c.Time
			if s.First == "" || !s.OnDisk {
				s.First = firstLineOf(c.Prompt)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.recent = !s.Said.IsZero() && s.Said.After(r.since)
	if !s.Said.IsZero() {
		return nil
	}
	for _, said := range s.prompts {
		if said.Copy || s.Told && said.Time.Before(s.opened.Add(-time.Second)) {
			continue
		}
		if s.first.IsZero() {
			s.first = said.Time
		}
		s.Said, s.fromFile = said.Time, true
	}
	if s.Told && !s.fromFile && len(s.prompts) > 0 && s.source != "" && s.source != "fork" && s.source != "resume" && s.Parent == "" {
		s.Said = s.prompts[len(s.prompts)-1].Time // its own, from before its first hook
	}
	s.recent = !s.Said.IsZero() && s.Said.After(r.wall)
	return nil
}

// firstLineOf is a text's first line.
func firstLineOf(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(text)
}
