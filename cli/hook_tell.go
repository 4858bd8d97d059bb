package cli

import (
	"context"
	"slices"

	"rewind/engine/hook"
	"rewind/engine/project"
	"rewind/hookio"
)

// notInitialised is the warning of a project without a store, in the words that
// the older tool had.
const notInitialised = "[rewind] Warning: No .agent/rewind/ found. Run 'rewind init' first."

// tell shows the person a message once per session, where the agent shows it
// to nobody else.
func (h *hookCall) tell(ctx context.Context, topic, message string) hookio.Response {
	if !hookio.CanTell(h.event) || slices.Contains(h.session.Told, topic) {
		return hookio.Response{}
	}
	first := false
	err := project.UpdateSession(ctx, h.env, string(h.event.Agent), h.event.SessionID, func(s *project.SessionState) {
		if first = !slices.Contains(s.Told, topic); first {
			s.Told = append(s.Told, topic)
		}
	})
	if err != nil || !first {
		return hookio.Response{} // better never than at every event
	}
	return hookio.Tell(message)
}

// warnUninitialised tells that nothing is captured here: once per directory,
// unless the account's settings say otherwise. What cannot be remembered is not
// told: better never than at every event.
func (h *hookCall) warnUninitialised(ctx context.Context, missing *project.NotInitializedError) hookio.Response {
	const topic = "not-initialised"
	if !hookio.CanTell(h.event) || slices.Contains(h.session.Told, topic) {
		return hookio.Response{}
	}
	set, _ := project.LoadSettings(h.env, "")
	switch set.WarnUninitialised {
	case "never":
		return hookio.Response{}
	case "once":
		about := missing.Root
		if len(missing.History) > 0 { // that is news, also where the warning was given
			about += "\x00" + missing.History[0].ID
		}
		if !hook.WarnOnce(ctx, h.env, about) {
			_ = project.UpdateSession(ctx, h.env, string(h.event.Agent), h.event.SessionID, func(s *project.SessionState) {
				s.Told = append(s.Told, topic) // the next event need not look
			})
			return hookio.Response{}
		}
	}
	return h.tell(ctx, topic, notInitialised+historyNotice(missing.History))
}

// warnUnsupported tells once per account that hooks do nothing on this system.
func (h *hookCall) warnUnsupported(ctx context.Context, err error) hookio.Response {
	if !hookio.CanTell(h.event) || !hook.WarnOnce(ctx, h.env, "\x00unsupported") {
		return hookio.Response{}
	}
	return hookio.Tell("[rewind] Warning: " + explain(err).message + ".")
}

// historyNotice says that another directory has left a store at this path, and how to get it.
func historyNotice(left []project.History) string {
	if len(left) == 0 {
		return ""
	}
	return " Another directory at this path had a history: 'rewind init --adopt " + shortStore(left[0].ID) + "' brings it here."
}
