package engine

import (
	"context"
	"strconv"

	"rewind/engine/conversation"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/manifest"
)

// BackOptions of one Back.
type BackOptions struct {
	Session *conversation.ChosenSession
	N       int  // before the N-th last prompt, from 1
	Both    bool // the code too
	Restore RestoreOptions
}

// Back brings a session's conversation to before one of its last prompts; with
// Both also the code, to the checkpoint of that prompt, or else to the newest of
// the session before it. Errors: as Restore, *transcript.FewPromptsError,
// *NoCheckpointError.
func Back(ctx context.Context, p *project.Project, b BackOptions) (*Restored, error) {
	o := b.Restore
	o.Half = conversation.ConversationOnly
	if b.Both {
		o.Half = conversation.Both
	}
	return runRestore(ctx, p, o, manifest.OpRestore, func(r *restoring) (_ *restore.Plan, err error) {
		r.op.Verb = "back"
		if r.before, err = conversation.BeforePrompt(ctx, p, b.Session, b.N); err != nil || !b.Both {
			return nil, err
		}
		if r.before.Checkpoint == nil {
			return nil, &project.NoCheckpointError{Spec: "prompt~" + strconv.Itoa(b.N), Reason: "none of session " + b.Session.ID + " was taken before that prompt"}
		}
		return r.planTo(r.before.Checkpoint.Checkpoint)
	})
}
