package engine

import (
	"context"

	"rewind/engine/checkpoint"
	"rewind/engine/conversation"
	"rewind/engine/maintain"
	"rewind/engine/project"
)

// Save takes a checkpoint of the whole tree. It returns when the checkpoint is
// durable. Paths that could not be captured are in Partial; they void nothing.
func Save(ctx context.Context, p *project.Project, o checkpoint.Options) (*checkpoint.Saved, error) {
	if o.By == (conversation.Trigger{}) {
		o.By = conversation.TriggerOf(p.Env)
	}
	_ = clearUp(ctx, p) // what cannot be cleared is told of by every command, and voids no save
	saved, err := checkpoint.Take(ctx, p, checkpoint.TakeOptions{Options: o})
	if err == nil {
		conversation.NoteHeld(ctx, p, o.By, saved.Held)
		maintain.FinishForgetting(ctx, p)
		p.RefreshMirror()
	}
	return saved, err
}
