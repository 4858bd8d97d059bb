package hook

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/register"
	"github.com/rewind-cli/rewind/manifest"
)

// piCall is one question of our extension in pi.
type piCall struct {
	*process
	q      *hookio.PiRequest
	answer hookio.PiAnswer
	set    settings.Pi
}

// pi answers the extension. What goes wrong is a notice in the answer, and the
// reason stays for status.
func (h *process) pi(ctx context.Context, q *hookio.PiRequest) hookio.PiAnswer {
	event := q.Event()
	h.event, h.named = &event, hookio.Pi
	c := &piCall{process: h, q: q, set: settings.LoadPi(h.Env.Home, h.Env.Getenv)}
	switch q.Kind {
	case hookio.PiOptions, hookio.PiApply, hookio.PiPoints:
		h.patient.Store(true)
	}
	if q.Extension != register.PiVersion {
		c.notice("warning", "version", fmt.Sprintf("rewind: its extension in pi has version %d, the program expects %d: rewind config --register-hooks --agent pi",
			q.Extension, register.PiVersion))
	}
	if err := account.Supported(h.Env); err != nil {
		c.answer.Off = true
		c.notice("warning", "unsupported", "rewind: "+app.Explain(err).Message)
		return c.answer
	}
	h.Event = eventOf(&event, h.Env, q.Time(h.start))
	h.Event.Makes, h.Event.Has = q.Kind == hookio.PiPrompt, q.Has
	if r := c.set.Retention; r != nil {
		h.Event.SweepsAlways = true
		if r.StartupBudget != nil {
			h.Event.SweepBudget = max(*r.StartupBudget, 1)
		}
	}
	h.Load()
	err := h.Open(ctx)
	h.opened.Store(true)
	if h.Project != nil {
		defer h.Project.Close()
	}
	var missing *project.NotInitializedError
	var refused *project.RefusedRootError
	switch {
	case errors.As(err, &refused):
		c.answer.Off = true
		c.notice("info", "refused", "rewind: off here: "+app.Explain(err).Message)
	case errors.As(err, &missing): // the first prompt makes the store
		if q.Kind == hookio.PiSessionStart {
			c.footer(0, 0)
		}
		c.cancelApply(nil)
	case err != nil:
		c.failed(err)
	default:
		c.serve(ctx)
		c.complete()
	}
	return c.answer
}

// notice tells the person something; once is its topic, "" for every time.
func (c *piCall) notice(level, once, text string) {
	if level == "info" && c.silent() {
		return
	}
	c.answer.Notices = append(c.answer.Notices, hookio.PiNotice{Text: text, Level: level, Once: once})
}

func (c *piCall) silent() bool {
	return c.set.Silent || c.Project != nil && c.Project.Settings().SilentCheckpoints
}

// footer shows how much there is to go back to.
func (c *piCall) footer(points, snapshots int) {
	text := hookio.PiFooter(points, snapshots)
	if c.silent() || c.olderExtension() != "" {
		text = ""
	}
	c.answer.Footer = &text
}

// failed tells once of what went wrong, and leaves it for status. What a person asked for is told
// each time, and pi's own navigation does not go on without it.
func (c *piCall) failed(err error) {
	if c.Project != nil {
		c.Project.NoteHookError(err)
	}
	switch c.q.Kind {
	case hookio.PiApply:
		c.cancelApply(err)
	case hookio.PiOptions, hookio.PiPoints:
		c.notice("error", "", "rewind: "+app.Explain(err).Message)
	default:
		c.notice("warning", "failed", failureText(err))
	}
}

// cancelApply answers a choice that could not be carried out.
func (c *piCall) cancelApply(err error) {
	if c.q.Kind != hookio.PiApply {
		return
	}
	c.answer.Cancel = true
	message := "there is no store here"
	if err != nil {
		message = app.Explain(err).Message
	}
	c.notice("error", "", "rewind: nothing was restored: "+message)
}

// serve does what the request asks, in a project that is open.
func (c *piCall) serve(ctx context.Context) {
	switch c.q.Kind {
	case hookio.PiSessionStart:
		c.sessionStart(ctx)
	case hookio.PiPrompt, hookio.PiTurnEnd, hookio.PiAgentEnd, hookio.PiBind:
		c.boundary(ctx)
	case hookio.PiOptions:
		c.options(ctx)
	case hookio.PiApply:
		c.apply(ctx)
	case hookio.PiPoints:
		c.points(ctx)
	case hookio.PiTool, hookio.PiToolEnd:
		if r := c.guard(); r != nil {
			c.answer.Block = r.Reason
			break
		}
		c.Leave()
		if err := errors.Join(c.Touch(ctx, false), c.SaveGreen(ctx)); err != nil {
			c.failed(err)
		}
	case hookio.PiShutdown:
		if err := c.End(ctx); err != nil {
			c.failed(err)
		}
	}
	switch c.q.Kind {
	case hookio.PiSessionStart, hookio.PiAgentEnd, hookio.PiBind, hookio.PiStatus, hookio.PiApply:
		c.count(ctx)
	case hookio.PiPrompt:
		c.inform(ctx)
	}
	if text := c.behind(); text != "" {
		c.notice("warning", "behind", "rewind: "+strings.TrimPrefix(text, "[rewind] Note: "))
	}
	if left := c.Project.History; len(left) > 0 { // this call has made the store
		c.notice("info", "", "rewind: a store was created."+historyNotice(left))
	}
	for _, found := range c.Project.Notices() {
		c.notice("info", "", "rewind: "+found)
	}
}

// piInforms is the first version of the extension that passes notices on to the model.
const piInforms = 2

// inform passes the pending notices on to the model; an older extension would lose them.
func (c *piCall) inform(ctx context.Context) {
	if c.q.Extension < piInforms || !hookio.CanInform(c.event) {
		return
	}
	text, err := c.Notice(ctx, c.late.Load)
	if err != nil {
		c.failed(err)
	}
	c.answer.Inform = text
}

func (c *piCall) sessionStart(ctx context.Context) {
	if err := c.Begin(ctx); err != nil {
		c.failed(err)
	}
	if older := c.olderExtension(); older != "" {
		c.notice("warning", "older", "rewind: "+older+" is installed too: its menus are kept and ours are off; remove it to get ours")
	}
}

// boundary takes a checkpoint and binds the entries that came since the last one: prompts and what
// stands between turns to the state before, answers to the state now.
func (c *piCall) boundary(ctx context.Context) {
	var then, now []string
	for _, e := range c.q.Entries {
		switch {
		case !e.Point() || e.ID == "":
		case c.q.Kind != hookio.PiBind && e.Role != "assistant":
			then = append(then, e.ID)
		default:
			now = append(now, e.ID)
		}
	}
	before, err := manifest.ParseCheckpointID(c.q.State)
	if err != nil {
		before = manifest.CheckpointID{} // it is not known what the files were before
	}
	id, err := c.Boundary(ctx, before, then, now)
	if id != (manifest.CheckpointID{}) {
		c.answer.State = id.String()
	}
	if err != nil {
		c.failed(err)
	}
}

// count shows the points in the footer.
func (c *piCall) count(ctx context.Context) {
	points, err := c.pointsOf(ctx)
	if err != nil {
		c.failed(err)
		return
	}
	trees := map[any]bool{}
	for _, p := range points {
		trees[p.Checkpoint.Root] = true
	}
	c.footer(len(points), len(trees))
}

// pointsOf are the points of the session and, as far as it has their entries, of those it came from.
func (c *piCall) pointsOf(ctx context.Context) (points []conversation.Point, err error) {
	var has map[string]bool
	if c.q.Has != nil {
		has = map[string]bool{}
		for _, id := range c.q.Has {
			has[id] = true
		}
	}
	err = c.Project.Query(ctx, func(db *manifest.DB) error {
		family, err := c.lineage(db)
		if err != nil {
			return err
		}
		points, err = conversation.PointsOf(db, family, has)
		return err
	})
	return points, err
}

// lineage is the session and those it came from; the log may not know of the newest fork yet.
func (c *piCall) lineage(db *manifest.DB) ([]string, error) {
	return session.LineageOf(db, c.q.Session, c.event.PreviousSessionID)
}

// olderExtension names the extension that pi users had before ours, where pi has it too.
func (c *piCall) olderExtension() string {
	return register.OlderPi(register.Where{Home: c.Env.Home, Root: c.q.Cwd, Getenv: c.Env.Getenv})
}
