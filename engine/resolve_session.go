package engine

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"rewind/engine/restore"
	"rewind/engine/transcript"
	"rewind/manifest"
)

// promptSpec reads prompt~N.
func promptSpec(spec string) (n int, ok bool) {
	text, ok := strings.CutPrefix(spec, "prompt~")
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseUint(text, 10, 31)
	return int(v), err == nil
}

// PromptNumber reads prompt~N; ok is false for another word.
func PromptNumber(spec string) (n int, ok bool) { return promptSpec(spec) }

// resolvePrompt finds the checkpoint of the n-th last prompt of a session, else
// the newest before it.
func (p *Project) resolvePrompt(ctx context.Context, spec string, n int, session string) (Listed, error) {
	s, err := p.ChooseSession(ctx, session)
	if err != nil {
		return Listed{}, err
	}
	release, err := p.use(ctx)
	if err != nil {
		return Listed{}, err
	}
	defer release()
	found, err := p.promptPlace(ctx, s, n)
	if err != nil {
		return Listed{}, err
	}
	if found.Checkpoint == nil {
		return Listed{}, &NoCheckpointError{Spec: spec, Reason: "none is from before that prompt of session " + s.ID}
	}
	l := *found.Checkpoint
	l.Prompts = found.Prompts
	return l, nil
}

// promptPlace is beforePrompt; where the conversation cannot be read, the
// session's checkpoints are counted. The caller holds the users lock.
func (p *Project) promptPlace(ctx context.Context, s *ChosenSession, n int) (*PromptPlace, error) {
	spec := "prompt~" + strconv.Itoa(n)
	found, err := p.beforePrompt(ctx, s, n)
	var few *transcript.FewPromptsError
	var none *NoConversationError
	switch {
	case errors.As(err, &few):
		return nil, &NoCheckpointError{Spec: spec, Reason: err.Error()}
	case errors.As(err, &none):
		l, err := p.nthPrompt(ctx, spec, n, s)
		if err != nil {
			return nil, err
		}
		return &PromptPlace{Session: s, Checkpoint: &l, Exact: true, Prompts: l.Prompts, failed: none}, nil
	}
	return found, err
}

// promptRetry is how soon the same words again are the same prompt, where the
// agent gives prompts no ids.
const promptRetry = 5 * time.Second

// samePrompt reports whether two checkpoints were taken at one prompt: hooks fire
// twice, and what is typed into a running turn has the turn's id. The older one
// has the state before the turn.
func samePrompt(older, newer manifest.Checkpoint) bool {
	if older.PromptID != "" || newer.PromptID != "" {
		return older.PromptID == newer.PromptID
	}
	return strings.TrimSpace(older.Prompt) == strings.TrimSpace(newer.Prompt) && newer.Time.Sub(older.Time) < promptRetry
}

// nthPrompt counts a session's prompt checkpoints, where its conversation cannot
// be read.
func (p *Project) nthPrompt(ctx context.Context, spec string, n int, s *ChosenSession) (found Listed, err error) {
	err = p.query(ctx, func(db *manifest.DB) error {
		count := 0
		var said []string
		for c, err := range db.Checkpoints(manifest.Query{Session: s.ID, Kinds: []manifest.CheckpointKind{manifest.Prompt}}) {
			if err != nil {
				return err
			}
			if !transcript.Typed(transcript.Agent(s.Agent), c.Prompt) {
				continue
			}
			if count == 0 || !samePrompt(c, found.Checkpoint) {
				if count++; count > n {
					return nil
				}
				said = append(said, c.Prompt)
			}
			found = Listed{Checkpoint: c, N: db.Position(c.Seq), Prompts: said}
		}
		if count == n {
			return nil
		}
		return &NoCheckpointError{Spec: spec, Reason: "session " + s.ID + " has fewer prompts"}
	})
	return found, err
}

// byEvent finds the checkpoint that an agent bound to an event of a session: the
// oldest of a prompt or a tool call, since they name the state before, or the
// newest at a place in the conversation.
func (p *Project) byEvent(db *manifest.DB, spec, session, event string) (Listed, error) {
	if session == "" || event == "" {
		return Listed{}, &NoCheckpointError{Spec: spec}
	}
	var before, at *manifest.Checkpoint
	for c, err := range db.Checkpoints(manifest.Query{Session: session}) {
		if err != nil {
			return Listed{}, err
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
		return Listed{Checkpoint: *before}, nil
	case at != nil:
		return Listed{Checkpoint: *at}, nil
	}
	return Listed{}, &NoCheckpointError{Spec: spec, Reason: "no checkpoint is bound to that event"}
}

// BackOptions of one Back.
type BackOptions struct {
	Session *ChosenSession
	N       int  // before the N-th last prompt, from 1
	Both    bool // the code too
	Restore RestoreOptions
}

// Back brings a session's conversation to before one of its last prompts; with
// Both also the code, to the checkpoint of that prompt, or else to the newest of
// the session before it. Errors: as Restore, *transcript.FewPromptsError,
// *NoCheckpointError.
func (p *Project) Back(ctx context.Context, b BackOptions) (*Restored, error) {
	o := b.Restore
	o.Half = ConversationOnly
	if b.Both {
		o.Half = Both
	}
	return p.restoring(ctx, o, manifest.OpRestore, func(r *restoring) (_ *restore.Plan, err error) {
		r.op.Verb = "back"
		if r.before, err = p.beforePrompt(ctx, b.Session, b.N); err != nil || !b.Both {
			return nil, err
		}
		if r.before.Checkpoint == nil {
			return nil, &NoCheckpointError{Spec: "prompt~" + strconv.Itoa(b.N), Reason: "none of session " + b.Session.ID + " is from before that prompt"}
		}
		return r.planTo(r.before.Checkpoint.Checkpoint)
	})
}
