package transcript

import "time"

// Bounds of what is kept of a prompt, a path, a title.
const maxPrompt, maxPath, maxTitle = 1 << 20, 16 << 10, 4 << 10

// Role of a message.
type Role uint8

const (
	NoRole Role = iota
	User
	Assistant
)

// Line is one line of a transcript.
type Line struct {
	Offset int64 // of its first byte
	Length int64 // in bytes, with the newline

	ID     string // of the event; "" for lines outside the tree and broken ones
	Parent string // the event before; "" for a root
	// Logical says that Parent is what a compaction replaced.
	Logical bool

	Type     string // the agent's own word
	Role     Role
	Message  string // id that the lines of one assistant message share
	PromptID string
	Time     time.Time // zero when unknown
	Side     bool      // beside the conversation: a subagent's row, a hook's row
	Broken   bool      // no JSON object

	// Prompt says that the line is a real prompt of the person; Text is what
	// they typed, without what the client added, at most 1 MiB.
	Prompt bool
	Text   string

	ToolUses    []string // ids of the tool calls that the line holds
	ToolResults []string // ids of the tool calls that it answers

	flags lineFlags
}

type lineFlags uint16

const (
	isMeta    lineFlags = 1 << iota // added by the client
	isCommand                       // a slash command's echo
	isSummary                       // a compaction's summary
	hasTurn                         // the client counts it as a turn
	isCaveat                        // meta text that says nothing to the model
	isCopy                          // written by a fork, not by the session itself
	isAgain                         // a line before had the same event
)

func (l *Line) is(f lineFlags) bool { return l.flags&f != 0 }

// tree reports whether the line is an event of the tree.
func (l *Line) tree() bool { return l.ID != "" }

// message reports whether the line is part of what the model gets: a prompt, an answer, a call or what came of one.
func (l *Line) message() bool {
	return !l.Side && (l.Prompt || l.Role != NoRole || l.is(isSummary) || len(l.ToolUses)+len(l.ToolResults) > 0)
}
