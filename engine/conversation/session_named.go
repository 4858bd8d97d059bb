package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	// byPerson is how a session was found that somebody typed the name of.
	byPerson = "named"
	// leastOfID is how much of an id, or of a title, has to be given.
	leastOfID = 4
)

// SessionNamed finds a session of the project as people name it: by its id, or an unambiguous
// beginning of at least four characters; by its agent, where one session of it is meant, see
// ChooseSession; by its title, its first prompt or what names it in a list, or the beginning of one, in any case.
// Error: *NoSessionError.
func SessionNamed(ctx context.Context, p *project.Project, named string) (SessionInfo, error) {
	s, err := namedSession(ctx, p, named, byPerson)
	if err != nil {
		return SessionInfo{}, err
	}
	return s.SessionInfo, nil
}

// sessionOfAgent is the session of an agent that is named: the only one, or the one at work. nil: no agent of
// the roster has that name.
func sessionOfAgent(ctx context.Context, p *project.Project, r *roster, named string) (*ChosenSession, error) {
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
	var none *NoSessionError
	if errors.As(err, &none) {
		if none.Named = named; len(none.Choices) == 0 { // none is at work
			for _, s := range of[:min(len(of), maxDescribed)] {
				none.Choices = append(none.Choices, chosen(p, r, s, "").SessionInfo)
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

// ChooseSessionWith is ChooseSession for a command that goes to before a session's n-th last prompt: where several
// can be meant and none has as many, that is the error, not the question which is meant.
// A prompt that came without a session is in none: where it is the newest, no session is taken in its place.
// Errors: *NoSessionError, *project.NoCheckpointError.
func ChooseSessionWith(ctx context.Context, p *project.Project, named string, n int) (*ChosenSession, error) {
	s, err := ChooseSession(ctx, p, named)
	var unclear *NoSessionError
	if n > 0 && named == "" && (err == nil && s.ByItself || errors.As(err, &unclear) && unclear.Named == "") {
		if serr := newestIsOfNone(ctx, p, n, s, unclear); serr != nil {
			return nil, serr
		}
	}
	if n < 1 || !errors.As(err, &unclear) || len(unclear.Choices) < 2 {
		return s, err
	}
	release, uerr := p.Use(ctx)
	if uerr != nil {
		return nil, uerr
	}
	defer release()
	most := 0
	for _, choice := range unclear.Choices {
		_, ferr := FindPrompt(ctx, p, &ChosenSession{SessionInfo: choice}, n)
		var few *project.NoCheckpointError
		if !errors.As(ferr, &few) || !few.Fewer {
			return nil, err
		}
		most = max(most, few.Have)
	}
	few := &transcript.FewPromptsError{Asked: n, Have: most, Sessions: len(unclear.Choices)}
	return nil, &project.NoCheckpointError{Spec: "prompt~" + strconv.Itoa(n), Reason: few.Error(), Fewer: true, Have: most}
}

// newestIsOfNone is the error for a newest prompt that came without a session, and later than every message of the
// sessions that can be meant; nil if there is no such prompt.
func newestIsOfNone(ctx context.Context, p *project.Project, n int, s *ChosenSession, unclear *NoSessionError) error {
	var newest *project.Listed
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Kinds: []manifest.CheckpointKind{manifest.Prompt}, Limit: 1}) {
			newest = &project.Listed{Checkpoint: c, N: db.Position(c.Seq)}
			return err
		}
		return nil
	})
	if err != nil || newest == nil || newest.Session != "" {
		return err
	}
	var said []SessionInfo
	if s != nil {
		said = append(said, s.SessionInfo)
	} else {
		said = unclear.Choices
	}
	if slices.ContainsFunc(said, func(s SessionInfo) bool { return s.Said.After(newest.Time) }) {
		return nil
	}
	return &project.NoCheckpointError{Spec: "prompt~" + strconv.Itoa(n), Reason: fmt.Sprintf(
		"prompts are counted in a session, and the newest, that of checkpoint %d, came without one", newest.N)}
}
