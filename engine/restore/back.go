package restore

import (
	"cmp"
	"context"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/manifest"
)

// BackOptions of one Back.
type BackOptions struct {
	Session *session.Chosen
	N       int  // before the N-th last prompt, from 1
	Both    bool // the code too
	Restore Options
}

// Back moves a session's conversation to before its N-th last prompt. With Both the code goes too, to the first of these that
// exists: the checkpoint of that prompt; the newest one since the turn before; the session's newest one before that
// (Restored.Older). Git's own state goes to that of the same checkpoint. Errors: as Restore, *transcript.FewPromptsError,
// *PromptNotSavedError.
func Back(ctx context.Context, p *project.Project, b BackOptions) (*Restored, error) {
	o := b.Restore
	switch {
	case o.GitOnly:
		o.Half = conversation.CodeOnly
	case b.Both:
		o.Half = conversation.Both
	default:
		o.Half = conversation.ConversationOnly
	}
	return Do(ctx, p, o, manifest.OpRestore, func(r *Run) (way Way, err error) {
		r.Op.Verb = "back"
		before, err := conversation.BeforePrompt(ctx, p, b.Session, b.N)
		if err != nil || !b.Both && o.Git == GitStays {
			return Way{before: before}, err
		}
		found := cmp.Or(before.Checkpoint, before.Older)
		if found == nil {
			return way, before.NoCheckpoint(b.N)
		}
		way, err = r.planTo(found.Checkpoint)
		way.before = before
		return way, err
	})
}
