package page

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// matchView is one thing that a search found.
type matchView struct {
	app.PathView
	Line     int          `json:"line"`
	Text     *string      `json:"text"`     // null: hidden
	Appeared string       `json:"appeared"` // checkpoint; "" for the working tree
	Vanished string       `json:"vanished"` // "" where it is still there
	Went     *picker.From `json:"went"`     // the row in which it vanished; null where it is still there
	Now      bool         `json:"now"`
	By       *picker.From `json:"by"` // the row in which it appeared; null where only the working tree has it
}

// search streams the lines in which a text appeared.
func (s *space) search(ctx context.Context, args web.Args, out io.Writer) error {
	m, err := search.Compile(search.Query{Patterns: []string{args("q")}, Fixed: args("regexp") == ""})
	if err != nil {
		return err
	}
	release, err := s.P.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	if args("in") == "talk" {
		return s.searchTalk(ctx, m, out)
	}
	enc := json.NewEncoder(out)
	makers := timeline.NewMakers(s.P, nil)
	found := 0
	_, err = search.Run(ctx, s.P, search.Options{Matcher: m}, func(sp search.Span) error {
		v := matchView{PathView: app.ViewPath(sp.Path), Line: sp.Line, Now: sp.Now}
		if !sp.Hidden {
			t := app.ViewPath(sp.Text).Path
			v.Text = &t
		}
		if sp.Appeared != nil {
			v.Appeared = sp.Appeared.ID.String()
		}
		if sp.Vanished != nil {
			v.Vanished = sp.Vanished.ID.String()
		}
		var err error
		if v.By, v.Went, err = picker.LineRows(ctx, makers, sp); err != nil {
			return err
		}
		if err := enc.Encode(v); err != nil {
			return err
		}
		if found++; found == picker.MostFiles {
			return picker.ErrEnough
		}
		return nil
	})
	if errors.Is(err, picker.ErrEnough) {
		return nil
	}
	return err
}
