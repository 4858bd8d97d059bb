package hook

import (
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// maxWrites bounds the files of a call that are looked for below the root: each takes a few looks at the disk.
const maxWrites = 64

// Leave leaves a line of the event for the next checkpoint, and the trace that its session is at work. A failure is silent:
// the hook continues, and what is written meanwhile counts as the person's own work.
func (c *Call) Leave() {
	e := &c.Event
	if c.Project == nil {
		return
	}
	if c.noteActive(); e.Edge == 0 {
		return
	}
	by, w := &e.By, c.window()
	w.Edge, w.Background = e.Edge, e.Background
	if e.Class != manifest.WindowNone {
		w.Summary = checkpoint.Summary(c.Project.Root(), *by)
	}
	for _, file := range e.Writes[:min(len(e.Writes), maxWrites)] {
		rels := belowThrough(c.Project, file)
		if len(rels) == 0 && e.Class == manifest.WindowEdit && filepath.IsAbs(file) {
			rels = []string{filepath.ToSlash(filepath.Clean(file))} // elsewhere: a revert says that it stays
		}
		w.Files = append(w.Files, rels...)
	}
	_ = window.Append(c.Project, w)
}

// leaveUnseen leaves a line that says that files which a call is about to edit could not be looked at; none: all of them.
func (c *Call) leaveUnseen(files []string) {
	if c.Event.Kind == manifest.PreTool && c.Project != nil {
		c.leaveDoubt(files)
	}
}

// leaveDoubt leaves a line that is about files: in front of a call, that they could not be looked at; behind it, that not
// only the call changed them.
func (c *Call) leaveDoubt(files []string) {
	w := c.window()
	w.Edge, w.Files = manifest.WindowUnseen, files
	_ = window.Append(c.Project, w)
}

func (c *Call) window() manifest.Window {
	e, by := &c.Event, &c.Event.By
	return manifest.Window{
		Time: e.Time.UTC(), Agent: by.Agent, Session: by.Session, Subagent: by.Subagent, PromptID: by.PromptID,
		Call: by.ToolUseID, Tool: by.Tool, Class: e.Class,
	}
}
