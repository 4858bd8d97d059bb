package hook

import (
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// maxWrites bounds the files of a call that are looked for below the root: each takes a few looks at the disk.
const maxWrites = 64

// Leave leaves a line of the event for the next checkpoint. Where it cannot, nobody is told: the hook
// goes on, and what is written meanwhile is taken for the person's own.
func (c *Call) Leave() {
	e := &c.Event
	if e.Edge == 0 || c.Project == nil {
		return
	}
	by := &e.By
	w := manifest.Window{
		Time: e.Time.UTC(), Agent: by.Agent, Session: by.Session, Subagent: by.Subagent, PromptID: by.PromptID,
		Call: by.ToolUseID, Tool: by.Tool, Class: e.Class, Edge: e.Edge, Background: e.Background,
	}
	if e.Class != manifest.WindowNone {
		w.Summary = checkpoint.Summary(c.Project.Root(), *by)
	}
	for _, file := range e.Writes[:min(len(e.Writes), maxWrites)] {
		w.Files = append(w.Files, belowThrough(c.Project, file)...)
	}
	_ = window.Append(c.Project, w)
}
