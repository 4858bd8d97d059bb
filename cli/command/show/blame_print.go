package show

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// blamePrinter prints a file with who wrote its lines.
type blamePrinter struct {
	ctx      context.Context
	c        *app.Call
	b        *inspect.Blamed
	m        *timeline.Makers
	from, to int // of the lines, to not among them
}

// runs visits those that are shown, cut to the lines that are.
func (v *blamePrinter) runs(visit func(inspect.BlameRun)) {
	for _, r := range v.b.Runs {
		from, to := max(r.Start, v.from), min(r.Start+r.Count, v.to)
		if from < to {
			r.Start, r.Count = from, to-from
			visit(r)
		}
	}
}

// Columns that the names of who wrote a line take, at most.
const (
	whoNarrow = 24 // at 80 columns
	whoWide   = 40
)

// made is the row that made lines, as history names it.
func (v *blamePrinter) made(r inspect.BlameRun) (timeline.Made, error) {
	if r.Seen == nil {
		return timeline.Made{}, nil
	}
	made, err := v.m.Maker(v.ctx, r.Path, r.Seen.Seq)
	if project.IsDamage(err) {
		return timeline.Made{}, nil // verify reports it
	}
	return made, err
}

// print prints a line for each, as git blame does. At a terminal what is the same as above is left out.
func (v *blamePrinter) print() error {
	o := v.c.Out
	limit := whoWide
	if w := o.Width(); w > 0 && w < 120 {
		limit = whoNarrow
	}
	var heads [][3]string
	width := 0
	var failed error
	v.runs(func(r inspect.BlameRun) {
		who := screen.Clip(rows.RunWho(r), limit)
		width = max(width, displaywidth.String(who))
		id := runID(r)
		if made, err := v.made(r); err != nil {
			failed = cmp.Or(failed, err)
		} else if made.Row != nil && made.Row.Checkpoint != nil {
			id = rows.RowID(made.Row)
		}
		heads = append(heads, [3]string{id, v.age(r), who})
	})
	if failed != nil {
		return failed
	}
	numbers := len(strconv.Itoa(v.to))
	n := 0
	v.runs(func(r inspect.BlameRun) {
		id, age, who := heads[n][0], heads[n][1], heads[n][2]
		n++
		id += strings.Repeat(" ", app.ShortID-len(id))
		who += strings.Repeat(" ", width-displaywidth.String(who))
		head := o.Color.Paint(screen.Yellow, id) + fmt.Sprintf(" %4s ", age) + o.Color.Paint(screen.Cyan, who)
		if width > 0 {
			head += " "
		}
		blank := strings.Repeat(" ", app.ShortID+6+width+min(width, 1))
		for i := range r.Count {
			line := strings.TrimSuffix(v.b.Lines[r.Start+i], "\n")
			if o.OutTerm {
				line = app.EscapeLine(strings.TrimSuffix(line, "\r"))
				if i > 0 {
					head = blank
				}
			}
			text := head + o.Color.Paint(screen.Dim, fmt.Sprintf("%*d", numbers, r.Start+i+1))
			if line != "" {
				text += "  " + line
			}
			o.Line("%s", text)
		}
	})
	return nil
}

// onlyCall is the id of the tool call that surely wrote all lines that are shown; "" where there is none. The
// checkpoint beside them may be of another session's turn.
func (v *blamePrinter) onlyCall() (call string) {
	several := false
	v.runs(func(r inspect.BlameRun) {
		s := r.Step
		if s == nil || s.By == nil || s.By.Operation != 0 || len(s.Also) > 0 || s.AlsoOutside || s.By.Call == "" || call != "" && s.By.Call != call {
			several = true
			return
		}
		call = s.By.Call
	})
	if several {
		return ""
	}
	return call
}

func (v *blamePrinter) age(r inspect.BlameRun) string {
	switch {
	case r.Step != nil && r.Step.To.Seq == attribution.ThenNow:
		return ""
	case r.Step != nil && r.Step.By != nil && !r.Step.By.Start.IsZero():
		return app.FormatAge(v.c.Out.Now().Sub(r.Step.By.Start))
	case r.Step != nil:
		return app.FormatAge(v.c.Out.Now().Sub(r.Step.To.Time))
	case r.Seen != nil:
		return app.FormatAge(v.c.Out.Now().Sub(r.Seen.Time))
	}
	return ""
}

// runID names lines that no row is known to have made: the checkpoint in which they are seen first. Where that is another turn's, it is one of their own: revert
// takes it for the turn.
func runID(r inspect.BlameRun) string {
	switch {
	case r.Seen != nil && r.Turn != nil:
		return r.Turn.ID.String()[:app.ShortID]
	case r.Seen != nil:
		return r.Seen.ID.String()[:app.ShortID]
	case r.Step != nil || r.Forgotten:
		return NowWord
	}
	return "-"
}

// blamedView is what blame --json prints; docs/schema/blame.schema.json describes it.
type blamedView struct {
	app.PathView
	Lines []blameRunView `json:"lines"`
}

// blameRunView is lines that stand together and came with the same step.
type blameRunView struct {
	N          int                  `json:"n"`          // the first of them, from 1
	Count      int                  `json:"count"`      // of lines
	Checkpoint *string              `json:"checkpoint"` // in which they are seen first; null: in none yet
	Number     int                  `json:"number"`     // of the checkpoint in list, 0 for none
	MadeBy     *rows.MadeByView     `json:"made_by"`    // the row that list tells it under; null: not known
	Turn       *string              `json:"turn"`       // a checkpoint of the turn that brought them: what revert takes; null: none is known
	Time       *string              `json:"time"`       // of the look that found them; null: not known
	From       *app.PathView        `json:"from"`       // what the file was called then; null: as now
	Class      string               `json:"class"`      // declared shell shared outside operation, "" where they were there in the oldest version
	Now        bool                 `json:"now"`        // no checkpoint has them yet
	Also       []rows.OwnerWorkView `json:"also"`
	OrYou      bool                 `json:"also_outside"`
	Forgotten  bool                 `json:"forgotten"` // they are seen first behind what was forgotten of the file
	rows.OwnerWorkView
}

func (v *blamePrinter) json() error {
	doc := blamedView{PathView: app.ViewPath(v.b.Path), Lines: []blameRunView{}}
	var failed error
	v.runs(func(r inspect.BlameRun) {
		made, err := v.made(r)
		if err != nil {
			failed = cmp.Or(failed, err)
			return
		}
		w := blameRunView{N: r.Start + 1, Count: r.Count, Also: []rows.OwnerWorkView{}, Forgotten: r.Forgotten, MadeBy: rows.ViewMaker(v.ctx, v.m, made)}
		if r.Seen != nil {
			w.Checkpoint, w.Number, w.Time = rows.ViewID(r.Seen.ID), r.Seen.N, new(app.ViewTime(r.Seen.Time))
		}
		if r.Turn != nil {
			w.Turn = rows.ViewID(r.Turn.ID)
		}
		if r.Path != v.b.Path {
			w.From = new(app.ViewPath(r.Path))
		}
		if s := r.Step; s != nil {
			w.Class, w.OrYou, w.Now, w.Time = string(s.Class), s.AlsoOutside, r.Seen == nil, new(app.ViewTime(s.To.Time))
			if s.By != nil {
				w.OwnerWorkView = rows.ViewOwnerWork(s.By)
			}
			w.Also = app.Map(s.Also, rows.ViewOwnerWork)
		}
		doc.Lines = append(doc.Lines, w)
	})
	if failed != nil {
		return failed
	}
	return v.c.Out.Document(doc)
}
