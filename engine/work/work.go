package work

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
)

// Named is how a person names the work that a revert takes back: a call, a checkpoint's turn, one of a
// session's turns, or the session.
type Named struct {
	Call       string          // the agent's id of a call, or a beginning of at least four characters that is unambiguous
	Checkpoint *project.Listed // its turn: the prompt and all calls until the session's next
	Session    *session.Chosen // with Prompt, its turn; with Call, whose it is, or nil; else all of it
	Prompt     int             // the Prompt-th last of the session; 0: none
	Since      bool            // the turn of Prompt and all that came after it
	Subagent   string          // of a session or turn, only this one's calls; or a beginning of its id
}

// UnknownWorkError: there is no such call, or none that can be meant.
type UnknownWorkError struct {
	What    string   // call, subagent, checkpoint
	Name    string   // as it was given
	Reason  string   // "" for: there is none
	Matches []string // several
	// Sessions are several that have a call of that very id.
	Sessions []string
}

func (e *UnknownWorkError) Error() string {
	switch {
	case len(e.Sessions) > 0:
		return fmt.Sprintf("%d sessions have a %s with the id %q", len(e.Sessions), e.What, e.Name)
	case len(e.Matches) > 0:
		return fmt.Sprintf("several %ss have ids that begin with %q", e.What, e.Name)
	case e.Reason != "":
		return fmt.Sprintf("%s %q %s", e.What, e.Name, e.Reason)
	}
	return fmt.Sprintf("there is no %s %q in what is kept", e.What, e.Name)
}

// StatesGoneError: the states from before the work were removed, so what it changed is unknown.
type StatesGoneError struct {
	Prompt string    // of the turn
	Time   time.Time // when it began
	Oldest time.Time // of the oldest checkpoint that is left
	Since  int       // the session's prompts from the Since-th last on can be taken back; 0: none
	Paths  []string  // what it is known to have written there, in order; nil: not known
}

func (e *StatesGoneError) Error() string {
	what := "that work"
	if e.Prompt != "" {
		what = "the turn " + strconv.Quote(e.Prompt)
	}
	text := "the states from before " + what + " were removed"
	if len(e.Paths) == 0 {
		return text
	}
	const most = 3
	var names []string
	for _, path := range e.Paths[:min(most, len(e.Paths))] {
		names = append(names, patch.Quote(path))
	}
	if more := len(e.Paths) - most; more > 0 {
		names = append(names, strconv.Itoa(more)+" more")
	}
	return text + ": it is not known what it changed in " + strings.Join(names, ", ")
}

// ConflictChoice is what becomes of a place where others built on what a revert takes back.
type ConflictChoice string

const (
	RefuseConflicts ConflictChoice = "refuse"    // nothing is changed at all
	KeepBlock       ConflictChoice = "keep"      // the block stays unchanged
	KeepFile        ConflictChoice = "keep-file" // the whole file does
	UndoBlock       ConflictChoice = "undo"      // as it was before the work; what others made of it goes, too
	MarkConflict    ConflictChoice = "markers"   // both, between markers
)

// ConflictChoices are all of them.
func ConflictChoices() []ConflictChoice {
	return []ConflictChoice{RefuseConflicts, KeepBlock, KeepFile, UndoBlock, MarkConflict}
}
