package manifest

import (
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
)

// CheckpointKind says why a checkpoint was taken.
type CheckpointKind string

const (
	Manual       CheckpointKind = "manual"
	Prompt       CheckpointKind = "prompt"
	PreTool      CheckpointKind = "pre-tool"
	PostTool     CheckpointKind = "post-tool"
	SessionStart CheckpointKind = "session-start"
	Stop         CheckpointKind = "stop"
	SessionEnd   CheckpointKind = "session-end"
	Safety       CheckpointKind = "safety"
	Imported     CheckpointKind = "imported" // another program had taken it; what it has may never have been here
)

// Checkpoint is one state: a tree, a place in the conversation, and why.
type Checkpoint struct {
	Seq                    uint64 // the commit's sequence number; not part of the payload
	Of                     string // name of the pulled log that has it, "" for the store's own; not part of the payload
	ID                     CheckpointID
	Time                   time.Time // start of the scan, UTC, monotonic along the log
	Kind                   CheckpointKind
	Description            string
	Name                   string // as given at the save; later names are Mark records
	Pinned                 bool
	Root                   oid.ID // root directory manifest
	Files                  uint64
	Bytes                  uint64
	Counts                              // against Parent
	Parent                 CheckpointID // the checkpoint before, zero for the first
	StoredBytes            uint64
	Coverage               oid.ID // object listing what was not captured (JSON lines), zero for none
	Partial                uint64 // paths that should have been captured and were not
	Rules                  oid.ID // object holding the ignore rules in force, zero for none
	Tool, Prompt, PromptID string
	Session                string // session id
	Agent                  string
	Subagent               string
	ToolUseID              string // the agent's id of the tool call
	ToolSummary            string // its command line's first line, or its files; UTF-8, at most MaxToolSummary bytes
	GitHead, GitBranch     string
	Git                    oid.ID // tree of what git keeps beside its objects (package gitstate), zero for none
	Transcript             *Transcript
	Windows                string // of hook events since the checkpoint before: AppendWindows, ParseWindows
	Green                  bool   // a test command of the agent had just ended with 0
	Changed                string // when each path was written that differs from Parent: AppendChanged, ParseChanged; "" for too many
}

// Counts of files and links that differ between two trees; of directories only their modes count.
type Counts struct {
	Added    uint64 `json:"added"`
	Modified uint64 `json:"modified"`
	Deleted  uint64 `json:"deleted"`
}

// None reports whether nothing changed.
func (n Counts) None() bool { return n == Counts{} }

// Count counts a change. It has the form of Diff's visitors, and returns no error.
func (n *Counts) Count(c Change) error {
	switch {
	case c.Old != nil && c.New != nil:
		n.Modified++
	case c.Old == nil && c.New.Kind != Subdir:
		n.Added++
	case c.New == nil && c.Old.Kind != Subdir:
		n.Deleted++
	}
	return nil
}

// MaxToolSummary is the longest ToolSummary that is written, in bytes.
const MaxToolSummary = 200

// Transcript is a place in a conversation and the bytes held of it.
type Transcript struct {
	Session string
	Agent   string
	Path    string // file path at capture
	Offset  uint64 // bytes of the transcript up to the last complete line
	EventID string // leaf event
	Content oid.ID // list of segments
}

// Record is one entry of the log: exactly one field is set.
type Record struct {
	Checkpoint *Checkpoint
	Mark       *Mark
	Delete     *Delete
	Operation  *Operation
	Rewrite    *Rewrite
	Session    *Session
	Amend      *Amend
	Binding    *Binding
	Touch      *Touch
}

// Mark names, renames, pins or unpins a checkpoint.
type Mark struct {
	Checkpoint CheckpointID
	Time       time.Time
	Name       *string // nil: as it was; "" takes the name away
	Pinned     *bool
}

// Delete forgets checkpoints and touches (retention or gc).
type Delete struct {
	Time        time.Time
	Checkpoints []CheckpointID
	Reason      string
	Touches     []uint64 // sequence numbers of touches that go too, ascending
}

// ReasonForget is the reason of a deletion that no later mark takes back.
const ReasonForget = "forget"

// Rewrite gives checkpoints new trees (forget): Roots[i] replaces the root of Checkpoints[i].
type Rewrite struct {
	Time        time.Time
	Checkpoints []CheckpointID
	Roots       []oid.ID // as many as Checkpoints
}

// OperationKind is what an operation did.
type OperationKind string

const (
	OpRestore     OperationKind = "restore"
	OpUndo        OperationKind = "undo"
	OpUndoRestore OperationKind = "undo-restore"
	OpRedoRestore OperationKind = "redo-restore"
	OpGC          OperationKind = "gc"
	OpForget      OperationKind = "forget"
	OpRepair      OperationKind = "repair"
	OpRevert      OperationKind = "revert"
)

// Moves reports whether the operation changes the working tree.
func (k OperationKind) Moves() bool {
	switch k {
	case OpRestore, OpUndo, OpUndoRestore, OpRedoRestore, OpRevert:
		return true
	}
	return false
}

// Operation is one entry of the operation log, which undo-restore and redo-restore walk.
type Operation struct {
	Seq              uint64 // not part of the payload
	Time             time.Time
	Kind             OperationKind
	Checkpoint       CheckpointID // target, or zero
	Safety           CheckpointID // taken before anything was touched
	Before, After    oid.ID       // root manifests around the operation, of the whole tree
	Paths            oid.ID       // object listing the paths that the operation changed
	Undoes           uint64       // sequence number of the operation taken back or done again
	TranscriptBackup string
	Fork             string // file of the conversation fork that the operation made
	Verb             string // the command's own name, where Kind says what it did; "" for Kind
	Session          string // id of the session that it was made in, "" if not known
	Args             string // what was typed after the verb: checkpoint, number, paths; "" if not known. At most MaxArgs bytes
	// Created, Replaced (also of modes alone) and Deleted count the paths; all zero in records of older programs.
	Created, Replaced, Deleted uint64
	// Choices says how a revert decided its conflicts: JSON lines as those of Paths, the action being the
	// choice, of the paths that had one; "" for none.
	Choices string
	// Forgotten are the keys of paths that it changed and that forget took out of it, a space between; "" for none.
	Forgotten string
	// Below is where the next undo begins to look, of one that led to the state around an older operation: sequence
	// numbers below it. 0: below Checkpoint.
	Below uint64
	// Of names the pulled log that Checkpoint is of; "" for this one.
	Of string
	// Some says that only some paths were asked for. Records of older programs say it in Args alone: see OfSome.
	Some bool
	// GitBefore and GitAfter are trees of what git keeps beside its objects, around an operation that changed that; zero for
	// one that did not, and GitBefore where there was no repository.
	GitBefore, GitAfter oid.ID
}

// OfSome reports whether the operation was asked to change some paths only.
func (o *Operation) OfSome() bool {
	args := " " + o.Args + " "
	return o.Some || strings.Contains(args, " -- ") || strings.HasPrefix(args, " -p ")
}

// PutsBack reports whether the operation put back one that did not finish, of which the log knows nothing.
func (o *Operation) PutsBack() bool { return o.Kind == OpUndoRestore && o.Undoes == 0 }

// ChangesNothing reports whether the operation was a restore that found everything as it was to be.
func (o *Operation) ChangesNothing() bool {
	return o.Kind.Moves() && o.Undoes == 0 && !o.MovesHalf()
}

// MovesHalf reports whether the operation changed files, or moved the conversation.
func (o *Operation) MovesHalf() bool {
	return o.After != (oid.ID{}) || o.Fork != "" || o.TranscriptBackup != ""
}

// MovesMoreThanGit reports whether the operation changed files, or moved the conversation, and not git's own state alone.
func (o *Operation) MovesMoreThanGit() bool {
	return o.Before != o.After || o.Fork != "" || o.TranscriptBackup != ""
}

// MaxArgs is how many bytes of a command line an operation keeps.
const MaxArgs = 200

// Session is an agent's session, as last seen.
type Session struct {
	ID, Agent, TranscriptPath, Parent, Source string
	Time                                      time.Time
}

// BegunAnew reports whether the session has an empty conversation, which the person began in a client that had another one.
func (s *Session) BegunAnew() bool { return s.Source == "clear" || s.Source == "new" }

// Continues is the session whose conversation this one has; "" for none. Parent of one that was begun anew is that before it
// in the same client.
func (s *Session) Continues() string {
	if s.Parent == s.ID || s.BegunAnew() {
		return ""
	}
	return s.Parent
}

// Sequenced is a record with its place in the log.
type Sequenced struct {
	Seq    uint64
	Record Record
}
