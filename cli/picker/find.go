package picker

import (
	"context"
	"errors"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// mostFound bounds what a search in the picker shows.
const mostFound = 1000

// find finds the lines of all files, at all times, that have a text, with the rows in which they came and went.
func (s *picking) find(ctx context.Context, text string) (*screen.Found, error) {
	m, err := search.Compile(search.Query{Patterns: []string{text}, Fixed: true})
	if err != nil {
		return nil, err
	}
	release, err := s.P.Use(ctx)
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
