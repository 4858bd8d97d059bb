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
func (s *picking) attempts(ctx context.Context, id string) ([]screen.Line, []screen.Tried, error) {
	l, err := s.Checkpoint(id)
	if err != nil {
		return nil, nil, err
	}
	f, err := attempts.Of(ctx, s.P, l.Checkpoint)
	if err != nil {
		return nil, nil, err
	}
	if f == nil {
		return []screen.Line{nil, screen.Text(screen.Plain, "  "+rows.Clipped(l)+" belongs to no prompt")}, nil, nil
	}
	v, err := rows.MeasureAttempts(ctx, s.P, f)
	if err != nil {
		return nil, nil, err
	}
	lines, tried := attemptLines(v, s.C.Out.Now())
	return lines, tried, nil
}

func attemptLines(v *rows.Attempts, now time.Time) (out []screen.Line, tried []screen.Tried) {
	f := v.Fork
	out = []screen.Line{screen.Text(screen.Bold, "  Attempts since "+screen.Ordered(rows.Clipped(&f.Base))+", the oldest first"), nil}
	for i := range v.Tried {
		a := &v.Tried[i]
		mark, end, id := " ", "its end was removed", ""
		if a.N == f.At {
			mark = "*"
		}
		switch {
		case a.Open:
			end, id = "", "@"
		case a.End != nil:
			end, id = "ends with "+rows.Clipped(a.End), a.End.ID.String()
		}
		tried = append(tried, screen.Tried{Line: len(out), ID: id})
		out = append(out,
			screen.Line{{Text: fmt.Sprintf("  %s %2d ", mark, a.N), Style: screen.Cyan}, {Text: fmt.Sprintf("%4s  ", app.FormatAge(now.Sub(a.Began()))), Style: screen.Dim}, {Text: screen.Ordered(rows.Clipped(&a.Prompt))}})
		for _, text := range append([]string{triedText(a), end}, a.OthersText()...) {
			if text != "" {
				out = append(out, screen.Text(screen.Dim, "             "+screen.Ordered(text)))
			}
		}
	}
	at := "  The files are from none of them."
	if f.At > 0 {
		at = "  * has the files as they are."
	}
	if len(f.Attempts) == 1 {
		at = "  This prompt was tried once."
	}
	return append(out, nil, screen.Text(screen.Plain, at), screen.Text(screen.Dim, "  rewind list --attempts "+f.Base.ID.String()[:app.ShortID]+" shows what each changed")), tried
}

// triedText says how often an attempt was asked something, and what it changed.
func triedText(a *rows.Tried) string {
	text := app.Plural(a.Prompts, "prompt", "prompts")
	switch n := a.Changes; {
	case n == nil:
		return text + "; what it changed is not known"
	case n.Added+n.Modified+n.Deleted == 0:
		return text + "; it changed no file"
	default:
		text += "; files " + rows.ChangeCounts(uint64(n.Added), uint64(n.Modified), uint64(n.Deleted))
		if lines := rows.LineCounts(n.LinesAdded, n.LinesDeleted); lines != "" {
			text += ", lines " + lines
		}
		return text
	}
}
