package measure

import (
	"context"
	"fmt"
)

// Turn is one subject of a comparison.
type Turn struct {
	Name string
	// Before is called before each run, outside its time; may be nil.
	Before func(round int) error
	// Command to run in a round.
	Command func(round int) Command
	// Rounds that this subject takes part in; 0: all. Slow peers get few.
	Rounds int

	Times   Spread
	PeakRSS int64 // bytes, of the largest run
	Err     error // the first failure: the subject is out from there
}

// Alternate runs the subjects in turns: round after round, each begun by
// another of them. A subject that fails is out, the others go on. each, which
// may be nil, is called before every round. The error is ctx's or each's.
func (r *Runner) Alternate(ctx context.Context, rounds int, each func(round int) error, turns ...*Turn) error {
	for round := range rounds {
		if each != nil {
			if err := each(round); err != nil {
				return err
			}
		}
		for i := range turns {
			if err := ctx.Err(); err != nil {
				return err
			}
			t := turns[(i+round)%len(turns)]
			if t.Err != nil || t.Rounds > 0 && round >= t.Rounds {
				continue
			}
			t.Err = r.turn(ctx, t, round)
		}
	}
	return nil
}

func (r *Runner) turn(ctx context.Context, t *Turn, round int) error {
	if t.Before != nil {
		if err := t.Before(round); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	u, err := r.Run(ctx, t.Command(round))
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	t.Times = append(t.Times, u.Wall)
	t.PeakRSS = max(t.PeakRSS, u.PeakRSS)
	return nil
}
