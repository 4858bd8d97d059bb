package hook

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/manifest"
)

// touchTime is how long an agent waits for the look at what its tool edits.
const touchTime = time.Second

// Touch records what the paths that an edit tool declares are, before the call where it brought no checkpoint, and
// after it. It returns within touchTime: what a file system does not answer by then is not recorded.
func (c *Call) Touch(ctx context.Context) error {
	e := &c.Event
	if len(e.Edited) == 0 || e.Kind != manifest.PreTool && e.Kind != manifest.PostTool || c.seenBefore() {
		return nil
	}
	const (
		committing = iota + 1
		givenUp
	)
	var state atomic.Int32 // whoever sets it first decides
	by := &e.By
	o := checkpoint.TouchOptions{
		Touch: manifest.Touch{
			Agent: by.Agent, Session: by.Session, Subagent: by.Subagent, PromptID: by.PromptID, Tool: by.Tool, Call: by.ToolUseID,
			After: e.Kind == manifest.PostTool,
		},
		Valid: func() bool { return state.CompareAndSwap(0, committing) },
	}
	ctx, cancel := context.WithTimeout(ctx, touchTime)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		for _, file := range e.Edited {
			for _, rel := range belowThrough(c.Project, file) {
				if !slices.Contains(o.Paths, rel) {
					o.Paths = append(o.Paths, rel)
				}
			}
		}
		done <- checkpoint.Touch(ctx, c.Project, o)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(stopTime):
	}
	if !state.CompareAndSwap(0, givenUp) {
		return <-done // it is being written: it is there in a moment
	}
	c.Project.Abandoned.Store(true)
	return errors.New("a file that a tool edits could not be read in time")
}
