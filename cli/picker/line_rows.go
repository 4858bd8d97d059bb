package picker

import (
	"context"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// LineRows are the rows in which a line came and went, for the picker and the page: nil for now, where only the working tree
// has it, and where it is still there. Where no row has the change, it is the checkpoint in which it was seen.
func LineRows(ctx context.Context, m *timeline.Makers, s search.Span) (came, went *From, err error) {
	cameMade, wentMade, err := rows.LineMade(ctx, m, s)
	if err != nil {
		return nil, nil, err
	}
	row := func(made timeline.Made, seen *project.Listed) *From {
		if made.Row != nil || seen == nil {
			return FromRow(made.Row)
		}
		from := &From{ID: seen.ID.String(), Text: rows.Clipped(seen)}
		if r, err := m.Row(ctx, seen.Seq); err == nil && r != nil {
			from = FromRow(r)
		}
		if made.Owner != nil {
			from.Why, from.Text = rows.MakerText(made.Owner, s.Path)
		}
		return from
	}
	came, went = row(cameMade, s.Appeared), row(wentMade, s.Vanished)
	if went == nil && s.Appeared != nil && !s.Now {
		went = &From{ID: "@", N: "@", Why: "now"}
	}
	return came, went, nil
}

// FromRow names a row; nil for none.
func FromRow(r *timeline.Row) *From {
	if r == nil {
		return nil
	}
	from := &From{N: rows.RowNumber(r), ID: "#" + app.Utoa(r.Seq), Why: rows.RowWhy(r), Text: rows.RowText(r, timeline.Counts{})}
	if r.Checkpoint != nil {
		from.ID = r.Checkpoint.ID.String()
	}
	return from
}

type From struct {
	ID   string `json:"id"`
	N    string `json:"n,omitempty"` // as the timeline numbers it
	Why  string `json:"why"`
	Text string `json:"text"`
}
