package picker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/engine/work"
)

// planTurn makes the plan of taking back the turn of a row, and keeping the rest. What others built on stays; the plan
// names it.
func (s *Source) planTurn(ctx context.Context, id string) (*screen.Plan, error) {
	l, err := s.Checkpoint(id)
	if err != nil {
		return nil, err
	}
	r, err := s.Row(id)
	if err != nil {
		return nil, err
	}
	others, err := s.OthersInRow(ctx, r)
	if err != nil {
		return nil, err
	}
	return s.planOfRevert(ctx, &shownPlan{Back: "u", revert: &revert.Options{Conflicts: work.KeepBlock,
		Work: work.Named{Checkpoint: l}, Args: l.ID.String()[:app.ShortID]}}, others)
}

// planOfRevert runs a revert dry and keeps what it was made from.
func (s *Source) planOfRevert(ctx context.Context, p *shownPlan, others []string) (*screen.Plan, error) {
	o := *p.revert
	o.DryRun, o.Expect = true, nil
	r, err := revert.Revert(ctx, s.P, o)
	if err != nil {
		return nil, err
	}
	p.revert.Expect = &r.Expected
	p.did = "Reverted"
	out := &screen.Plan{Token: s.keepPlan(p), Files: PlannedFiles(r.Restored)}
	fact := func(st screen.Style, text string) { out.Facts = append(out.Facts, screen.Text(st, text)) }
	if !report.Changed(r.Restored) {
		fact(screen.Bold, report.NothingReverted(r, "this turn"))
	} else {
		p.what = "revert"
		if len(r.Turns) > 0 {
			p.what += " " + report.TurnsText(r.Turns, false)
		}
		fact(screen.Bold, strings.ToUpper(p.what[:1])+p.what[1:])
		fact(screen.Plain, "")
		fact(screen.Plain, "Files: "+report.RestoredLine(r.Restored))
	}
	for _, text := range report.RevertFacts(s.C, r, false) {
		fact(screen.Plain, text)
	}
	for _, text := range others {
		fact(screen.Plain, text)
	}
	if text := report.GitFact(r.Restored, true); text != "" {
		fact(screen.Plain, text)
	}
	if len(out.Files) > 0 {
		out.Notes = append(out.Notes, screen.Text(screen.Dim, "A safety checkpoint is taken first. Undo it with u here, or with rewind undo. The conversation stays."))
		out.Question = p.what + planned(r.Restored) + "? " + p.Back + " takes it back"
	}
	return out, nil
}

// doRevert does the plan that was shown, or gives it as it is now.
func (s *Source) doRevert(ctx context.Context, p *shownPlan) (said string, now *screen.Plan, err error) {
	r, err := revert.Revert(ctx, s.P, *p.revert)
	var moved *restore.PlanChangedError
	if errors.As(err, &moved) {
		now, err := s.planOfRevert(ctx, p, nil)
		return "nothing was done: " + moved.Error() + "; this is the plan now.", now, err
	}
	if err != nil {
		return "", nil, err
	}
	s.Mu.Lock()
	s.Done = append(s.Done, doneRestore{reverted: r})
	clear(s.Plans)
	clear(s.shownHunks)
	s.Mu.Unlock()
	return p.did + ": " + report.RestoredLine(r.Restored) + report.KeptText(r) + " " + p.Back + " takes it back, q leaves", nil, nil
}

// mostFound bounds what a search in the picker shows.
const mostFound = 1000

// find finds the lines of all files, at all times, that have a text, with the rows in which they came and went.
func (s *Source) find(ctx context.Context, text string) (*screen.Found, error) {
	m, err := search.Compile(search.Query{Patterns: []string{text}, Fixed: true})
	if err != nil {
		return nil, err
	}
	release, err := s.P.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	makers := timeline.NewMakers(s.P, nil)
	words := func(from *From) (id, words string) {
		return from.ID, strings.Join(strings.Fields(from.N+" "+from.Why+" "+screen.Ordered(from.Text)), " ")
	}
	out := &screen.Found{}
	_, err = search.Run(ctx, s.P, search.Options{Matcher: m}, func(sp search.Span) error {
		if len(out.Lines) == mostFound {
			out.More = true
			return ErrEnough
		}
		f := screen.FoundLine{Path: screen.Ordered(app.EscapePath(sp.Path)), Raw: sp.Path, Line: sp.Line, Text: "(precious)", Came: "now"}
		if !sp.Hidden {
			f.Text = screen.Ordered(screen.Untab(app.EscapeLine(screen.Clip(sp.Text, 400))))
		}
		came, went, err := LineRows(ctx, makers, sp)
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
	if err != nil && !errors.Is(err, ErrEnough) {
		return nil, err
	}
	return out, nil
}

// OwnersOf says who changed each path of a row, or of what is between it and another. Of what is damaged, and
// of the working tree where it could not be looked at, nothing is said.
func (s *Source) OwnersOf(ctx context.Context, r *timeline.Row, other string) (rows.Owned, error) {
	if other == "" && (r.To == nil || r.Kind == timeline.Operation) {
		return nil, nil
	}
	s.Mu.Lock()
	present := s.Present
	s.Mu.Unlock()
	var o attribution.Options
	switch {
	case other == "":
		if r.From != nil {
			o.From = r.From.Seq
		}
		o.To = r.To.Seq
		if r.To.Now {
			other = "@"
		}
	case r.Checkpoint == nil:
		return nil, nil
	default:
		o.From = r.Checkpoint.Seq
		if other == "@" {
			break
		}
		l, err := s.Checkpoint(other)
		if err != nil {
			return nil, err
		}
		o.From, o.To = min(o.From, l.Seq), max(o.From, l.Seq)
	}
	if other == "@" {
		if present == nil {
			return nil, nil
		}
		o.To, o.Now = 0, present.Seen(s.P)
	}
	if o.To == 0 && o.Now == nil {
		return nil, nil // what an operation found
	}
	to := o.To
	if to == 0 {
		to = attribution.ThenNow
	}
	a, err := attribution.New(ctx, s.P, o)
	if project.IsDamage(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	steps, err := a.Between(o.From, to)
	if project.IsDamage(err) {
		return nil, nil
	}
	return rows.OwnedOf(steps), err
}

// OthersInRow says who made the changes that a row shows and its turn did not make: a sentence for each.
func (s *Source) OthersInRow(ctx context.Context, r *timeline.Row) (facts []string, err error) {
	for _, part := range []*timeline.Row{r, r.Then} {
		if part == nil {
			continue
		}
		whose, err := s.OwnersOf(ctx, part, "")
		if err != nil {
			return nil, err
		}
		where := "in this row"
		if part != r {
			where = "after this turn"
		}
		counts, among := rows.OwnerCounts(whose, nil, r.Session)
		delete(counts, rows.WorkName(&attribution.Work{Agent: r.Agent, Session: r.Session}, nil, among))
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			by := "by " + name
			if name == rows.OwnerShared {
				by = "by one of several"
			}
			facts = append(facts, app.Plural(counts[name], "path was", "paths were")+" changed "+where+" "+by+".")
		}
	}
	return facts, nil
}
