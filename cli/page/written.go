package page

import (
	"context"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/manifest"
)

// writtenView is a whole file with who wrote each line.
type writtenView struct {
	app.PathView
	Lines []string         `json:"lines"`
	Runs  []writtenRunView `json:"runs"`
	Cut   bool             `json:"cut,omitempty"` // more lines follow
	Why   string           `json:"why,omitempty"` // it has no lines that are shown
}

// writtenRunView is lines that came with the same step.
type writtenRunView struct {
	Line    int          `json:"line"` // the first of them, from 1
	Count   int          `json:"count"`
	Who     string       `json:"who"`              // "" where it is not known
	Unsure  bool         `json:"unsure,omitempty"` // somebody else could have written them
	Prompt  string       `json:"prompt,omitempty"` // as it was typed
	Session string       `json:"session,omitempty"`
	Time    string       `json:"time,omitempty"`
	Row     *picker.From `json:"row,omitempty"` // the row that made them; null where none does
}

const maxPrompt = 400 // columns of one that is shown

// written is blame of a whole file, at a checkpoint or now.
func (s *space) written(ctx context.Context, args web.Args) (any, error) {
	path, at := pagePath(args("path")), (*manifest.Checkpoint)(nil)
	if id := args("id"); id != "" && id != "@" {
		l, err := s.Checkpoint(id)
		if err != nil {
			return nil, err
		}
		at = &l.Checkpoint
	}
	out := writtenView{PathView: app.ViewPath(path), Lines: []string{}, Runs: []writtenRunView{}}
	b, by, why, err := s.Written(ctx, path, at)
	if out.Why = why; err != nil || why != "" {
		return out, err
	}
	room := maxContent
	for _, line := range b.Lines {
		if room -= len(line); room < 0 {
			out.Cut = true
			break
		}
		out.Lines = append(out.Lines, strings.TrimSuffix(line, "\n"))
	}
	for i, r := range b.Runs {
		if r.Start >= len(out.Lines) {
			break
		}
		v := writtenRunView{Line: r.Start + 1, Count: r.Count, Who: rows.RunWho(r), Row: by[i]}
		if step := r.Step; step != nil && step.By != nil {
			v.Unsure = len(step.Also) > 0 || step.AlsoOutside
			v.Prompt, v.Session = screen.Clip(step.By.Prompt, maxPrompt), step.By.Session
		}
		if r.Seen != nil {
			v.Time = app.ViewTime(r.Seen.Time)
		}
		out.Runs = append(out.Runs, v)
	}
	return out, nil
}
