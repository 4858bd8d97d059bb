package hook

import (
	"context"
	"crypto/rand"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/manifest"
)

// Boundary takes a checkpoint where a prompt, a turn or an agent's work begins or ends, whatever the
// tier: at a prompt always, else where the tree has changed. Then is bound to the checkpoint before,
// now to the state now: entries of the conversation, whose ids come late. Its answer names that state's
// checkpoint, which can still be on its way; status knows of its error.
func (c *Call) Boundary(ctx context.Context, before manifest.CheckpointID, then, now []string) (manifest.CheckpointID, error) {
	c.Leave()
	id, err := c.boundary(ctx, before, then, now)
	c.note(err)
	return id, c.report()
}

func (c *Call) boundary(ctx context.Context, before manifest.CheckpointID, then, now []string) (id manifest.CheckpointID, err error) {
	e := &c.Event
	if id, err = manifest.NewCheckpointID(rand.Reader); err != nil {
		return id, err
	}
	var bind []manifest.Binding
	b := manifest.Binding{Time: e.Time.UTC(), Agent: e.By.Agent, Session: e.By.Session}
	if b.Entries, b.Checkpoint = then, before; len(then) > 0 && before != (manifest.CheckpointID{}) {
		bind = append(bind, b)
	}
	if b.Entries, b.Checkpoint = now, (manifest.CheckpointID{}); len(now) > 0 {
		bind = append(bind, b)
	}
	o := c.saving(checkpoint.Options{ID: id, OnlyIfChanged: e.Kind != manifest.Prompt})
	o.Bind = bind
	saved, err := save(ctx, c.Project, o)
	if err != nil {
		return manifest.CheckpointID{}, err
	}
	if saved.Due {
		c.note(c.Detach(WorkOptions{Sweep: true, Fold: true, Session: e.By.Session}))
	}
	if !saved.Left {
		id = saved.Checkpoint.ID
	}
	return id, nil
}

// Begin is what a session's start brings, without a checkpoint.
func (c *Call) Begin(ctx context.Context) error {
	c.Leave()
	c.begin()
	if register := c.sessionRecord(); register != nil {
		c.note(registerSession(ctx, c.Project, *register))
	}
	return c.report()
}

// End handles a session's end. It takes a checkpoint only if the conversation has more than what is kept of it.
func (c *Call) End(ctx context.Context) error {
	c.Leave()
	saved, err := save(ctx, c.Project, c.saving(checkpoint.Options{OnlyIfSaid: true}))
	c.note(err)
	c.end(saved)
	if saved != nil && saved.Due {
		c.note(c.Detach(WorkOptions{Sweep: true, Fold: true, Session: c.Event.By.Session}))
	}
	return c.report()
}
