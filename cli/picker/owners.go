package picker

import (
	"context"
	"maps"
	"slices"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// OwnersOf are the authors of each path of a row, or of what is between it and another; nil for what is damaged, and for a
// working tree that could not be looked at.
func (s *Source) OwnersOf(ctx context.Context, r *timeline.Row, other string) (rows.Owned, error) {
	steps, err := s.stepsOf(ctx, r, other)
	if steps == nil {
		return nil, err
	}
	return rows.OwnedOf(steps), err
}

func (s *Source) stepsOf(ctx context.Context, r *timeline.Row, other string) (map[string][]attribution.Step, error) {
	if other == "" && (r.To == nil || r.Kind == timeline.Operation) {
		return nil, nil
	}
	present := s.Present()
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
	return steps, err
}

// OthersInRow says who made the changes that a row shows and its turn did not make: a sentence for each.
func (s *Source) OthersInRow(ctx context.Context, r *timeline.Row) (facts []string, err error) {
	for _, part := range []*timeline.Row{r, r.Then} {
		if part == nil {
			continue
		}
		steps, err := s.stepsOf(ctx, part, "")
		if err != nil {
			return nil, err
		}
		where := "in this row"
		if part != r {
			where = "after this turn"
		}
		counts, among := rows.OwnerCounts(rows.OwnedOf(rows.Counted(steps)), nil, r.Session)
		delete(counts, rows.WorkName(&attribution.Work{Agent: r.Agent, Session: r.Session}, nil, among))
		if part.Kind == timeline.Manual { // a save is the person's, also beside a session
			delete(counts, rows.OwnerYou)
		}
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
