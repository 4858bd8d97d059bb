package cli

import (
	"context"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// lineMade finds what brought and what removed a line that a search found, for the command, the picker and the page. For
// what came after the newest checkpoint it names an operation, and only if that is certain.
func lineMade(ctx context.Context, m *timeline.Makers, s search.Span) (came, went timeline.Made, err error) {
	maker := func(seq uint64) (timeline.Made, error) {
		made, err := m.Maker(ctx, s.Path, seq)
		if project.IsDamage(err) {
			return timeline.Made{}, nil // the search tells of that
		}
		return made, err
	}
	switch {
	case s.Appeared == nil:
		if came, err = maker(timeline.ThenNow); came.Row != nil && came.Row.Kind != timeline.Operation {
			came.Row = nil
		}
	case !s.Oldest:
		came, err = maker(s.Appeared.Seq)
	}
	if err != nil {
		return came, went, err
	}
	switch {
	case s.Vanished != nil:
		went, err = maker(s.Vanished.Seq)
	case s.Appeared != nil && !s.Now:
		if went, err = maker(timeline.ThenNow); went.Row != nil && went.Row.Side != timeline.Did {
			went.Row = nil
		}
	}
	return came, went, err
}

// lineRows are the rows in which a line came and went, for the picker and the page: nil for now, where only the working tree
// has it, and where it is still there. Of whom no row tells, that is said with the number of the checkpoint in which it was seen.
func lineRows(ctx context.Context, m *timeline.Makers, s search.Span) (came, went *uiFrom, err error) {
	cameMade, wentMade, err := lineMade(ctx, m, s)
	if err != nil {
		return nil, nil, err
	}
	row := func(made timeline.Made, seen *project.Listed) *uiFrom {
		if made.Row != nil || seen == nil {
			return fromRow(made.Row)
		}
		from := &uiFrom{ID: seen.ID.String(), Text: pickedName(seen)}
		if r, err := m.Row(ctx, seen.Seq); err == nil && r != nil {
			from = fromRow(r)
		}
		if made.Owner != nil {
			from.Why, from.Text = makerText(made.Owner, s.Path)
		}
		return from
	}
	came, went = row(cameMade, s.Appeared), row(wentMade, s.Vanished)
	if went == nil && s.Appeared != nil && !s.Now {
		went = &uiFrom{ID: "@", N: "@", Why: "now"}
	}
	return came, went, nil
}
