package save

import (
	"context"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/session"
)

// Save takes a checkpoint of the whole tree. It returns when the checkpoint is
// durable. Paths that could not be captured are in Partial; they void nothing, and
// neither does a session that is not known, unless the person named it.
func Save(ctx context.Context, p *project.Project, o checkpoint.Options) (*checkpoint.Saved, error) {
	if err := p.BeginWriting(ctx); err != nil { // before all that looks into a store which is gone
		return nil, err
	}
	var beside *session.Chosen
	var unclear error
	if o.By == (conversation.Trigger{}) {
		beside, unclear = session.Beside(ctx, p)
		if unclear != nil && (p.Env.Asked != "" || ctx.Err() != nil) {
			return nil, unclear
		}
		if beside != nil {
			o.By = conversation.Trigger{Agent: beside.Agent, Session: beside.ID, Transcript: beside.Path}
		}
	}
	_ = restore.ClearUp(ctx, p) // every command reports what cannot be cleared, and it voids no save
	saved, err := checkpoint.Take(ctx, p, checkpoint.TakeOptions{Options: o})
	if err == nil {
		saved.Beside, saved.Unclear = beside, unclear
		conversation.NoteHeld(ctx, p, o.By, saved.Held)
		maintain.FinishForgetting(ctx, p)
		p.RefreshMirror()
	}
	return saved, err
}
