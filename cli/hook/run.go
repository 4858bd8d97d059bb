package hook

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/hookio"
)

// runCommandLine runs a command of ours, and returns its exit code.
type runCommandLine func(ctx context.Context, words []string, env account.Env, stdio app.Stdio) int

// process is one hook process.
type process struct {
	*hook.Call
	start time.Time
	event *hookio.Event
	named hookio.Agent // in the registered line
	self  string       // how the program was called

	command runCommandLine

	news       string // for the person, once in a session, and for the model
	completing bool   // a detached process looks at the agent's registration

	opened  atomic.Bool // for await: the project was found, or there is none
	patient atomic.Bool // for await: a person waits for what takes as long as it takes
	late    atomic.Bool // from await: the answer is not printed any more
}

// run answers the event, and adds the notices that the agent has not got yet.
func (h *process) run(ctx context.Context) hookio.Response {
	r := h.respond(ctx)
	if h.Project != nil {
		defer h.Project.Close()
	}
	if h.Project == nil || !hookio.CanInform(h.event) {
		return r
	}
	if _, _, ours := h.inSession(); ours { // the model is not asked
		return r
	}
	text, err := h.Notice(ctx, h.late.Load)
	if err != nil {
		h.Project.NoteHookError(err)
	}
	if news := h.news; news != "" && h.Project.Settings().Notice && h.TellOnce(ctx, "behind, for the model") {
		text = strings.TrimPrefix(text+"\n\n"+news, "\n\n")
	}
	if text != "" {
		r = r.Inform(h.event, text)
	}
	return r
}

// respond decides in this order: is the project known; is it a command for us; may the tool call pass;
// and leaves the rest to package hook.
func (h *process) respond(ctx context.Context) hookio.Response {
	e := h.event
	if e.Kind == hookio.Ignored || e.Kind == hookio.Notification {
		return hookio.Response{}
	}
	if e.Kind == hookio.SubagentStop && e.AgentType == "" {
		return hookio.Response{} // an agent's own helpers, whose sessions may not even exist
	}
	if err := account.Supported(h.Env); err != nil {
		return h.warnUnsupported(ctx, err)
	}
	h.Event = eventOf(e, h.Env, h.start)
	h.Load()
	err := h.Open(ctx)
	h.opened.Store(true)
	if c, args, ok := h.inSession(); ok { // before all else: no answer would be a turn of the model
		first, handled, busy := h.Once(ctx, time.Until(h.start.Add(hook.AnswerTime)))
		defer handled()
		switch {
		case !first:
			return hookio.Response{} // the other hook of this event answers
		case busy != nil:
			return hookio.InSession(stillRunning(c.Name))
		}
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
		project.NoteHookErrorOf(h.Env, err)
		return h.tell(ctx, "failed", failureText(err))
	}
	if r := h.guard(); r != nil {
		return r.Response(e.Agent)
	}
	first, handled, _ := h.Once(ctx, hook.CallTime)
	defer handled()
	if !first {
		return hookio.Response{}
	}
	err = h.Run(ctx)
	h.complete()
	h.watch()
	h.push(ctx)
	if err != nil {
		return h.tell(ctx, "failed", failureText(err))
	}
	if h.Project.Older != nil {
		return h.tell(ctx, "older", olderNotice)
	}
	if left := h.Project.History; len(left) > 0 { // this hook has made the store
		return h.tell(ctx, "history", "[rewind] A store was created."+historyNotice(left))
	}
	if found := h.Project.Notices(); len(found) > 0 { // what this hook has mended
		return h.tell(ctx, "mended", "[rewind] Note: "+strings.Join(found, "; ")+".")
	}
	if h.news = h.behind(); h.news != "" {
		return h.tell(ctx, "behind", h.news)
	}
	return hookio.Response{}
}

// noteMisuse leaves word, for status, of a call that could not be understood: where that is a whole
// event, nothing is captured, and nobody would know.
func (h *process) noteMisuse(words []string) {
	e := h.event
	var problem error
	switch name := hookio.Misnamed(words); {
	case e.Damaged != nil:
		problem = fmt.Errorf("a hook's payload could not be read: %w", e.Damaged)
	case e.Unknown():
		problem = fmt.Errorf("a hook was called for the event %s, which is not known", show(e.Name))
	case name != "":
		problem = fmt.Errorf("a hook was called for the agent %s, which is not known", show(name))
	default:
		return
	}
	if h.Project != nil {
		h.Project.NoteHookError(problem)
		return
	}
	env := h.Env
	if filepath.IsAbs(e.Cwd) {
		env.Dir = e.Cwd
	}
	p, err := project.Open(context.Background(), project.OpenOptions{Env: env, LockWait: time.Second})
	if err != nil {
		project.NoteHookErrorOf(h.Env, problem)
		return
	}
	defer p.Close()
	p.NoteHookError(problem)
}

// show makes a word from outside fit for a line.
func show(word string) string { return strconv.Quote(screen.Clip(word, 60)) }
