package hook

import (
	"context"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/hookio"
)

// notInitialised is the warning of a project without a store, in the words that
// the older tool had.
const notInitialised = "[rewind] Warning: No .agent/rewind/ found. Run 'rewind init' first."

// tell shows the person a message once per session, where the agent shows it
// to nobody else.
func (h *process) tell(ctx context.Context, topic, message string) hookio.Response {
	if !hookio.CanTell(h.event) || !h.TellOnce(ctx, topic) {
		return hookio.Response{}
	}
	return hookio.Tell(message)
}

func failureText(err error) string {
	return "[rewind] Warning: no checkpoint was taken: " + app.Explain(err).Message + ". See 'rewind status'."
}

// warnUninitialised tells that nothing is captured here.
func (h *process) warnUninitialised(ctx context.Context, missing *project.NotInitializedError) hookio.Response {
	if !hookio.CanTell(h.event) || !h.TellUninitialised(ctx, missing) {
		return hookio.Response{}
	}
	text := notInitialised
	if missing.Older != "" {
		text = olderOff
	}
	return hookio.Tell(text + historyNotice(missing.History))
}

// warnUnsupported tells once per account that hooks do nothing on this system.
func (h *process) warnUnsupported(ctx context.Context, err error) hookio.Response {
	if !hookio.CanTell(h.event) || !hook.WarnOnce(ctx, h.Env, "\x00unsupported") {
		return hookio.Response{}
	}
	return hookio.Tell("[rewind] Warning: " + app.Explain(err).Message + ".")
}

// Of a project that the older rewind was initialised in: a hook has made the store beside it, or
// leaves that to the person.
const (
	olderNotice = "[rewind] Note: this project was initialised by an older rewind. Its settings still apply; its checkpoints are kept in .agent/rewind/checkpoints."
	olderOff    = "[rewind] Warning: .agent/rewind belongs to an older rewind. Run 'rewind init' to continue with it."
)

// historyNotice says that another directory has left a store at this path, and how to get it.
func historyNotice(left []project.History) string {
	if len(left) == 0 {
		return ""
	}
	return " Another directory at this path had a history: 'rewind init --adopt " + app.ShortStore(left[0].ID) + "' brings it here."
}
