package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// SessionWithPrompt is session.Choose for a command that goes back to before a session's n-th last prompt. Where several
// sessions can be meant and none has n prompts, the error says so and does not ask which session is meant.
// A prompt that was reported without a session belongs to none: if the newest prompt is such a one, no session is chosen
// in its place. Errors: *session.UnclearError, *project.NoCheckpointError.
func SessionWithPrompt(ctx context.Context, p *project.Project, named string, n int) (*session.Chosen, error) {
	s, err := session.Choose(ctx, p, named)
	var unclear *session.UnclearError
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
		_, ferr := FindPrompt(ctx, p, &session.Chosen{Info: choice}, n)
		var few *project.NoCheckpointError
		if !errors.As(ferr, &few) || !few.Fewer {
			return nil, err
		}
		most = max(most, few.Have)
	}
	few := &transcript.FewPromptsError{Asked: n, Have: most, Sessions: len(unclear.Choices)}
	return nil, &project.NoCheckpointError{Spec: "prompt~" + strconv.Itoa(n), Reason: few.Error(), Fewer: true, Have: most}
}

// newestIsOfNone returns an error if the hook of the newest prompt named no session, and no session that can be meant has a
// later message; else nil.
func newestIsOfNone(ctx context.Context, p *project.Project, n int, s *session.Chosen, unclear *session.UnclearError) error {
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
	var sessions []session.Info
	if s != nil {
		sessions = append(sessions, s.Info)
	} else {
		sessions = unclear.Choices
	}
	if slices.ContainsFunc(sessions, func(s session.Info) bool { return s.LastPrompt.After(newest.Time) }) {
		return nil
	}
	return &project.NoCheckpointError{Spec: "prompt~" + strconv.Itoa(n), Reason: fmt.Sprintf(
		"prompts are counted in a session, and the newest, that of checkpoint %d, came without one", newest.N)}
}
