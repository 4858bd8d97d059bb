package rows

import (
	"context"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// maxQuoted is how many columns of a prompt name a checkpoint in a sentence.
const maxQuoted = 40

// Quoted is an escaped text in quotes, for use within a sentence.
func Quoted(text string) string { return `"` + screen.Clip(text, maxQuoted) + `"` }

// Briefly names a checkpoint within a sentence: by its number, its name or its prompt.
// A safety checkpoint has no number: it is the state before what it was taken for.
func Briefly(l project.Listed) string {
	var who string
	switch {
	case l.N > 0:
		who = strconv.Itoa(l.N)
	case l.Kind == manifest.Safety && l.Description != "":
		return "the state " + app.FirstLine(l.Description) + ofMachine(l) // before restore
	case l.Kind == manifest.Safety:
		return "a safety checkpoint" + ofMachine(l)
	default:
		who = l.ID.String()[:app.ShortID]
	}
	who = OfLog(l.Of) + who
	if l.Name != "" {
		return who + " [" + app.Escape(l.Name) + "]"
	}
	if text := CheckpointText(l); text != "" {
		if l.Tool != "" && l.ToolSummary != "" {
			text = app.Escape(l.Tool) + " " + text
		}
		return who + " " + Quoted(text)
	}
	return who
}

// ofMachine says whose a checkpoint is that was pulled.
func ofMachine(l project.Listed) string {
	if l.Of == "" {
		return ""
	}
	return " of " + l.Of
}

// Clipped is Briefly for a question, which has one line for all that it names.
func Clipped(l *project.Listed) string {
	short := *l
	short.Prompt, short.Description, short.ToolSummary = screen.Clip(l.Prompt, 28), screen.Clip(l.Description, 28), screen.Clip(l.ToolSummary, 20)
	return Briefly(short)
}

// Named is briefly, and what finds the checkpoint for ever: 3 "add tz" (kkxtlzsm, 12s ago).
func Named(o *app.Output, l project.Listed) string {
	id := l.ID.String()[:app.ShortID] + ", "
	who := Briefly(l)
	if who == OfLog(l.Of)+l.ID.String()[:app.ShortID] {
		id = ""
	}
	return who + " (" + id + app.Ago(o, l.Time) + ")"
}

// TornText says which checkpoints lack content that nothing can bring back; "" for none.
func TornText(torn []project.Listed) string {
	if len(torn) == 0 {
		return ""
	}
	return "content is lost of " + app.Plural(len(torn), "checkpoint", "checkpoints") + ": " +
		strings.Join(app.FirstNamed(torn, app.MaxNamed, Briefly), ", ")
}

// Unnamed is a checkpoint without its name.
func Unnamed(l project.Listed) project.Listed {
	l.Name = ""
	return l
}

// Called is named for a checkpoint of the call's project, whose number has to be looked up.
func Called(c *app.Call, k manifest.Checkpoint) string {
	l := project.Listed{Checkpoint: k}
	if c.Project != nil {
		// A message is not worth failing for: without the number it says less.
		_ = c.Project.Query(context.Background(), func(db *manifest.DB) error {
			l.N = db.Position(k.Seq)
			if now, ok, err := db.ByID(k.ID); err == nil && ok {
				l.Checkpoint = now
			}
			return nil
		})
	}
	return Named(c.Out, l)
}
