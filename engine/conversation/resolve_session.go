package conversation

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/engine/project"
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
// ChooseSession and FindPrompt.
func ResolvePrompt(ctx context.Context, p *project.Project, spec string, n int, session string) (project.Listed, error) {
	s, err := ChooseSessionWith(ctx, p, session, n)
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
func FindPrompt(ctx context.Context, p *project.Project, s *ChosenSession, n int) (*PromptPlace, error) {
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
// be read.
func nthPrompt(ctx context.Context, p *project.Project, spec string, n int, s *ChosenSession) (found project.Listed, err error) {
	err = p.Query(ctx, func(db *manifest.DB) error {
		count := 0
		var said []string
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
				said = append(said, c.Prompt)
			}
			found = project.Listed{Checkpoint: c, N: db.Position(c.Seq), Prompts: said}
		}
		if count == n {
			return nil
		}
		few := &transcript.FewPromptsError{Asked: n, Have: count}
		return &project.NoCheckpointError{Spec: spec, Reason: few.Error(), Fewer: true, Have: count}
	})
	return found, err
}

// ByEvent finds the checkpoint that an agent bound to an event of a session, or of one that it came
// from; else the oldest of a prompt or a tool call, since they name the state before, or the newest at
// a place in the conversation.
func ByEvent(p *project.Project, db *manifest.DB, spec, session, event string) (project.Listed, error) {
	if session == "" || event == "" {
		return project.Listed{}, &project.NoCheckpointError{Spec: spec}
	}
	family, err := LineageIn(db, session)
	if err != nil {
		return project.Listed{}, err
	}
	if c, ok, err := Bound(db, family, event); err != nil || ok {
		return project.Listed{Checkpoint: c}, err
	}
	var before, at *manifest.Checkpoint
	for c, err := range db.Checkpoints(manifest.Query{Session: session}) {
		if err != nil {
			return project.Listed{}, err
		}
		switch {
		case c.PromptID == event, c.ToolUseID == event:
			before = &c
		case at == nil && c.Transcript != nil && c.Transcript.EventID == event:
			at = &c
		}
	}
	switch {
	case before != nil:
		return project.Listed{Checkpoint: *before}, nil
	case at != nil:
		return project.Listed{Checkpoint: *at}, nil
	}
	return project.Listed{}, &project.NoCheckpointError{Spec: spec, Reason: "no checkpoint is bound to that event"}
}
