package cli

import (
	"context"
	"slices"

	"rewind/engine"
	"rewind/hookio"
)

// notInitialised is the warning of a project without a store, in the words that
// the older tool had.
const notInitialised = "[rewind] Warning: No .agent/rewind/ found. Run 'rewind init' first."

// tell shows the person a message once per session, where the agent shows it
// to nobody else.
func (h *hook) tell(ctx context.Context, topic, message string) hookio.Response {
	if !hookio.CanTell(h.event) || slices.Contains(h.session.Told, topic) {
		return hookio.Response{}
	}
	first := false
	err := engine.UpdateSession(ctx, h.env, string(h.event.Agent), h.event.SessionID, func(s *engine.SessionState) {
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
func (h *hook) warnUninitialised(ctx context.Context, missing *engine.NotInitializedError) hookio.Response {
	const topic = "not-initialised"
	if !hookio.CanTell(h.event) || slices.Contains(h.session.Told, topic) {
		return hookio.Response{}
	}
	set, _ := engine.LoadSettings(h.env, "")
	switch set.WarnUninitialised {
	case "never":
		return hookio.Response{}
	case "once":
		about := missing.Root
		if len(missing.History) > 0 { // that is news, also where the warning was given
			about += "\x00" + missing.History[0].ID
		}
		if !engine.WarnOnce(ctx, h.env, about) {
			_ = engine.UpdateSession(ctx, h.env, string(h.event.Agent), h.event.SessionID, func(s *engine.SessionState) {
				s.Told = append(s.Told, topic) // the next event need not look
			})
			return hookio.Response{}
		}
	}
	return h.tell(ctx, topic, notInitialised+historyNotice(missing.History))
}

// warnUnsupported tells once per account that hooks do nothing on this system.
func (h *hook) warnUnsupported(ctx context.Context, err error) hookio.Response {
	if !hookio.CanTell(h.event) || !engine.WarnOnce(ctx, h.env, "\x00unsupported") {
		return hookio.Response{}
	}
	return hookio.Tell("[rewind] Warning: " + explain(err).message + ".")
}

// historyNotice says that another directory has left a store at this path, and how to get it.
func historyNotice(left []engine.History) string {
	if len(left) == 0 {
		return ""
	}
	return " Another directory that was at this path has a history: 'rewind init --adopt " + shortStore(left[0].ID) + "' brings it here."
}
