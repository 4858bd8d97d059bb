package hook

import (
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/hookio/register"
	"github.com/rewind-cli/rewind/manifest"
)

// completes reports whether the event is one after which the agent's registration is looked at. It costs
// one look at the account, at a session's start.
func (h *process) completes() bool {
	if h.Event.Kind != manifest.SessionStart || h.Project == nil {
		return false
	}
	a := registration.Completable(h.Env, h.event.Agent)
	if a == nil {
		return false
	}
	r := account.RegistrationOf(h.Env, string(a.Agent), a.Dir(a.Where))
	return r.Behind(register.Generation, h.Env.Time())
}

// complete starts the detached process where nothing else wanted one.
func (h *process) complete() {
	if !h.completing && h.completes() {
		_ = h.detach(hook.WorkOptions{}) // the next session's start tries again
	}
}
