package rows

import (
	"fmt"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// Reason is why a checkpoint was taken: the tool, else the kind.
func Reason(l project.Listed) string {
	if l.Tool != "" {
		return app.Escape(l.Tool)
	}
	return app.Escape(string(l.Kind))
}

// CheckpointText is ✓ where tests had passed, name, description, what a tool was called with, and first line of the prompt,
// as far as there are any.
func CheckpointText(l project.Listed) string {
	text := app.FirstLine(l.Description)
	if text == "" && (l.Kind == manifest.PreTool || l.Kind == manifest.PostTool) {
		text = app.FirstLine(l.ToolSummary)
	}
	if text == "" {
		text = app.FirstLine(l.Prompt)
		if text != "" && (l.Kind == manifest.Stop || l.Kind == manifest.SessionEnd) {
			text = "end of: " + text // it has the state after that prompt's turn
		}
	}
	if l.Green {
		text = strings.TrimSpace("✓ " + text)
	}
	switch {
	case l.Name == "":
		return text
	case text == "":
		return "[" + app.Escape(l.Name) + "]"
	}
	return "[" + app.Escape(l.Name) + "] " + text
}

// ChangeCounts is "+1 ~2 -3", without the zeros.
func ChangeCounts(added, modified, deleted uint64) string {
	var parts []string
	for _, p := range []struct {
		sign string
		n    uint64
	}{{"+", added}, {"~", modified}, {"-", deleted}} {
		if p.n > 0 {
			parts = append(parts, p.sign+app.Utoa(p.n))
		}
	}
	return strings.Join(parts, " ")
}

func GoneText(gone []stores.Info) string {
	if len(gone) == 1 {
		return "the store of a deleted project takes " + app.FormatSize(stores.Bytes(gone))
	}
	return fmt.Sprintf("%d stores of deleted projects take %s", len(gone), app.FormatSize(stores.Bytes(gone)))
}
