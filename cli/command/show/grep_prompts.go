package show

import (
	"context"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/search"
)

// PromptsView is what grep --prompts --json prints; docs/schema/grep-prompts.schema.json describes it.
type PromptsView struct {
	Patterns []string        `json:"patterns"`
	Prompts  []promptMatched `json:"prompts"`
}

// promptMatched is the checkpoint of a prompt with the first line of it that matches.
type promptMatched struct {
	rows.CheckpointView
	Line string `json:"line"`
}

// grepPrompts searches the prompts and descriptions of all checkpoints, the newest first. A prompt that
// several checkpoints have is told of once, with the oldest of them: it has the files as they were before.
func grepPrompts(ctx context.Context, c *app.Call, p *project.Project, m *search.Matcher, o grepOptions) error {
	all, err := p.List(ctx, project.ListOptions{All: true})
	if err != nil {
		return err
	}
	type said struct {
		project.Listed
		line string
	}
	var found []said
	seen := map[[2]string]bool{}
	for _, l := range slices.Backward(all) {
		for i, text := range []string{l.Prompt, l.Description} {
			line, ok := m.FirstLine(text)
			if !ok {
				continue
			}
			if key := [2]string{l.Session, l.PromptID + text}; i == 0 && seen[key] {
				continue
			} else if i == 0 {
				seen[key] = true
			}
			found = append(found, said{l, line})
			break
		}
	}
	slices.Reverse(found)
	if c.JSON {
		v := PromptsView{Patterns: o.query.Patterns, Prompts: app.Map(found, func(f said) promptMatched {
			return promptMatched{rows.ViewCheckpoint(f.Listed), strings.ToValidUTF8(f.line, "\uFFFD")}
		})}
		if err := c.Out.Document(v); err != nil || len(found) > 0 {
			return err
		}
	}
	if len(found) == 0 {
		return noMatch(c, o.query.Patterns)
	}
	return c.Page(ctx, func() {
		for _, f := range found {
			n := ""
			if f.N > 0 {
				n = app.Utoa(uint64(f.N)) + " "
			}
			line := n + f.ID.String()[:app.ShortID] + " " + app.Ago(c.Out, f.Time) + ": " + app.Escape(strings.TrimSpace(f.line))
			c.Out.Line("%s", screen.Clip(line, limit(c.Out.Width())))
		}
	})
}
