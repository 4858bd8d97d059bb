package hookio

import (
	"errors"
	"io"
	"strings"
)

// Bounds of what an Event keeps of a payload.
const (
	MaxPromptBytes  = 1 << 20
	maxFieldBytes   = 64 << 10
	maxCommandBytes = 1 << 20
	maxPatchBytes   = 4 << 20
	maxFiles        = 4096
)

// Decode reads one payload to the end of r, and never fails: what cannot be
// understood is left empty, and Event.Damaged says so. An empty payload, or {},
// is an Event of Kind Ignored unless action names one.
//
// named and action come from Args, getenv from the hook's environment.
func Decode(r io.Reader, named Agent, action string, getenv func(string) string) Event {
	d := decoder{scanner: newScanner(r)}
	if d.peek() != 0 || d.err == nil {
		d.object(d.member)
		d.event.Damaged = d.err
	} else if !errors.Is(d.err, io.ErrUnexpectedEOF) {
		d.event.Damaged = d.err
	}
	// To the end, so that the agent's write does not fail; what follows does not matter.
	_, _ = io.Copy(io.Discard, d.r)

	e := &d.event
	e.Prompt = strings.ToValidUTF8(e.Prompt, "\ufffd")
	if e.Name == "" {
		e.Name = action
	}
	e.Agent = Detect(e.TranscriptPath, named, getenv)
	e.Kind = kindOf(e.Name)
	if e.Workspace == "" && len(d.roots) > 0 {
		e.Workspace = d.roots[0]
	}
	if e.Cwd == "" {
		e.Cwd = e.Workspace
	}
	d.finishTool()
	d.discardNoise()
	return *e
}

type decoder struct {
	*scanner
	event     Event
	roots     []string
	agentType bool // agent_type was sent
	hasPrompt bool
	input     toolInput
}

// field reads a string that is kept whole or not at all: half a path is worse
// than none.
func (d *decoder) field(to *string) {
	if t, ok := d.text(maxFieldBytes); ok && !t.truncated {
		*to = t.kept
	}
}

// member reads one member of the payload. Names differ by agent; all of them
// are accepted from all.
func (d *decoder) member(name string) {
	e := &d.event
	switch name {
	case "hook_event_name", "hookEventName", "event":
		d.field(&e.Name)
	case "session_id", "sessionId", "conversation_id":
		d.field(&e.SessionID)
	case "previous_session_id":
		d.field(&e.PreviousSessionID)
	case "transcript_path", "transcriptPath":
		d.field(&e.TranscriptPath)
	case "cwd":
		d.field(&e.Cwd)
	case "workspace_roots":
		d.array(func() {
			var root string
			if d.field(&root); root != "" && len(d.roots) < 16 {
				d.roots = append(d.roots, root)
			}
		})
	case "permission_mode":
		d.field(&e.PermissionMode)
	case "session_title":
		d.field(&e.Title)
	case "prompt_id", "generation_id", "turn_id":
		d.field(&e.PromptID)
	case "prompt", "initial_prompt", "initialPrompt":
		if t, ok := d.text(MaxPromptBytes); ok && (name == "prompt" || e.Prompt == "") {
			e.Prompt, e.PromptTruncated, d.hasPrompt = t.kept, t.truncated, true
		}
	case "tool_name", "toolName":
		d.field(&e.Tool.Name)
	case "tool_use_id", "toolUseId", "tool_call_id":
		d.field(&e.ToolUseID)
	case "tool_input", "toolInput", "toolArgs", "tool_args":
		d.toolInput()
	case "source", "trigger":
		d.field(&e.Source)
	case "reason":
		d.field(&e.Reason)
	case "agent_id", "subagent_id":
		d.field(&e.AgentID)
	case "agent_type", "subagent_type":
		if d.peek() == '"' {
			d.agentType = true
		}
		d.field(&e.AgentType)
	case "agent_transcript_path":
		d.field(&e.AgentTranscriptPath)
	case "CLAUDE_ENV_FILE":
		d.field(&e.EnvFile)
	// Cursor puts these beside the rest.
	case "command", "file_path", "edits":
		d.input.member(d.scanner, name)
	default:
		d.skip()
	}
}

// discardNoise turns calls that say nothing into ignored ones.
func (d *decoder) discardNoise() {
	e := &d.event
	switch {
	case e.Kind == Prompt && e.Agent == Qwen && d.hasPrompt && e.Prompt == "":
		e.Kind = Ignored // Qwen Code fires again at each continuation after a tool's result
	case e.Kind == SubagentStop && d.agentType && e.AgentType == "":
		e.Kind = Ignored // Claude Code's own helpers, at a compaction for instance
	}
}

// kindOf maps the names of all agents' events. Letter case and separators do
// not matter: PreToolUse, preToolUse and pre-tool-use are one.
func kindOf(name string) Kind {
	switch squash(name) {
	case "sessionstart", "agentspawn":
		return SessionStart
	case "userpromptsubmit", "userpromptsubmitted", "beforesubmitprompt", "beforeagent", "prompt", "analyzeprompt":
		return Prompt
	case "pretooluse", "beforetool", "pretool", "premodify", "beforeshellexecution", "beforemcpexecution":
		return PreTool
	case "posttooluse", "posttoolusefailure", "aftertool", "posttool", "postbash", "aftershellexecution", "aftermcpexecution", "afterfileedit":
		return PostTool
	case "stop", "stopfailure", "afteragent", "agentstop":
		return Stop
	case "sessionend":
		return SessionEnd
	case "subagentstop":
		return SubagentStop
	case "precompact":
		return PreCompact
	case "notification":
		return Notification
	}
	return Ignored // PreCompress too: Gemini CLI fires it at every request
}

func squash(name string) string {
	if len(name) > 64 {
		return ""
	}
	b := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		case c == '-' || c == '_':
		default:
			b = append(b, c)
		}
	}
	return string(b)
}
