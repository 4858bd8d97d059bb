package show

import (
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/search"
)

// GrepView is what grep --json prints; docs/schema/grep.schema.json describes it.
type GrepView struct {
	Patterns    []string              `json:"patterns"`
	Matches     []matchView           `json:"matches"`
	Checkpoints []rows.CheckpointView `json:"checkpoints"` // those that the matches name, each once
	Searched    searchedView          `json:"searched"`
	NotSearched []notSearched         `json:"not_searched"` // what is damaged
	known       map[string]bool
}

// matchView is a line with the time in which it was there.
type matchView struct {
	app.PathView
	Line     int     `json:"line"`
	Text     *string `json:"text"` // null: hidden
	Text64   string  `json:"text_b64,omitempty"`
	Clipped  bool    `json:"clipped"`
	Start    int     `json:"start"`
	End      int     `json:"end"`
	Precious bool    `json:"precious"`
	Appeared *string `json:"appeared"`
	Oldest   bool    `json:"oldest"`
	Vanished *string `json:"vanished"`
	Last     *string `json:"last"`
	Now      bool    `json:"now"`

	AppearedBy *rows.MadeByView `json:"appeared_by"` // null: not known, or the working tree
	VanishedBy *rows.MadeByView `json:"vanished_by"`
}

type searchedView struct {
	Checkpoints int   `json:"checkpoints"`
	Paths       int   `json:"paths"`
	Contents    int   `json:"contents"`
	Bytes       int64 `json:"bytes"`
}

type notSearched struct {
	app.PathView
	Seq    uint64 `json:"seq"`
	Reason string `json:"reason"`
}

func newGrepView(patterns []string) *GrepView {
	return &GrepView{Patterns: patterns, Matches: []matchView{}, Checkpoints: []rows.CheckpointView{}, NotSearched: []notSearched{}, known: map[string]bool{}}
}

func (v *GrepView) add(s search.Span, came, went *rows.MadeByView) {
	m := matchView{PathView: app.ViewPath(s.Path), Line: s.Line, Clipped: s.Clipped, Start: s.Start, End: s.End, Precious: s.Precious,
		Appeared: v.name(s.Appeared), Oldest: s.Oldest, Vanished: v.name(s.Vanished), Last: v.name(s.Last), Now: s.Now,
		AppearedBy: came, VanishedBy: went}
	if !s.Hidden {
		t := app.ViewPath(s.Text) // the same rule: text, and the bytes where it is no UTF-8
		m.Text, m.Text64 = &t.Path, t.Path64
	}
	v.Matches = append(v.Matches, m)
}

// name is a checkpoint's id, which the document has the rest of.
func (v *GrepView) name(l *project.Listed) *string {
	if l == nil {
		return nil
	}
	id := l.ID.String()
	if !v.known[id] {
		v.known[id] = true
		v.Checkpoints = append(v.Checkpoints, rows.ViewCheckpoint(*l))
	}
	return &id
}

func (v *GrepView) done(s *search.Summary) *GrepView {
	v.Searched = searchedView{s.Checkpoints, s.Paths, s.Contents, s.Bytes}
	for _, p := range s.Problems {
		v.NotSearched = append(v.NotSearched, notSearched{app.ViewPath(p.Path), p.Seq, p.Err.Error()})
	}
	return v
}
