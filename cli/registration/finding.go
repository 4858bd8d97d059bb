package registration

import (
	"fmt"

	"github.com/rewind-cli/rewind/hookio/register"
)

const (
	Severe = "error"
	Mild   = "warning"
)

func RegisterCommand(a *AgentFiles) string {
	return "rewind config --register-hooks --agent " + string(a.Agent)
}

// DescribeFinding says what a finding means, and its cure.
func DescribeFinding(a *AgentFiles, f register.Finding) (severity, message, cure string) {
	again := RegisterCommand(a)
	switch f.Code {
	case register.FileNotJSON:
		return Severe, fmt.Sprintf("%s ignores %s, which is not valid JSON: %s", a.Title, f.File, f.Detail), "correct " + f.File
	case register.Ignored:
		return Severe, fmt.Sprintf("%s ignores %s and runs no hook that is in it: %s", a.Title, f.File, f.Detail), f.Cure
	case register.OlderIgnores:
		return Mild, fmt.Sprintf("older versions of %s, as 2.0.30, ignore %s and run no hook that is in it: %s", a.Title, f.File, f.Detail), f.Cure
	case register.HooksDisabled:
		return Severe, fmt.Sprintf("%s in %s turns off all hooks of %s", f.Detail, f.File, a.Title), "remove " + f.Detail + " from " + f.File
	case register.ManagedOnly:
		return Severe, fmt.Sprintf("the policy in %s allows %s only managed hooks", f.File, a.Title), "ask whoever manages " + f.File
	case register.NotRegistered:
		return Severe, fmt.Sprintf("%s does not call rewind", a.Title), again
	case register.EventMissing:
		what := f.Event
		if f.Detail != "" {
			what += " for " + f.Detail
		}
		return Severe, fmt.Sprintf("%s does not call rewind at %s", a.Title, what), again
	case register.RegisteredTwice:
		what := f.Detail
		if f.Event != "" {
			what = f.Event + ": " + what
		}
		cure = "rewind config --unregister-hooks --agent " + string(a.Agent)
		if f.Event != "" {
			cure += " && " + again
		}
		return Mild, fmt.Sprintf("%s calls rewind twice: %s", a.Title, what), cure
	case register.UnknownEvent:
		return Mild, fmt.Sprintf("%s uses the event %s: versions of %s that do not know it ignore all hooks in the file", f.File, f.Event, a.Title), "update " + a.Title + ", or remove " + f.Event
	case register.OlderTool:
		return Mild, fmt.Sprintf("%s still calls the older tool at %s: %s", a.Title, f.Event, f.Detail), again
	case register.Shadowed:
		return Severe, fmt.Sprintf("%s defines %s, so the hooks for it in %s do not run", f.Detail, f.Event, f.File), again
	case register.Wrapped:
		return Severe, fmt.Sprintf("%s has its events inside a \"hooks\" object, so %s runs none of them", f.File, a.Title), "move the events to the top level of " + f.File
	case register.WrongShape:
		return Severe, fmt.Sprintf("%s in %s does not have the type that %s expects", f.Event, f.File, a.Title), "correct " + f.File
	case register.NotOurs:
		return Mild, fmt.Sprintf("%s was not written by rewind, but has the name of the file that calls it from %s", f.File, a.Title), "move " + f.File + " away"
	case register.OtherVersion:
		return Mild, fmt.Sprintf("%s differs from what this version of rewind writes", f.File), again
	case register.StraySetting:
		return Mild, fmt.Sprintf("%s in %s has no effect: neither %s nor rewind reads it there", f.Detail, f.File, a.Title),
			"remove it from " + f.File + "; rewind config shows what holds"
	case register.Untrusted:
		return Mild, fmt.Sprintf("%s does not trust %s: interactive sessions run no hooks there", a.Title, f.Detail), f.Cure
	case register.AgentsOwn:
		return Severe, f.Detail, f.Cure
	}
	return Mild, fmt.Sprintf("%s: %s %s %s", a.Title, f.Code, f.File, f.Event), ""
}
