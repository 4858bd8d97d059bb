package notice

import (
	"slices"
	"time"

	"github.com/rewind-cli/rewind/manifest"
)

// Notice is what one operation did to the files, in the parts that a text is made of. Names and prompts are kept
// without change, and escaped in the text.
type Notice struct {
	Operation uint64                 `json:"operation"` // its sequence number
	Kind      manifest.OperationKind `json:"kind"`
	Time      time.Time              `json:"time"` // of the operation
	// State is the time of the checkpoint that the files were brought to; zero where there is none.
	State time.Time `json:"state,omitzero"`
	// Agent and Session are whose work was taken back, or whose prompts Prompts are; "" if there is
	// no such session. That session gets the notice whenever it was active.
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	// Prompts are the prompts of the turns that were taken back, the oldest first. Only the text for Session quotes them.
	Prompts []string `json:"prompts,omitempty"`
	Paths   []Path   `json:"paths,omitempty"` // what was changed: the first MaxPaths
	Count   int      `json:"count"`           // of all that was changed
	Kept    []Kept   `json:"kept,omitempty"`  // what was to go and stayed: the first MaxPaths
	// Moved are the sessions whose conversations the same operation brought to the same place: they get no notice.
	Moved []string `json:"moved,omitempty"`
	// Forks are the sessions that come from Session, and Origins those that it comes from.
	Forks   []string `json:"forks,omitempty"`
	Origins []string `json:"origins,omitempty"`
}

// Path is a file that the operation changed.
type Path struct {
	Path   string `json:"path"` // below the root, with slashes
	Action Action `json:"action"`
}

// Action is what became of a file.
type Action string

const (
	Changed Action = "changed" // its content or its mode
	Created Action = "created" // it was not there before
	Deleted Action = "deleted"
)

// Kept is a part of a file that was to be taken back, and stayed since others have built on it.
type Kept struct {
	Path string `json:"path"`
	From int    `json:"from,omitempty"` // present lines, from 1; 0: the whole file
	To   int    `json:"to,omitempty"`
}

const (
	// MaxPaths is how many paths a text names at most.
	MaxPaths = 20
	// maxText is how long it is at most, in bytes.
	maxText = 1024
	// maxQueued is how many operations wait for a session at most; of more the newest are kept.
	maxQueued = 8
	// maxPrompts is how many prompts of a notice are kept.
	maxPrompts = 3
)

// cut shortens a notice to what a text has room for.
func (n Notice) cut() Notice {
	n.Count = max(n.Count, len(n.Paths))
	n.Paths = slices.Clone(n.Paths[:min(len(n.Paths), MaxPaths)])
	n.Kept = slices.Clone(n.Kept[:min(len(n.Kept), MaxPaths)])
	n.Prompts = slices.Clone(n.Prompts[max(0, len(n.Prompts)-maxPrompts):])
	for i := range n.Prompts {
		n.Prompts[i] = beginning(n.Prompts[i], maxPromptRunes)
	}
	return n
}

// empty reports that nothing was changed: then there is nothing to tell.
func (n *Notice) empty() bool { return n.Count == 0 && len(n.Paths) == 0 }
