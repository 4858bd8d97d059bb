package picker

import (
	"context"
	"fmt"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attempts"
)

// attempts are the attempts at the prompt that a row belongs to, and how each ended.
func (s *picking) attempts(ctx context.Context, id string) ([]screen.Line, error) {
	l, err := s.Checkpoint(id)
	if err != nil {
		return nil, err
	}
	f, err := attempts.Of(ctx, s.P, l.Checkpoint)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return []screen.Line{nil, screen.Text(screen.Plain, "  "+rows.Clipped(l)+" belongs to no prompt")}, nil
	}
	return attemptLines(f, s.C.Out.Now()), nil
}

func attemptLines(f *attempts.Fork, now time.Time) []screen.Line {
	out := []screen.Line{screen.Text(screen.Bold, "  Attempts since "+screen.Ordered(rows.Clipped(&f.Base))+", the oldest first"), nil}
	for _, a := range f.Attempts {
		mark, end := " ", "its end was removed"
		if a.Open {
			mark = "*"
		}
		if a.End != nil {
			end = "ends with " + rows.Clipped(a.End)
		}
		out = append(out,
			screen.Line{{Text: fmt.Sprintf("  %s %2d ", mark, a.N), Style: screen.Cyan}, {Text: fmt.Sprintf("%4s  ", app.FormatAge(now.Sub(a.Began()))), Style: screen.Dim}, {Text: screen.Ordered(rows.Clipped(&a.Prompt))}},
			screen.Text(screen.Dim, "             "+screen.Ordered(end)))
	}
	at := "  The files are from none of them."
	if f.At > 0 {
		at = "  * has the files as they are."
	}
	if len(f.Attempts) == 1 {
		at = "  This prompt was tried once."
	}
	return append(out, nil, screen.Text(screen.Plain, at), screen.Text(screen.Dim, "  rewind list --attempts "+f.Base.ID.String()[:app.ShortID]+" shows what each changed"))
}
