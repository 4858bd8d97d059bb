package picker

import (
	"context"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/plan"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/work"
)

// plan makes the plan that a key asks for.
func (s *picking) plan(ctx context.Context, a screen.Ask) (*screen.Plan, error) {
	var p *plan.Plan
	var l *project.Listed
	var err error
	if a.ID != "" {
		if l, err = s.Checkpoint(a.ID); err != nil {
			return nil, err
		}
	}
	switch a.Verb {
	case screen.Undo:
		p, err = s.plans.Undo(ctx)
	case screen.Redo:
		p, err = s.plans.Redo(ctx)
	case screen.Revert:
		p, err = s.planTurn(ctx, a.ID, l)
	default:
		var parts *plan.Parts
		if a.Parts != "" {
			if parts, err = s.choices(a); err != nil {
				return nil, err
			}
		}
		half := map[screen.Half]conversation.Half{screen.Code: conversation.CodeOnly, screen.Conversation: conversation.ConversationOnly}[a.Half]
		p, err = s.plans.Restore(ctx, l, half, strings.FieldsFunc(a.Paths, func(c rune) bool { return c == 0 }), parts, a.Git)
	}
	if err != nil {
		return nil, err
	}
	return planOnScreen(p), nil
}

// planTurn makes the plan of taking back the turn of a row, and keeping the rest. What others built on stays; the plan
// names it.
func (s *picking) planTurn(ctx context.Context, id string, l *project.Listed) (*plan.Plan, error) {
	r, err := s.Row(id)
	if err != nil {
		return nil, err
	}
	others, err := s.OthersInRow(ctx, r)
	if err != nil {
		return nil, err
	}
	p, err := s.plans.Revert(ctx, revert.Options{Conflicts: work.KeepBlock, Work: work.Named{Checkpoint: l}, Args: l.ID.String()[:app.ShortID]})
	if err != nil {
		return nil, err
	}
	for _, text := range others {
		p.Facts = append(p.Facts, plan.Fact{Text: text})
	}
	return p, nil
}

// planOnScreen is a plan as the screen shows it.
func planOnScreen(p *plan.Plan) *screen.Plan {
	out := &screen.Plan{Token: p.ID, Facts: []screen.Line{screen.Text(screen.Bold, p.Title), screen.Text(screen.Plain, "")}, Question: p.Question, Git: p.OffersGit}
	for _, f := range p.Facts {
		style := screen.Plain
		if f.Faint {
			style = screen.Dim
		}
		out.Facts = append(out.Facts, screen.Text(style, f.Text))
	}
	for _, text := range p.Others {
		out.Facts = append(out.Facts, screen.Text(screen.Yellow, text))
	}
	for _, f := range p.Files {
		out.Files = append(out.Files, screen.File{Status: f.Action, Path: screen.Ordered(app.EscapePath(f.Path)), Raw: f.Path, Directory: f.Directory})
	}
	for _, text := range p.Notes {
		out.Notes = append(out.Notes, screen.Text(screen.Dim, text))
	}
	return out
}

// do carries out the plan that was shown. If it is out of date, it does nothing and returns the present plan.
func (s *picking) do(ctx context.Context, id int) (summary string, now *screen.Plan, err error) {
	done, changed, why, err := s.plans.Do(ctx, id)
	switch {
	case err != nil:
		return why, nil, err
	case changed != nil:
		return why, planOnScreen(changed), nil
	}
	s.done = append(s.done, done)
	clear(s.hunks)
	summary = done.Summary + ", q leaves"
	if m := done.Restored.Conversation; m != nil && m.Resume != "" && !m.Removed {
		summary += " and prints the command that opens the conversation"
	}
	return summary, nil, nil
}
