package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

const (
	// byPerson is how a session was found that somebody typed the name of.
	byPerson = "named"
	// leastOfID is how much of an id, or of a title, has to be given.
	leastOfID = 4
)

// Named finds a session of the project as people name it: by its id, or an unambiguous
// beginning of at least four characters; by its agent, where one session of it is meant, see
// Choose; by its title, its first prompt or what names it in a list, or the beginning of one, in any case.
// Error: *UnclearError.
func Named(ctx context.Context, p *project.Project, named string) (Info, error) {
	s, err := namedSession(ctx, p, named, byPerson)
	if err != nil {
		return Info{}, err
	}
	return s.Info, nil
}

// sessionOfAgent is the session of an agent that is named: the only one, or the one at work. nil: no agent of
// the roster has that name.
func sessionOfAgent(ctx context.Context, p *project.Project, r *roster, named string) (*Chosen, error) {
	var of []*member
	for _, s := range r.list {
		if s.Agent != "" && strings.EqualFold(s.Agent, named) {
			of = append(of, s)
		}
	}
	switch len(of) {
	case 0:
		return nil, nil
	case 1:
		if of[0].nested(p) == "" {
			return chosen(p, r, of[0], byPerson), nil
		}
	}
	s, err := sessionAtWork(ctx, p, of[0].Agent)
	var none *UnclearError
	if errors.As(err, &none) {
		if none.Named = named; len(none.Choices) == 0 { // none is at work
			for _, s := range of[:min(len(of), maxDescribed)] {
				none.Choices = append(none.Choices, chosen(p, r, s, "").Info)
			}
		}
	}
	return s, err
}

// titled are the sessions with a title or first prompt: those that have just that, else those that
// begin with it. Of many sessions the newest are looked into.
func titled(ctx context.Context, p *project.Project, r *roster, named string) (matches []*member, err error) {
	named = strings.ToLower(strings.TrimSpace(strings.TrimSuffix(named, "…")))
	if len(named) < leastOfID {
		return nil, nil
	}
	var beginning []*member
	for _, s := range r.list[:min(len(r.list), maxDescribed)] {
		if s.Agent == "" {
			continue
		}
		if err := prompted(ctx, p, r, s); err != nil {
			return nil, err
		}
		titles := []string{strings.ToLower(s.Title), strings.ToLower(strings.TrimPrefix(s.Title, transcript.ForkPrefix)), strings.ToLower(s.First), strings.ToLower(s.Label())}
		if slices.Contains(titles, named) {
			matches = append(matches, s)
		} else if slices.ContainsFunc(titles, func(t string) bool { return strings.HasPrefix(t, named) }) {
			beginning = append(beginning, s)
		}
	}
	if len(matches) == 0 {
		return beginning, nil
	}
	return matches, nil
}
