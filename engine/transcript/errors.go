package transcript

import (
	"fmt"

	"github.com/rewind-cli/rewind/cas/oid"
)

// FormatError is a transcript that is not understood: a format or version
// unknown here, or no transcript at all. The conversation can be stored, not
// cut: a restore has to do without it.
type FormatError struct {
	Agent  Agent
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s transcript not understood: %s", e.Agent, e.Reason)
}

// NothingBeforeError says that the conversation has no message before the
// point asked for: there is no session to resume, only a new one to start.
type NothingBeforeError struct{}

func (e *NothingBeforeError) Error() string {
	return "there is no conversation before this point"
}

// NoEventError is an event, prompt or tool call that the transcript does not hold.
type NoEventError struct {
	Kind string // "event", "prompt", "tool call"
	ID   string
}

func (e *NoEventError) Error() string {
	return fmt.Sprintf("the transcript has no %s %s", e.Kind, e.ID)
}

// FewPromptsError is a request for more prompts than the conversation has.
type FewPromptsError struct {
	Asked, Have int
	Sessions    int // that can be meant, where that is not clear: Have is the most that one has
}

func (e *FewPromptsError) Error() string {
	if e.Sessions > 1 {
		which, prompts := "both", "prompts"
		if e.Sessions > 2 {
			which = fmt.Sprintf("all %d", e.Sessions)
		}
		if e.Have == 1 {
			prompts = "prompt"
		}
		return fmt.Sprintf("there is no prompt %d: %s active sessions have at most %d %s", e.Asked, which, e.Have, prompts)
	}
	if e.Asked < 1 {
		return fmt.Sprintf("there is no prompt %d: the last one is 1", e.Asked)
	}
	return fmt.Sprintf("there is no prompt %d: the conversation has only %d", e.Asked, e.Have)
}

// ChangedError is a file that became shorter while it was read.
type ChangedError struct{ File string }

func (e *ChangedError) Error() string { return e.File + " changed while it was read" }

// DamagedError is a stored list that does not hold what it should.
type DamagedError struct {
	ID     oid.ID
	Reason string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("stored conversation %x: %s", e.ID[:6], e.Reason)
}
