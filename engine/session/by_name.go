package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

const (
	// byPerson is how a session was found whose name a person typed.
	byPerson = "named"
	// leastOfID is how many characters of an id, or of a title, a person has to give.
	leastOfID = 4
)

// Named finds a session of the project as people name it: by its id, or an unambiguous beginning of at least four
// characters; by its agent, if one session of that agent is meant (see Choose); by its title, its first prompt or what
// names it in a list, or the beginning of one of these, in upper or lower case. Errors: *UnclearError.
func Named(ctx context.Context, p *project.Project, named string) (Info, error) {
	s, err := byID(ctx, p, named, byPerson)
	if err != nil {
		return Info{}, err
	}
	return s.Info, nil
}

// byID finds a session by its id or the beginning of it, and what a person typed as Named says.
func byID(ctx context.Context, p *project.Project, named, how string) (*Chosen, error) {
	// A whole id is mostly one that a hook reported: the checkpoints need not be read.
	r, err := readRoster(ctx, p, p.Env.Time())
	if err != nil {
		return nil, err
	}
	is := func(s *member) bool { return s.ID == named && s.Agent != "" } // without an agent it comes from an incomplete environment
	if !slices.ContainsFunc(r.list, is) {
		if r, err = readRoster(ctx, p, time.Time{}); err != nil {
			return nil, err
		}
	}
	var matches []*member
	for _, s := range r.list {
		if is(s) {
			return &Chosen{Info: r.complete(s), How: how}, nil
		}
		if s.Agent != "" && strings.HasPrefix(s.ID, named) {
			matches = append(matches, s)
		}
	}
	none := &UnclearError{Named: named, Now: p.Env.Time()}
	if len(named) < leastOfID {
		matches, none.Short = nil, len(matches) > 0
	}
	if len(matches) == 0 && how == byPerson {
		if s, err := ofAgent(ctx, p, r, named); s != nil || err != nil {
			return s, err
		}
		if matches, err = r.titled(ctx, p, named); err != nil {
			return nil, err
		}
	}
	if len(matches) == 1 {
		return &Chosen{Info: r.complete(matches[0]), How: how}, nil
	}
	none.Choices = r.choices(matches)
	return nil, none
}

// ofAgent is the session of an agent that is named: its only one, or the one at work; nil if the roster has no agent of
// that name.
func ofAgent(ctx context.Context, p *project.Project, r *roster, named string) (*Chosen, error) {
	var of []*member
	for _, s := range r.list {
		if s.Agent != "" && strings.EqualFold(s.Agent, named) {
			of = append(of, s)
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	if len(of) == 1 && of[0].nested(p) == "" {
		return &Chosen{Info: r.complete(of[0]), How: byPerson}, nil
	}
	s, err := atWork(ctx, p, of[0].Agent)
	var none *UnclearError
	if errors.As(err, &none) {
		if none.Named = named; len(none.Choices) == 0 { // none is at work
			none.Choices = r.choices(of)
		}
	}
	return s, err
}

// titled returns the sessions whose title or first prompt is what the person typed, else those where it begins so. Of many
// sessions it looks into the newest.
func (r *roster) titled(ctx context.Context, p *project.Project, named string) (matches []*member, err error) {
	named = strings.ToLower(strings.TrimSpace(strings.TrimSuffix(named, "…")))
	if len(named) < leastOfID {
		return nil, nil
	}
	var beginning []*member
	for _, s := range r.list[:min(len(r.list), maxDescribed)] {
		if s.Agent == "" {
			continue
		}
		if err := r.findPrompts(ctx, p, s); err != nil {
			return nil, err
		}
		titles := []string{s.Title, strings.TrimPrefix(s.Title, transcript.ForkPrefix), s.First, s.Label()}
		if slices.ContainsFunc(titles, func(t string) bool { return strings.ToLower(t) == named }) {
			matches = append(matches, s)
		} else if slices.ContainsFunc(titles, func(t string) bool { return strings.HasPrefix(strings.ToLower(t), named) }) {
			beginning = append(beginning, s)
		}
	}
	if len(matches) == 0 {
		return beginning, nil
	}
	return matches, nil
}
