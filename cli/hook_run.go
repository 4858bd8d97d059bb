package cli

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"rewind/engine/hook"
	"rewind/engine/project"
	"rewind/hookio"
)

// hookCall is one hook process.
type hookCall struct {
	*hook.Call
	start time.Time
	event *hookio.Event
	named hookio.Agent // in the registered line
	self  string       // how the program was called

	opened  atomic.Bool // for await: the project was found, or there is none
	patient atomic.Bool // for await: a person waits for what takes as long as it takes
}

// run decides in this order: is the project known; is it a command for us; may the tool call pass;
// and leaves the rest to package hook.
func (h *hookCall) run(ctx context.Context) hookio.Response {
	e := h.event
	if e.Kind == hookio.Ignored || e.Kind == hookio.Notification {
		return hookio.Response{}
	}
	if e.Kind == hookio.SubagentStop && e.AgentType == "" {
		return hookio.Response{} // an agent's own helpers, whose sessions may not even exist
	}
	if err := project.Supported(h.Env); err != nil {
		return h.warnUnsupported(ctx, err)
	}
	h.Event = hookEvent(e, h.Env, h.start)
	h.Load()
	err := h.Open(ctx)
	h.opened.Store(true)
	if h.Project != nil {
		defer h.Project.Close()
	}
	if c, args, ok := h.inSession(); ok { // before all else: no answer would be a turn of the model
		return h.answer(ctx, c, args, err)
	}
	var missing *project.NotInitializedError
	var refused *project.RefusedRootError
	switch {
	case errors.As(err, &refused):
		return hookio.Response{} // no store is wanted there
	case errors.As(err, &missing):
		return h.warnUninitialised(ctx, missing)
	case err != nil:
		return h.tell(ctx, "failed", failureText(err))
	}
	if r := h.guard(); r != nil {
		return r.Response(e.Agent)
	}
	if err := h.Run(ctx); err != nil {
		return h.tell(ctx, "failed", failureText(err))
	}
	if h.Project.Older() != nil {
		return h.tell(ctx, "older", olderNotice)
	}
	if left := h.Project.History(); len(left) > 0 { // this hook has made the store
		return h.tell(ctx, "history", "[rewind] A store was created."+historyNotice(left))
	}
	if found := h.Project.Notices(); len(found) > 0 { // what this hook has mended
		return h.tell(ctx, "mended", "[rewind] Note: "+strings.Join(found, "; ")+".")
	}
	return hookio.Response{}
}
