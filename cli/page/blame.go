package page

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// linesView says whose the lines of a file are, as a row left it.
type linesView struct {
	Runs []lineRunView `json:"runs"`
}

type lineRunView struct {
	Line  int    `json:"line"` // the first of them, from 1
	Count int    `json:"count"`
	Who   string `json:"who"`
	Own   bool   `json:"own"`  // the row's work brought them, or could have
	Sure  bool   `json:"sure"` // no other author is possible
}

// lines answers with blame's lines, and with none for a file that has no lines or is gone.
func (s *space) lines(ctx context.Context, args web.Args) (any, error) {
	out := linesView{Runs: []lineRunView{}}
	r, err := s.part(args)
	if err != nil {
		return out, err
	}
	runs, err := runsAfter(ctx, s.P, r, pagePath(args("path")))
	for _, run := range runs {
		out.Runs = append(out.Runs, viewRun(r, run))
	}
	return out, err
}

// runsAfter says whose the lines of a file are, as a row left it; nothing where it has none.
func runsAfter(ctx context.Context, p *project.Project, r *timeline.Row, path string) ([]inspect.BlameRun, error) {
	at, known, err := picker.StateAfter(ctx, p, r)
	if !known {
		return nil, err
	}
	b, err := inspect.Blame(ctx, p, inspect.BlameOptions{Path: path, At: at})
	var not *inspect.NotBlamedError
	var none *project.NoPathError
	if errors.As(err, &not) || errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return b.Runs, nil
}

func viewRun(r *timeline.Row, run inspect.BlameRun) lineRunView {
	v := lineRunView{Line: run.Start + 1, Count: run.Count, Who: rows.RunWho(run)}
	if run.Step != nil {
		all, some := run.Step.Of(func(w *attribution.Work) bool { return workOf(r, w) })
		v.Own, v.Sure = some, all || !some && len(run.Step.Also) == 0 && !run.Step.AlsoOutside
	}
	return v
}

// workOf reports whether work was done for a row: for its call, or else for its prompt.
func workOf(r *timeline.Row, w *attribution.Work) bool {
	c := r.Checkpoint
	switch {
	case c == nil || w.Operation != 0 || w.Session != c.Session:
		return false
	case r.Kind != timeline.Prompt && c.ToolUseID != "":
		return w.Call == c.ToolUseID
	}
	return w.PromptID == c.PromptID
}
