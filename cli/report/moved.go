package report

import (
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/restore"
)

// printMoved prints what happened to the conversation.
func printMoved(o *app.Output, r *restore.Restored) {
	m := r.Conversation
	if m == nil {
		return
	}
	n := ""
	if len(m.Prompts) > 0 {
		n = ", " + app.Plural(len(m.Prompts), "prompt", "prompts") + " undone"
	}
	switch {
	case m.There:
		o.Summary("The conversation is there already.")
	case r.DryRun && m.Removed && m.InPlace:
		o.Summary("Would remove the conversation's file: it was gone before that restore wrote it.")
	case r.DryRun && m.Removed:
		o.Summary("Would remove the forked conversation.")
	case r.DryRun && m.InPlace:
		o.Summary("Would rewrite the conversation in place%s.", n)
	case r.DryRun && m.From != "":
		o.Summary("Would fork the conversation%s.", n)
	case r.DryRun:
	case m.Removed && m.InPlace:
		o.Summary("Removed the conversation's file: it was gone before that restore wrote it.")
	case m.Removed:
		o.Summary("Removed the forked conversation.")
	case m.InPlace:
		o.Summary("Rewrote the conversation in place%s.", n)
		if m.Backup != "" {
			o.Summary("Backup: %s", app.Escape(m.Backup))
		}
		o.Summary("Reload your agent session.")
	case m.From != "":
		o.Summary("Forked the conversation%s.", n)
	}
	for _, note := range m.Notes {
		o.Warn("%s", note)
	}
	if m.Resume != "" && (!m.InPlace || m.Removed) {
		o.Summary("Open it with: %s", app.Escape(o.Opens(m)))
	}
}
