package hook

import (
	"os"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/manifest"
)

// due reports whether the tier takes a checkpoint at the event. The first change after a restore is
// never held back, nor that of a prompt that no hook told of.
func (c *Call) due() (bool, error) {
	set := c.Project.Settings()
	switch {
	case c.Event.Moment == "":
		return false, nil
	case c.green():
		return true, nil
	case !set.FiresAt(c.Event.Moment):
		// Where several sessions work side by side, each shell command is between two checkpoints: otherwise it would
		// not be known later which of them changed what. A tier that has none before shell commands has none after them.
		return c.Event.Moment == settings.PostShell && set.FiresAt(settings.PreShell) && c.othersActive(), nil
	case c.unreported(), !c.heldBack(set):
		return true, nil
	}
	return afterRestore(c.Project)
}

// heldBack reports whether an event at which the tier takes checkpoints is one too many: a tool call
// soon after the checkpoint before, or a small edit. Prompts, stops, what begins and ends a session,
// destructive commands and the end of shell commands never are, nor shell commands beside another session.
func (c *Call) heldBack(set *settings.Settings) bool {
	e := &c.Event
	switch e.Moment {
	case settings.PreEdit, settings.PreShell:
	default:
		return false
	}
	if e.Destructive {
		return false
	}
	if last := c.session.Last; set.AntiSpam.Enabled && !last.IsZero() {
		// A time in the future means that the clock was set back: no reason to wait.
		if since := e.Time.Sub(last); since >= 0 && since < set.AntiSpam.MinInterval {
			return e.Moment != settings.PreShell || !c.othersActive()
		}
	}
	return set.Significance.Enabled && e.Moment == settings.PreEdit && c.small(set.Significance)
}

// unreported reports whether the call is of a prompt of which no hook told, but the transcript does: its agent has no hook
// for prompts, or it was killed. No checkpoint is between the person's work before that prompt and the agent's.
func (c *Call) unreported() bool {
	by, s := &c.Event.By, &c.session
	if c.Event.Kind != manifest.PreTool || by.PromptID != "" && by.PromptID == s.PromptID {
		return false
	}
	seen, asked := conversation.AskedSince(*by, s.Held)
	if by.PromptID == "" && s.Prompted.After(s.Stopped) && (s.Held == nil || promptKey("", s.Held.Prompt) != s.Prompt) {
		if asked--; asked <= 0 { // the line of the prompt of which a hook told is written after the hook has run
			return false
		}
	}
	c.seen = seen
	return asked > 0
}

// small reports an edit that is known to be small, and of no critical file.
func (c *Call) small(s settings.Significance) bool {
	e := c.Event.Edit
	if e == nil || len(c.Event.Files) == 0 || e.Chars >= s.MinChangeSize {
		return false
	}
	for _, file := range c.Event.Files {
		if e.Whole && sizeOf(file) >= int64(s.MinChangeSize) { // a tool that replaces a file changes that much
			return false
		}
		rel := strings.TrimPrefix(file, strings.TrimSuffix(c.Project.Root(), "/")+"/")
		if slices.ContainsFunc(s.CriticalFiles, func(glob string) bool { return c.Matches(glob, rel) }) {
			return false
		}
	}
	return true
}

func sizeOf(file string) int64 {
	info, err := os.Lstat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}
