package timeline

import (
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/gitevents"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Kind says what a row is.
type Kind string

const (
	Now          Kind = "now"
	Prompt       Kind = "prompt"  // also a session's start, if it is the row of one
	Message      Kind = "message" // came into a running turn: typed while the agent worked, or put in by the client
	Tool         Kind = "tool"
	Stop         Kind = "stop"
	SessionStart Kind = "session-start"
	SessionEnd   Kind = "session-end"
	Manual       Kind = "manual"
	Safety       Kind = "safety"
	Operation    Kind = "operation" // one that changed the tree: a restore, an undo and their like
)

// Side says on which side of a row's own state its changes are.
type Side string

const (
	Since Side = "since" // what came before it: the states between are From and its own
	Did   Side = "did"   // what it did: its own state is From
	After Side = "after" // what others did before the next state; its own is From
)

// Fold says why a row has no news. "" is a row that has.
type Fold string

const (
	Unchanged Fold = "unchanged"  // a tool call that changed nothing
	TurnEnd   Fold = "turn-end"   // its prompt's row tells of the turn, and the next state is the same
	Boundary  Fold = "boundary"   // a session began or ended, and the next state is the same
	CallEnd   Fold = "call-end"   // its call's row tells of it
	TakenBack Fold = "taken-back" // an operation and the one that took it back, with nothing between
)

// Row is one thing that happened.
type Row struct {
	Kind Kind
	Seq  uint64    // place in the log; 0 for Now
	Time time.Time // of Now: when it was looked at

	Checkpoint *project.Listed     // nil for Now and an operation
	Operation  *manifest.Operation // of Now: the last thing that happened, where that was one
	Target     *project.Listed     // what Operation restored, nil where that is gone; else, of Now, the newest checkpoint

	Turn *project.Listed // the prompt of the one turn that Operation, a revert, took back; nil for several, for less than one, and where it is not known
	Part bool            // Operation, or that of Now, restored some of Target's paths only

	Agent, Session, Subagent string
	Tool, Summary            string // a tool call's name, and its command line's first line or its file
	Text                     string // description, else prompt
	Ends                     string // the prompt whose turn a stop, or a session's end, ends, or Target does; "" where it is not known

	within bool // a stop within a turn, which its prompt's row tells of

	Side     Side
	From, To *State // around the changes; nil From: the empty tree, nil To: not known
	Folded   Fold
	Then     *Row   // of a prompt, what came after its turn's end, of a call, a save or an operation, what came after it: up to a checkpoint whose row does not tell of it; nil: nothing
	Cut      bool   // of a prompt: the next one of its session came before an end of its turn, as from another client or after Esc
	Stored   uint64 // bytes that its checkpoint brought into the store, and those of checkpoints after it whose rows are left out
	Claimed  bool   // the row of the save that followed has the changes after this one, too

	counts *Counts            // as the log has them already
	span   *gitSpan           // of what git did; nil for nothing
	git    *[]gitevents.Event // nil: not read yet
}

// State is the tree at some time.
type State struct {
	Seq      uint64                // of the checkpoint or the operation that has it; 0 for now
	ID       manifest.CheckpointID // zero for an operation's, and for now
	Root     oid.ID
	Coverage oid.ID // what the checkpoint did not capture; zero for none
	Now      bool

	git        oid.ID // tree of git's own state, zero for none
	repository bool   // there was one
}

// Counts are those of a row's changes.
type Counts = manifest.Counts

func stateOf(c *manifest.Checkpoint) *State {
	return &State{
		Seq: c.Seq, ID: c.ID, Root: c.Root, Coverage: c.Coverage,
		git: c.Git, repository: !c.Git.IsZero() || c.GitHead+c.GitBranch != "",
	}
}

// same reports whether two states are the same tree; what is not known is not.
func same(a, b *State) bool { return a != nil && b != nil && a.Root == b.Root }

// newRow is a checkpoint's row, before what is around it is known.
func newRow(l *project.Listed) *Row {
	r := &Row{
		Seq: l.Seq, Time: l.Time, Checkpoint: l, Agent: l.Agent, Session: l.Session, Subagent: l.Subagent,
		Tool: l.Tool, Summary: l.ToolSummary, Text: l.Description,
	}
	if r.Text == "" {
		r.Text = l.Prompt
	}
	switch l.Kind {
	case manifest.Prompt:
		r.Kind, r.Side = Prompt, Did
	case manifest.SessionStart:
		r.Kind, r.Side = SessionStart, After
		if l.Prompt != "" {
			r.Kind, r.Side = Prompt, Did
		}
	case manifest.PreTool:
		r.Kind, r.Side = Tool, Did
	case manifest.PostTool:
		r.Kind, r.Side = Tool, Since
	case manifest.Stop:
		r.Kind, r.Side = Stop, After
	case manifest.SessionEnd:
		r.Kind, r.Side = SessionEnd, After
	case manifest.Safety:
		r.Kind, r.Side = Safety, Since
	default: // a newer program's kinds too
		r.Kind, r.Side = Manual, Since
	}
	if r.Side == Did || r.Side == After {
		r.From = stateOf(&l.Checkpoint)
	} else {
		r.To = stateOf(&l.Checkpoint)
	}
	return r
}
