package picker

import (
	"context"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// LineRows are the rows in which a line came and went, for the picker and the page: nil for now, where only the working tree
// has it, and where it is still there. Where no row has the change, it is the checkpoint in which it was seen.
func LineRows(ctx context.Context, m *timeline.Makers, s search.Span) (came, went *From, err error) {
	cameMade, wentMade, err := rows.LineMade(ctx, m, s)
	if err != nil {
		return nil, nil, err
	}
	row := func(made timeline.Made, seen *project.Listed) (*From, error) {
		if made.Row != nil || seen == nil {
			return FromRow(made.Row), nil
		}
		from, err := seenIn(ctx, m, made, &seen.Checkpoint, s.Path)
		if from == nil {
			from = &From{ID: seen.ID.String(), Text: rows.Clipped(seen)}
		}
		return from, err
	}
	if came, err = row(cameMade, s.Appeared); err != nil {
		return nil, nil, err
	}
	if went, err = row(wentMade, s.Vanished); err != nil {
		return nil, nil, err
	}
	if went == nil && s.Appeared != nil && !s.Now {
		went = &From{ID: "@", N: "@", Why: "now"}
	}
	return came, went, nil
}

// seenIn is the row of the list in which a change that is in no row was first seen, with the author of the change; nil where that
// checkpoint is gone.
func seenIn(ctx context.Context, m *timeline.Makers, made timeline.Made, c *manifest.Checkpoint, path string) (*From, error) {
	r, err := m.Shown(ctx, c.Seq)
	if r == nil || err != nil && !project.IsDamage(err) {
		return nil, err
	}
	from := FromRow(r)
	if made.Owner == nil {
		return from, nil
	}
	why, text := rows.MakerText(made.Owner, path)
	if text == "" && r.Checkpoint.ID != c.ID {
		why, text = why+", during", rows.Quoted(from.Text)
	}
	from.Why, from.Text = why, text
	return from, nil
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
