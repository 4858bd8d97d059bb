package cli

import (
	"context"
	"strconv"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// maxQuoted is how many columns of a prompt name a checkpoint in a sentence.
const maxQuoted = 40

// quoted is an escaped text as it stands in a sentence.
func quoted(text string) string { return `"` + screen.Clip(text, maxQuoted) + `"` }

// briefly names a checkpoint in a sentence as people do: its number, its name or what was said.
// A safety checkpoint has no number: it is the state before what it was taken for.
func briefly(l project.Listed) string {
	var who string
	switch {
	case l.N > 0:
		who = strconv.Itoa(l.N)
	case l.Kind == manifest.Safety && l.Description != "":
		return "the state " + firstLine(l.Description) // before restore
	case l.Kind == manifest.Safety:
		return "a safety checkpoint"
	default:
		who = l.ID.String()[:shortID]
	}
	if l.Name != "" {
		return who + " [" + escape(l.Name) + "]"
	}
	if said := checkpointText(l); said != "" {
		if l.Tool != "" && l.ToolSummary != "" {
			said = escape(l.Tool) + " " + said
		}
		return who + " " + quoted(said)
	}
	return who
}

// named is briefly, and what finds the checkpoint for ever: 3 "add tz" (kkxtlzsm, 12s ago).
func named(o *output, l project.Listed) string {
	id := l.ID.String()[:shortID] + ", "
	who := briefly(l)
	if who == l.ID.String()[:shortID] {
		id = ""
	}
	return who + " (" + id + ago(o, l.Time) + ")"
}

// unnamed is a checkpoint as it is called apart from its name.
func unnamed(l project.Listed) project.Listed {
	l.Name = ""
	return l
}

// called is named for a checkpoint of the call's project, whose number has to be looked up.
func (c *call) called(k manifest.Checkpoint) string {
	l := project.Listed{Checkpoint: k}
	if c.project != nil {
		// A message is not worth failing for: without the number it says less.
		_ = c.project.Query(context.Background(), func(db *manifest.DB) error {
			l.N = db.Position(k.Seq)
			if now, ok, err := db.ByID(k.ID); err == nil && ok {
				l.Checkpoint = now
			}
			return nil
		})
	}
	return named(c.out, l)
}
