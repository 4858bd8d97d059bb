package hookio

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Response is what a hook process gives back. The zero Response, which is the
// answer to nearly everything, prints nothing and exits 0.
type Response struct {
	Stdout   []byte // empty, or one line of JSON
	Stderr   string
	ExitCode int // 0, or 2 to block a tool call
}

// maxOutput is the most characters that agents take from a hook.
const maxOutput = 10_000

// Response blocks the tool call, in the form that the agent understands: mostly
// exit code 2, the reason on stderr. Only for Kind PreTool: elsewhere 2 erases
// prompts or keeps agents running.
func (r *Refusal) Response(agent Agent) Response {
	if r == nil {
		return Response{}
	}
	if refuse := agent.adapter().refuse; refuse != nil {
		return refuse(printable(r.Reason))
	}
	return Response{Stderr: printable(r.Reason) + "\n", ExitCode: 2}
}

// CanTell reports whether a message at this event would reach the person, and
// the person alone.
func CanTell(e *Event) bool {
	if !e.Agent.adapter().messages {
		return false
	}
	switch e.Kind {
	case SessionStart, Prompt, PreTool, PostTool, Stop, SubagentStop:
		return true
	}
	return false // discarded at a session's end, compactions and notifications
}

// Tell shows a message to the person, not to the model.
func Tell(message string) Response {
	return Response{Stdout: encode(map[string]any{"systemMessage": printable(message)})}
}

// CanInform reports whether a text would reach the agent's model with the request that follows this
// event, and no subagent's.
func CanInform(e *Event) bool {
	return !e.InSubagent() && slices.Contains(e.Agent.adapter().informs, e.Kind)
}

// Inform adds a text for the agent's model to a response that may tell the person something. It is the one
// thing of ours that ever reaches a model; see CanInform.
func (r Response) Inform(e *Event, text string) Response {
	name := e.Name
	if name == "" {
		name = "UserPromptSubmit"
		if e.Kind == SessionStart {
			name = "SessionStart"
		}
	}
	out := map[string]any{}
	if len(r.Stdout) > 0 && json.Unmarshal(r.Stdout, &out) != nil {
		return r // no JSON of ours: it goes first
	}
	out["hookSpecificOutput"] = map[string]any{"hookEventName": name, "additionalContext": printable(text)}
	r.Stdout = encode(out)
	return r
}

func encode(v map[string]any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil // strings and bools always marshal
	}
	return append(b, '\n')
}

// printable keeps a text's lines and takes out what a terminal would act on;
// longer than agents allow is cut.
func printable(s string) string {
	if utf8.RuneCountInString(s) > maxOutput {
		s = string([]rune(s)[:maxOutput-1]) + "…"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return '\ufffd'
		case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069: // writing direction
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
