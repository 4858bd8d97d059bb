package hookio

import "cmp"

// EventKind is what happened, in the same words for every agent.
type EventKind string

const (
	Ignored      EventKind = "" // nothing that concerns us, or unknown
	SessionStart EventKind = "session-start"
	Prompt       EventKind = "prompt"
	PreTool      EventKind = "pre-tool"
	PostTool     EventKind = "post-tool"
	Stop         EventKind = "stop"
	SessionEnd   EventKind = "session-end"
	SubagentStop EventKind = "subagent-stop"
	PreCompact   EventKind = "pre-compact"
	Notification EventKind = "notification"
)

// Event is one hook call. Every field may be empty: agents differ in what they
// send. Texts come from the agent as they are and may hold anything, terminal
// escapes included.
type Event struct {
	Agent Agent
	Kind  EventKind
	Name  string // the agent's own name of the event

	SessionID         string
	PreviousSessionID string // after /clear and the like, where the agent says it
	TranscriptPath    string // may not exist yet; of the main conversation, also inside a subagent
	Cwd               string // follows the agent's cd
	Workspace         string // the agent's own idea of the project's root, where it sends one
	PermissionMode    string
	Title             string

	PromptID        string
	Prompt          string // valid UTF-8, at most maxPromptBytes
	PromptTruncated bool

	Tool      Tool
	ToolUseID string

	Source string // of a session's start (startup, resume, clear, compact, fork) or a prompt; trigger of a compaction
	Reason string // of a session's end

	AgentID             string // set inside a subagent, and at its stop
	AgentType           string
	AgentTranscriptPath string

	EnvFile string // the file for exports, where the payload names it

	// Damaged says what was wrong with the payload: cut off, or no JSON. The
	// fields that came before are there.
	Damaged error
}

// Class is what kind of thing a tool does.
type Class string

const (
	NoTool    Class = ""
	Edit      Class = "edit"
	Shell     Class = "shell"
	MCP       Class = "mcp"
	Subagent  Class = "agent"
	Read      Class = "read" // changes no file
	OtherTool Class = "other"
)

// Tool is one tool call.
type Tool struct {
	Name  string
	Class Class
	// Files that the call names, absolute where the event has a working
	// directory. For Class MCP everything that looks like a path.
	Files []string
	// Command is the shell command line.
	Command string
	// Dir is the directory that the call names for the command, "" if it names none: see CommandDir.
	Dir string
	// ChangedChars is the size of an edit: the longer of what goes and what
	// comes, in characters, summed up.
	ChangedChars int
	// WholeFile marks a tool that replaces a file without naming what goes.
	WholeFile bool
	// Background says that a command still runs after the tool's end.
	Background bool
	// Failed says, after the call, that it did not do what it was to: an edit that was refused, or whose
	// place was not found.
	Failed bool
	// Succeeded says, after a shell command, that the agent says that it ended with 0.
	Succeeded bool
	// Truncated says that the input was too large to be kept whole: Files or
	// Command may lack something.
	Truncated bool
	// Rewrite is what an edit of one file says that it makes of it; nil where it does not say all.
	Rewrite *Rewrite
	// Patch is the text of a patch, before the call.
	Patch string
}

// Unknown reports whether the payload names an event that no agent has a word for.
func (e *Event) Unknown() bool {
	return e.Kind == Ignored && e.Name != "" && eventNamed(e.Agent, e.Name).kind == Ignored
}

// CommandDir is the directory in which the call's command is run.
func (e *Event) CommandDir() string { return cmp.Or(e.Tool.Dir, e.Cwd) }

// InSubagent reports whether a subagent made the call.
func (e *Event) InSubagent() bool { return e.AgentID != "" && e.Kind != SubagentStop }
