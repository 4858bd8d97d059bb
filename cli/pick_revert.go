package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/engine/work"
)

// planTurn makes the plan of taking back the turn of a row, and keeping the rest. What others built on stays; the plan
// names it.
func (s *pickSource) planTurn(ctx context.Context, id string) (*screen.Plan, error) {
	l, err := s.checkpoint(id)
	if err != nil {
		return nil, err
	}
	r, err := s.row(id)
	if err != nil {
		return nil, err
	}
	others, err := s.othersInRow(ctx, r)
	if err != nil {
		return nil, err
	}
	return s.planOfRevert(ctx, &pickedPlan{back: "u", revert: &revert.Options{Conflicts: work.KeepBlock,
		Work: work.Named{Checkpoint: l}, Args: l.ID.String()[:shortID]}}, others)
}

// planOfRevert runs a revert dry and keeps what it was made from.
func (s *pickSource) planOfRevert(ctx context.Context, p *pickedPlan, others []string) (*screen.Plan, error) {
	o := *p.revert
	o.DryRun, o.Expect = true, nil
	r, err := revert.Revert(ctx, s.p, o)
	if err != nil {
		return nil, err
	}
	p.revert.Expect = &r.Expected
	p.did = "Reverted"
	out := &screen.Plan{Token: s.keepPlan(p), Files: plannedFiles(r.Restored)}
	fact := func(st screen.Style, text string) { out.Facts = append(out.Facts, screen.Text(st, text)) }
	if !changed(r.Restored) {
		fact(screen.Bold, nothingReverted(r, "this turn"))
	} else {
		p.what = "revert"
		if len(r.Turns) > 0 {
			p.what += " " + turnsText(r.Turns, false)
		}
		fact(screen.Bold, strings.ToUpper(p.what[:1])+p.what[1:])
		fact(screen.Plain, "")
		fact(screen.Plain, "Files: "+restoredLine(r.Restored))
	}
	for _, text := range s.c.revertFacts(r, false) {
		fact(screen.Plain, text)
	}
	for _, text := range others {
		fact(screen.Plain, text)
	}
	if text := gitFact(r.Restored, true); text != "" {
		fact(screen.Plain, text)
	}
	if len(out.Files) > 0 {
		out.Notes = append(out.Notes, screen.Text(screen.Dim, "A safety checkpoint is taken first. Undo it with u here, or with rewind undo. The conversation stays."))
		out.Question = p.what + planned(r.Restored) + "? " + p.back + " takes it back"
	}
	return out, nil
}

// doRevert does the plan that was shown, or gives it as it is now.
func (s *pickSource) doRevert(ctx context.Context, p *pickedPlan) (said string, now *screen.Plan, err error) {
	r, err := revert.Revert(ctx, s.p, *p.revert)
	var moved *restore.PlanChangedError
	if errors.As(err, &moved) {
		now, err := s.planOfRevert(ctx, p, nil)
		return "nothing was done: " + moved.Error() + "; this is the plan now.", now, err
	}
	if err != nil {
		return "", nil, err
	}
	s.mu.Lock()
	s.done = append(s.done, doneRestore{reverted: r})
	clear(s.plans)
	clear(s.shownHunks)
	s.mu.Unlock()
	return p.did + ": " + restoredLine(r.Restored) + keptText(r) + " " + p.back + " takes it back, q leaves", nil, nil
}

// mostFound bounds what a search in the picker shows.
const mostFound = 1000

// find finds the lines of all files, at all times, that have a text, with the rows in which they came and went.
func (s *pickSource) find(ctx context.Context, text string) (*screen.Found, error) {
	m, err := search.Compile(search.Query{Patterns: []string{text}, Fixed: true})
	if err != nil {
		return nil, err
	}
	release, err := s.p.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	makers := timeline.NewMakers(s.p, nil)
	words := func(from *uiFrom) (id, words string) {
		return from.ID, strings.Join(strings.Fields(from.N+" "+from.Why+" "+screen.Ordered(from.Text)), " ")
	}
	out := &screen.Found{}
	_, err = search.Run(ctx, s.p, search.Options{Matcher: m}, func(sp search.Span) error {
		if len(out.Lines) == mostFound {
			out.More = true
			return errEnough
		}
		f := screen.FoundLine{Path: screen.Ordered(escapePath(sp.Path)), Raw: sp.Path, Line: sp.Line, Text: "(precious)", Came: "now"}
		if !sp.Hidden {
			f.Text = screen.Ordered(screen.Untab(escapeLine(screen.Clip(sp.Text, 400))))
		}
		came, went, err := lineRows(ctx, makers, sp)
		if err != nil {
			return err
		}
		if came != nil {
			f.CameID, f.Came = words(came)
		}
		if went != nil {
			f.WentID, f.Went = words(went)
		}
		out.Lines = append(out.Lines, f)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return out, nil
}
