package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/manifest"
)

// keptTools is how many tool calls of a session are known by their ids.
// Parallel ones are hardly ever more.
const keptTools = 32

// sessionRecord is the record of the session for the log, nil if the log has it.
func (c *Call) sessionRecord() *manifest.Session {
	e, by, known := &c.Event, &c.Event.By, c.session.Registered
	if by.Session == "" || known != "" && (known == by.Transcript || by.Transcript == "") {
		return nil
	}
	r := &manifest.Session{
		ID: by.Session, Agent: by.Agent, TranscriptPath: by.Transcript,
		Parent: e.Previous, Source: e.Source, Time: e.Time.UTC(),
	}
	if e.Kind != manifest.SessionStart {
		r.Source = ""
	}
	if r.Parent == "" && e.Process != "" && (e.Source == "clear" || e.Source == "fork") {
		// The agent does not say where the session comes from; but it ended one in
		// the same process just before.
		if last := c.Project.Ended(); last.Process == e.Process && last.Agent == r.Agent && last.Session != r.ID {
			r.Parent = last.Session
		}
	}
	return r
}

// promptKey names a prompt: a retry has the same one, another prompt that is
// typed while the agent works on the first has another.
func (c *Call) promptKey() string { return promptKey(c.Event.By.PromptID, c.Event.By.Prompt) }

func promptKey(id, text string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + text))
	return hex.EncodeToString(sum[:16])
}

// seenBefore reports whether this very prompt or tool call has its checkpoint
// already: a hook that fires twice must not put a later state in the place of
// the one before.
func (c *Call) seenBefore() bool {
	e, s := &c.Event, &c.session
	switch e.Kind {
	case manifest.Prompt:
		return e.By.PromptID != "" && s.Prompt == c.promptKey()
	case manifest.PreTool:
		return e.By.ToolUseID != "" && slices.Contains(s.Tools, e.By.ToolUseID)
	}
	return false
}

// retried reports whether a prompt without an id may be the one before, sent again by the provider: the same text soon
// after it, in a turn that has not ended. It may as well be a person's, so that it counts as new where anything has changed.
func (c *Call) retried() bool {
	e, s := &c.Event, &c.session
	since := e.Time.Sub(s.Prompted)
	return e.Kind == manifest.Prompt && e.By.PromptID == "" && s.Prompt == c.promptKey() && since >= 0 && since < conversation.PromptRetry && !s.Stopped.After(s.Prompted)
}

// remember is what the next hook of the session needs to know of this one. skipped: it took no checkpoint.
func (c *Call) remember(s *account.SessionState, skipped bool) {
	e := &c.Event
	if skipped {
		if e.Kind == manifest.Stop && e.By.Subagent == "" {
			s.Stopped = e.Time
		}
		return
	}
	if s.Last.Before(e.Time) && !c.opens() { // the first tool call behind a start is not one too many
		s.Last = e.Time
	}
	switch e.Kind {
	case manifest.Prompt:
		s.Prompt, s.PromptID, s.Prompted = c.promptKey(), e.By.PromptID, e.Time
	case manifest.Stop:
		if e.By.Subagent == "" {
			s.Stopped = e.Time
		}
	case manifest.PreTool:
		if id := e.By.ToolUseID; id != "" {
			s.Tools = append(s.Tools, id)
			s.Tools = s.Tools[max(0, len(s.Tools)-keptTools):]
		}
	}
}
