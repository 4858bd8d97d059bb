package hookio

import (
	"cmp"
	"io"
	"strings"

	"github.com/rewind-cli/rewind/hookio/jsonscan"
)

// Bounds of what an Event keeps of a payload.
const (
	maxPromptBytes  = 1 << 20
	maxFieldBytes   = 64 << 10
	maxCommandBytes = 1 << 20
	maxPatchBytes   = 4 << 20
	maxFiles        = 4096
)

// Decode reads one payload to the end of r, and never fails: what cannot be
// understood is left empty, and Event.Damaged says so. An empty payload, or {},
// is an Event of Kind Ignored unless one of words, with which the hook was called, names an event.
//
// getenv is from the hook's environment.
func Decode(r io.Reader, words []string, getenv func(string) string) Event {
	named, action := Args(words)
	return decode(r, named, action, givenIn(words, action), getenv)
}

func decode(r io.Reader, named Agent, action string, g given, getenv func(string) string) Event {
	d := payloadDecoder{Scanner: jsonscan.Stream(r), getenv: getenv}
	object := d.AtEnd() || members(d.Scanner, d.member)
	if d.event.Damaged = d.Err(); d.event.Damaged == nil && !object {
		d.event.Damaged = jsonscan.ErrSyntax // a list, a number, …
	}
	d.Drain() // so that the agent's write does not fail; what follows does not matter

	e := &d.event
	e.Prompt = strings.ToValidUTF8(e.Prompt, "\ufffd")
	e.Name = cmp.Or(e.Name, action)
	e.Agent = detect(e.TranscriptPath, named, getenv)
	event := eventNamed(e.Agent, e.Name)
	e.Kind, e.Tool.Class = event.kind, event.class
	e.Tool.Failed = e.Kind == PostTool && (e.Tool.Failed || squash(e.Name) == "posttoolusefailure")
	g.complete(&d)
	if e.Workspace == "" && len(d.roots) > 0 {
		e.Workspace = d.roots[0]
	}
	e.Cwd = cmp.Or(e.Cwd, e.Workspace)
	d.finishTool()
	if e.Kind == SubagentStop && d.agentType && e.AgentType == "" {
		e.Kind = Ignored // an agent's own helpers, at a compaction for instance
	}
	if settle := e.Agent.adapter().settle; settle != nil {
		settle(&d)
	}
	return *e
}

type payloadDecoder struct {
	*jsonscan.Scanner
	event     Event
	getenv    func(string) string
	roots     []string
	agentType bool // agent_type was sent
	hasPrompt bool // prompt was sent
	input     toolInput
	exit      string // the code with which a shell command ended, "" where the payload does not have it
	stopped   bool   // the command was interrupted
}

// members visits the members of the object that is the next value.
func members(s *jsonscan.Scanner, member func(name string)) (ok bool) {
	return s.Inside(func(key []byte) { member(string(key)) })
}

// field reads a string that is kept whole or not at all: half a path is worse
// than none.
func (d *payloadDecoder) field(to *string) {
	if t, ok := d.Text(maxFieldBytes); ok && !t.Truncated {
		*to = t.Kept
	}
}

// member reads one member of the payload. The names here are those that most
// agents have; what others call them is in their adapters.
func (d *payloadDecoder) member(name string) {
	e := &d.event
	for _, f := range [...]struct {
		name string
		to   *string
	}{
		{"hook_event_name", &e.Name}, {"session_id", &e.SessionID}, {"previous_session_id", &e.PreviousSessionID},
		{"transcript_path", &e.TranscriptPath}, {"cwd", &e.Cwd}, {"permission_mode", &e.PermissionMode},
		{"session_title", &e.Title}, {"prompt_id", &e.PromptID}, {"tool_name", &e.Tool.Name}, {"tool_use_id", &e.ToolUseID},
		{"source", &e.Source}, {"trigger", &e.Source}, {"reason", &e.Reason}, {"agent_id", &e.AgentID},
		{"agent_transcript_path", &e.AgentTranscriptPath}, {"CLAUDE_ENV_FILE", &e.EnvFile},
	} {
		if f.name == name {
			d.field(f.to)
			return
		}
	}
	switch name {
	case "workspace_roots":
		d.Elements(func() {
			var root string
			if d.field(&root); root != "" && len(d.roots) < 16 {
				d.roots = append(d.roots, root)
			}
		})
	case "prompt", "initial_prompt":
		if t, ok := d.Text(maxPromptBytes); ok && (name == "prompt" || e.Prompt == "") {
			e.Prompt, e.PromptTruncated, d.hasPrompt = t.Kept, t.Truncated, true
		}
	case "tool_input":
		d.toolInput()
	case "tool_response":
		d.toolResponse()
	case "tool_result":
		d.toolResult()
	case "exit_code":
		d.exitCode()
	case "agent_type":
		if d.Peek() == '"' {
			d.agentType = true
		}
		d.field(&e.AgentType)
	// Of a tool call, beside the rest instead of in its input.
	case "command", "file_path", "edits", "old_string", "new_string":
		d.input.member(d.Scanner, name)
	default:
		if ours, ok := memberNamed(name); ok {
			d.member(ours)
			return
		}
		d.Skip()
	}
}

// stillRuns begins the result of a command that Copilot CLI moved to the background: of one that has ended the shell's id
// comes last.
const stillRuns = "<command with shellId: "

// maxResult bounds what is looked at of a command's output.
const maxResult = 1 << 20

// toolResult reads of what a command of Copilot CLI came to whether it still runs, and whether it ended with 0.
func (d *payloadDecoder) toolResult() {
	if d.Peek() != '{' {
		d.Skip()
		return
	}
	members(d.Scanner, func(name string) {
		if name != "text_result_for_llm" && name != "textResultForLlm" {
			d.Skip()
			return
		}
		if t, ok := d.Text(maxResult); ok && !t.Truncated {
			text := strings.TrimSpace(t.Kept)
			d.input.lasting = d.input.lasting || strings.HasPrefix(text, stillRuns)
			if strings.HasSuffix(text, " with exit code 0>") {
				d.exit = "0"
			}
		}
	})
}

// exitCode reads the code of a command that has ended.
func (d *payloadDecoder) exitCode() {
	switch c := d.Peek(); {
	case c == '-' || c >= '0' && c <= '9':
		d.exit = string(d.Literal())
	default:
		d.Skip()
	}
}

// qwenExit is the line of Qwen Code's result of a command that says its code; the next one says the signal that ended it.
const qwenExit = "\nExit Code: "

// toolResponse reads from the result of a call whether it failed, and of a command how it ended, if the result has that.
func (d *payloadDecoder) toolResponse() {
	if d.Peek() != '{' {
		d.Skip()
		return
	}
	members(d.Scanner, func(name string) {
		switch name {
		case "success":
			if d.Peek() == 'f' {
				d.event.Tool.Failed = true
			}
		case "exit_code":
			d.exitCode()
			return
		case "interrupted":
			d.stopped = d.IsTrue()
			return
		case "backgroundTaskId": // of Claude Code: the command goes on
			d.input.lasting = d.IsSet() || d.input.lasting
			return
		case "llmContent":
			if t, ok := d.Text(maxResult); ok && !t.Truncated {
				if at := strings.LastIndex(t.Kept, qwenExit); at >= 0 {
					d.exit, _, _ = strings.Cut(t.Kept[at+len(qwenExit):], "\n")
				}
			}
			return
		case "isError", "is_error":
			if d.IsTrue() {
				d.event.Tool.Failed = true
			}
			return
		case "error":
			failed := true
			switch d.Peek() {
			case '"':
				t, _ := d.Text(maxFieldBytes)
				failed = t.Kept != ""
			case 'f':
				failed = false
				d.Skip()
			default:
				failed = d.IsSet()
			}
			d.event.Tool.Failed = d.event.Tool.Failed || failed
			return
		}
		d.Skip()
	})
}

// eventName is an agent's word for an event, in lower case and without
// separators: PreToolUse, preToolUse and pre-tool-use are one. class is that of
// the tool, where the event is about one kind of tool only.
type eventName struct {
	name  string
	kind  EventKind
	class Class
}

// eventNamed is what a word for an event means, first to the agent itself. The
// zero eventName, of Kind Ignored, is an event that no agent has a word for.
func eventNamed(agent Agent, name string) eventName {
	name = squash(name)
	for _, a := range ownFirst(agent) {
		for _, e := range a.events {
			if e.name == name {
				return e
			}
		}
	}
	return eventName{}
}

// ownFirst lists all adapters, the agent's own at the beginning and again in its place.
func ownFirst(agent Agent) [1 + len(adapters)]*adapter {
	all := [1 + len(adapters)]*adapter{agent.adapter()}
	copy(all[1:], adapters[:])
	return all
}

// memberName is an agent's word for a member of the payload, and the one of
// payloadDecoder.member for it.
type memberName struct{ theirs, ours string }

func memberNamed(name string) (ours string, ok bool) {
	for _, a := range adapters {
		for _, m := range a.members {
			if m.theirs == name {
				return m.ours, true
			}
		}
	}
	return "", false
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
