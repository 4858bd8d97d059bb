package conversation

import (
	"fmt"

	"github.com/rewind-cli/rewind/engine/transcript"
)

// NoConversationError: the conversation was asked for, and there is no place in
// it that could be resumed. The code can still be restored.
type NoConversationError struct {
	Checkpoint string // id, "" for none
	Reason     string // "": none was captured with it
	Before     bool   // the place lies before the first prompt
	Captured   bool   // the session that is meant is of an agent whose conversations are understood
	Err        error
}

func (e *NoConversationError) Error() string {
	if e.Reason == "" {
		return "no conversation was captured with " + e.Checkpoint
	}
	if e.Checkpoint == "" {
		return "no conversation to restore: " + e.Reason
	}
	return fmt.Sprintf("no conversation to restore with %s: %s", e.Checkpoint, e.Reason)
}
func (e *NoConversationError) Unwrap() error { return e.Err }

// PromptNotSavedError: no checkpoint has the files as they were before a prompt.
// The conversation can still go there.
type PromptNotSavedError struct {
	N      int    // prompt~N
	Prompt string // what was typed
	Err    error  // *project.NoCheckpointError
}

func (e *PromptNotSavedError) Error() string {
	return fmt.Sprintf("there is no checkpoint of prompt~%d: %s", e.N, transcript.Label(e.Prompt))
}
func (e *PromptNotSavedError) Unwrap() error { return e.Err }

// AgentRunningError: a conversation cannot be rewritten in place while its agent
// works on it. Force overrides it.
type AgentRunningError struct{ Session, How string }

func (e *AgentRunningError) Error() string {
	return fmt.Sprintf("the agent is running on session %s: %s", e.Session, e.How)
}
