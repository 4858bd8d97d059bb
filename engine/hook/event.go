package hook

import (
	"time"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/manifest"
)

// Event is what an agent reports, in the words that all agents share. Any field may be empty;
// texts come from the agent unchanged.
type Event struct {
	Time   time.Time // when the hook began
	By     conversation.Trigger
	Kind   manifest.CheckpointKind // of the checkpoint that it may bring, "" for none
	Moment string                  // one of package settings' moments, "" for none

	Dir   string // what the agent or its environment says it is about, before any walking up
	Exact bool   // Dir is the project's root itself
	Fixed bool   // Dir is where the client's process was started: no cd changes it
	Asked bool   // a script says with a person's prompt where it is: its sessions need not say that they start or end
	Cwd   string // follows the agent's cd

	Source       string        // of a session's start: startup, resume, clear, compact, fork
	Previous     string        // the session before, where the agent says it
	Has          []string      // ids of the entries of a session that came from another; nil: the agent does not say
	Process      string        // names the agent's process, "" where it does not say
	StartsATurn  bool          // a session's start that takes the place of its prompt, too
	SweepsAlways bool          // a session's start and end sweep, however short ago the last sweep was
	SweepBudget  time.Duration // of one at the start; 0: none
	Makes        bool          // the store where there is none: the agent's users never had to set anything up

	// What the next checkpoint records of the event: see manifest.Window.
	Class      manifest.WindowClass
	Edge       manifest.WindowEdge // 0: nothing
	Writes     []string            // absolute: what the call declares, or its command line writes
	Background bool

	Files  []string // absolute: what a tool is about to change
	Edited []string // absolute: what an edit tool declares, before and after the call; nil for other tools
	// Explains tells, after an edit of one file, whether the edit alone made its content of the one before; nil where it does not say.
	Explains    func(before, after []byte) bool
	Edit        *Edit // how much of them; nil: that is not known, or it is no edit
	Destructive bool  // a shell command that destroys what is there, or may

	// Succeeded are the commands, each as its words, of a shell command of which is known that they ended with 0.
	Succeeded [][]string

	// EnvFile is the file whose exports the agent's shell reads, "" for none; Exports is what is
	// to be added to it where it holds old.
	EnvFile string
	Exports func(root string, old []byte) []byte
}

// Edit is the size of a tool's edit, as far as the call says it.
type Edit struct {
	Chars int  // the longer of what goes and what comes, in characters
	Whole bool // files are replaced without a word of what goes
}
