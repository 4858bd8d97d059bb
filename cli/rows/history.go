package rows

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// History is the history of one path with the rows in which its steps are.
type History struct {
	*inspect.PathHistory
	P        *project.Project
	M        *timeline.Makers
	present  *timeline.Present
	Precious bool // with the content of precious files
	Bare     bool // without what made each step, for which all newer rows are read
}

// NewHistory looks at the working tree where the history has a step there. Without the present state, the recorded
// versions are shown.
func NewHistory(ctx context.Context, p *project.Project, h *inspect.PathHistory) *History {
	v := &History{PathHistory: h, P: p}
	if h.Step != nil {
		v.present, _ = Look(ctx, p)
	}
	v.M = timeline.NewMakers(p, v.present)
	return v
}

// Stepped is a step with what made it.
type Stepped struct {
	*inspect.Step
	D   inspect.FileDiff
	Now bool // in the working tree
	By  timeline.Made
}

// Each visits the steps with their diffs, newest first.
func (v *History) Each(ctx context.Context, visit func(s Stepped) error) error {
	return v.M.Ask(ctx, func() error { return v.each(ctx, visit) })
}

func (v *History) each(ctx context.Context, visit func(s Stepped) error) error {
	if v.Step != nil {
		by, err := v.maker(ctx, v.Step, timeline.ThenNow)
		if err != nil {
			return err
		}
		if err := visit(Stepped{v.Step, *v.Now, true, by}); err != nil {
			return err
		}
	}
	for i := range v.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := &v.Steps[i]
		d, err := inspect.StepDiff(v.P, s, v.Precious)
		if err != nil {
			return err
		}
		by, err := v.maker(ctx, s, s.Seq)
		if err != nil {
			return err
		}
		if err := visit(Stepped{s, d, false, by}); err != nil {
			return err
		}
	}
	return nil
}

func (v *History) maker(ctx context.Context, s *inspect.Step, seq uint64) (timeline.Made, error) {
	if v.Bare {
		return timeline.Made{}, nil
	}
	made, err := v.M.Maker(ctx, s.Path, seq)
	if project.IsDamage(err) {
		return timeline.Made{}, nil // verify tells of that
	}
	return made, err
}

// Was reports whether it is the version in the oldest checkpoint, whose author is not known.
func (s *Stepped) Was() bool {
	return !s.Now && s.By == timeline.Made{} && s.What == inspect.Created
}

// Row is the step as list tells it: number, id, time, why and text.
func (v *History) Row(ctx context.Context, s *Stepped) (n, id string, at time.Time, why, text string, err error) {
	r, o := s.By.Row, s.By.Owner
	switch {
	case s.Was():
		return RowNumber(&timeline.Row{Checkpoint: &s.Listed}), s.ID.String()[:app.ShortID], s.Time, "", "since the oldest checkpoint", nil
	case r != nil && (!s.Now || r.Kind == timeline.Operation):
		return RowNumber(r), RowID(r), r.Time, RowWhy(r), RowText(r, timeline.Counts{}), nil
	case r != nil && (r.Kind == timeline.Tool || r.Kind == timeline.Prompt || r.Kind == timeline.Message):
		return "@", "", s.Time, RowWhy(r), RowText(r, timeline.Counts{}), nil
	case !s.Now: // no row has it: the checkpoint in which it is seen
		why, text = Reason(s.Listed), CheckpointText(s.Listed)
		if o != nil {
			why, text = MakerText(o, s.Path)
		}
		return RowNumber(&timeline.Row{Checkpoint: &s.Listed}), s.ID.String()[:app.ShortID], s.Time, why, text, nil
	}
	if o != nil && len(o.Works()) > 0 {
		why, text = MakerText(o, s.Path)
		return "@", "", s.Time, why, text, nil
	}
	text = "not in a checkpoint yet"
	if r, rerr := v.M.Now(ctx); rerr != nil {
		return "", "", s.Time, "", "", rerr
	} else if r != nil && r.Operation != nil {
		if n, _, err := r.Count(ctx, v.P, v.present); err == nil {
			text = nowText(r, n)
		}
	}
	return "@", "", s.Time, "", text, nil
}

// NoHistory says of a path that no checkpoint has it.
func NoHistory(err error) error {
	var none *project.NoPathError
	if errors.As(err, &none) {
		return app.Hinted(&neverError{none}, "rewind show last --files lists the paths of the newest checkpoint; rewind show last --coverage says what is left out")
	}
	return err
}

// neverError is the message of NoHistory.
type neverError struct{ none *project.NoPathError }

func (e *neverError) Error() string {
	return fmt.Sprintf("no checkpoint ever had the path %q", e.none.Path)
}
func (e *neverError) Unwrap() error { return e.none }
