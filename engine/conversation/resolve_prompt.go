package conversation

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// PromptNumber reads prompt~N; ok is false for another word.
func PromptNumber(spec string) (n int, ok bool) {
	text, ok := strings.CutPrefix(spec, "prompt~")
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseUint(text, 10, 31)
	return int(v), err == nil
}

// ResolvePrompt finds the checkpoint of the n-th last prompt of a session, else
// the newest since the turn before it. Errors: *PromptNotSavedError, and those of
// SessionWithPrompt and FindPrompt.
func ResolvePrompt(ctx context.Context, p *project.Project, spec string, n int, session string) (project.Listed, error) {
	s, err := SessionWithPrompt(ctx, p, session, n)
	if err != nil {
		return project.Listed{}, err
	}
	release, err := p.Use(ctx)
	if err != nil {
		return project.Listed{}, err
	}
	defer release()
	found, err := FindPrompt(ctx, p, s, n)
	if err != nil {
		return project.Listed{}, err
	}
	if found.Checkpoint == nil {
		return project.Listed{}, found.NoCheckpoint(n)
	}
	l := *found.Checkpoint
	l.Prompts = found.Prompts
	return l, nil
}

// FindPrompt is BeforePrompt; where the conversation cannot be read, the
// session's checkpoints are counted. The caller holds the users lock.
func FindPrompt(ctx context.Context, p *project.Project, s *session.Chosen, n int) (*PromptPlace, error) {
	spec := "prompt~" + strconv.Itoa(n)
	found, err := BeforePrompt(ctx, p, s, n)
	var few *transcript.FewPromptsError
	var none *NoConversationError
	switch {
	case errors.As(err, &few):
		return nil, &project.NoCheckpointError{Spec: spec, Reason: err.Error(), Fewer: true, Have: few.Have}
	case errors.As(err, &none):
		l, err := nthPrompt(ctx, p, spec, n, s)
		if err != nil {
			return nil, err
		}
		return &PromptPlace{Session: s, Checkpoint: &l, Exact: true, Prompts: l.Prompts, failed: none}, nil
	}
	return found, err
}

// nthPrompt counts a session's prompt checkpoints, where its conversation cannot
// be read; n counts from 1. Errors: *project.NoCheckpointError.
func nthPrompt(ctx context.Context, p *project.Project, spec string, n int, s *session.Chosen) (found project.Listed, err error) {
	few := func(have int) error {
		e := &transcript.FewPromptsError{Asked: n, Have: have}
		return &project.NoCheckpointError{Spec: spec, Reason: e.Error(), Fewer: true, Have: have}
	}
	if n < 1 {
		return found, few(0)
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		count := 0
		var prompts []string
		for c, err := range db.Checkpoints(manifest.Query{Session: s.ID, Kinds: []manifest.CheckpointKind{manifest.Prompt}}) {
			if err != nil {
				return err
			}
			if !transcript.Typed(transcript.Agent(s.Agent), c.Prompt) {
				continue
			}
			same := false
			if count > 0 {
				if same, err = SamePrompt(db, &c, &found.Checkpoint); err != nil {
					return err
				}
			}
			if !same {
				if count++; count > n {
					return nil
				}
				prompts = append(prompts, c.Prompt)
			}
			found = project.Listed{Checkpoint: c, N: db.Position(c.Seq), Prompts: prompts}
		}
		if count == n {
			return nil
		}
		return few(count)
	})
	return found, err
}
