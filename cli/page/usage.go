package page

import (
	"context"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/attempts"
)

// usageView is what takes the space of the store, as status -v --json has it, and the checkpoints that brought most of it.
type usageView struct {
	Stats report.StatsView `json:"stats"` // without what each checkpoint takes
	Rows  []grownView      `json:"rows"`
}

type grownView struct {
	ID    string       `json:"id"`
	Bytes int64        `json:"bytes"` // that no older checkpoint has
	By    *picker.From `json:"by"`    // the row that made the largest of its files, or in which it was first seen; null where that is gone
	File  app.PathView `json:"file"`  // the largest file that came with it
	Size  uint64       `json:"size"`  // of that file
}

func (s *space) usage(ctx context.Context, _ web.Args) (any, error) {
	st, all, err := s.Usage(ctx)
	if err != nil {
		return nil, err
	}
	st.PerCheckpoint = nil
	return usageView{report.ViewStats(st), app.Map(all, func(g picker.Grown) grownView {
		return grownView{g.Checkpoint.ID.String(), g.New, g.By, app.ViewPath(g.Path), g.Size}
	})}, nil
}

// attempts are those at the prompt of a row; without one, at the newest prompt that was tried more than once.
func (s *space) attempts(ctx context.Context, args web.Args) (any, error) {
	var f *attempts.Fork
	var err error
	if id := args("id"); id == "" {
		f, err = attempts.Newest(ctx, s.P)
	} else if l, lerr := s.Checkpoint(id); lerr != nil {
		err = lerr
	} else {
		f, err = attempts.Of(ctx, s.P, l.Checkpoint)
	}
	if err != nil {
		return nil, err
	}
	v, err := rows.MeasureAttempts(ctx, s.P, f)
	if err != nil {
		return nil, err
	}
	return v.View(), nil
}
