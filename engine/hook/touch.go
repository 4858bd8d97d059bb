package hook

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/manifest"
)

// touchTime is how long an agent waits for the look at what its tool edits.
const touchTime = time.Second

// Touch records what the paths that an edit tool declares are, before the call where it brought no checkpoint, and
// after it. With since, it brought one that had nothing new, and only what was touched since the newest is looked at.
// It returns within touchTime: what a file system does not answer by then is not recorded, and before a call the record says so.
func (c *Call) Touch(ctx context.Context, since bool) error {
	e := &c.Event
	if len(e.Edited) == 0 || e.Kind != manifest.PreTool && e.Kind != manifest.PostTool || c.seenBefore() {
		return nil
	}
	looked, err := c.touch(ctx, since)
	if err != nil {
		c.leaveUnseen(nil)
	} else if len(looked.Unseen) > 0 {
		c.leaveUnseen(looked.Unseen)
	}
	if len(looked.Mixed) > 0 {
		c.leaveDoubt(looked.Mixed)
	}
	return err
}

func (c *Call) touch(ctx context.Context, since bool) (checkpoint.Looked, error) {
	ctx, cancel := context.WithTimeout(ctx, touchTime)
	defer cancel()
	looked, hung, err := unlessHung(ctx, c.Project, func(claim func() bool) (checkpoint.Looked, error) {
		e, by := &c.Event, &c.Event.By
		o := checkpoint.TouchOptions{
			Since: since,
			Touch: manifest.Touch{
				Agent: by.Agent, Session: by.Session, Subagent: by.Subagent, PromptID: by.PromptID, Tool: by.Tool, Call: by.ToolUseID,
				After: e.Kind == manifest.PostTool,
			},
			Explains: e.Explains,
			Valid:    claim,
		}
		for _, file := range e.Edited {
			for _, rel := range belowThrough(c.Project, file) {
				if !slices.Contains(o.Paths, rel) {
					o.Paths = append(o.Paths, rel)
				}
			}
		}
		return checkpoint.Touch(ctx, c.Project, o)
	})
	if hung {
		err = errors.New("a file that a tool edits could not be read in time")
	}
	return looked, err
}
