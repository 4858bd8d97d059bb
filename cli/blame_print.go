package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// blamePrinter prints a file with who wrote its lines.
type blamePrinter struct {
	ctx      context.Context
	c        *call
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
	o := v.c.out
	limit := whoWide
	if w := o.width(); w > 0 && w < 120 {
		limit = whoNarrow
	}
	var rows [][3]string
	width := 0
	var failed error
	v.runs(func(r inspect.BlameRun) {
		who := screen.Clip(runWho(r), limit)
		width = max(width, displaywidth.String(who))
		id := runID(r)
		if made, err := v.made(r); err != nil {
			failed = cmp.Or(failed, err)
		} else if made.Row != nil && made.Row.Checkpoint != nil {
			id = rowID(made.Row)
		}
		rows = append(rows, [3]string{id, v.age(r), who})
	})
	if failed != nil {
		return failed
	}
	numbers := len(strconv.Itoa(v.to))
	n := 0
	v.runs(func(r inspect.BlameRun) {
		id, age, who := rows[n][0], rows[n][1], rows[n][2]
		n++
		id += strings.Repeat(" ", shortID-len(id))
		who += strings.Repeat(" ", width-displaywidth.String(who))
		head := o.color.Paint(screen.Yellow, id) + fmt.Sprintf(" %4s ", age) + o.color.Paint(screen.Cyan, who)
		if width > 0 {
			head += " "
		}
		blank := strings.Repeat(" ", shortID+6+width+min(width, 1))
		for i := range r.Count {
			line := strings.TrimSuffix(v.b.Lines[r.Start+i], "\n")
			if o.outTerm {
				line = escapeLine(strings.TrimSuffix(line, "\r"))
				if i > 0 {
					head = blank
				}
			}
			text := head + o.color.Paint(screen.Dim, fmt.Sprintf("%*d", numbers, r.Start+i+1))
			if line != "" {
				text += "  " + line
			}
			o.line("%s", text)
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
		return formatAge(v.c.out.now().Sub(r.Step.By.Start))
	case r.Step != nil:
		return formatAge(v.c.out.now().Sub(r.Step.To.Time))
	case r.Seen != nil:
		return formatAge(v.c.out.now().Sub(r.Seen.Time))
	}
	return ""
}

// runID names lines that no row is known to have made: the checkpoint in which they are seen first. Where that is another turn's, it is one of their own: revert
// takes it for the turn.
func runID(r inspect.BlameRun) string {
	switch {
	case r.Seen != nil && r.Turn != nil:
		return r.Turn.ID.String()[:shortID]
	case r.Seen != nil:
		return r.Seen.ID.String()[:shortID]
	case r.Step != nil || r.Forgotten:
		return nowWord
	}
	return "-"
}

// runWho names the author of lines in a few words; "" means that the author is not known.
func runWho(r inspect.BlameRun) string {
	s := r.Step
	switch {
	case r.Forgotten:
		return "history forgotten"
	case s == nil:
		return ""
	case s.By == nil:
		return "you"
	case s.By.Operation != 0:
		return strings.TrimSpace("the " + escape(s.By.Tool) + " " + firstLine(s.By.Summary))
	}
	tool := escape(s.By.Tool)
	if tool == "" {
		tool = escape(s.By.Agent)
	}
	if tool == "" {
		tool = "the agent"
	}
	if len(s.Also) > 0 || s.AlsoOutside {
		tool += "?"
	}
	if said := firstLine(s.By.Prompt); said != "" {
		return tool + ` "` + said + `"`
	}
	return tool
}

// blamedView is what blame --json prints; docs/schema/blame.schema.json describes it.
type blamedView struct {
	pathView
	Lines []blameRunView `json:"lines"`
}

// blameRunView is lines that stand together and came with the same step.
type blameRunView struct {
	N          int             `json:"n"`          // the first of them, from 1
	Count      int             `json:"count"`      // of lines
	Checkpoint *string         `json:"checkpoint"` // in which they are seen first; null: in none yet
	Number     int             `json:"number"`     // of the checkpoint in list, 0 for none
	MadeBy     *madeByView     `json:"made_by"`    // the row that list tells it under; null: not known
	Turn       *string         `json:"turn"`       // a checkpoint of the turn that brought them: what revert takes; null: none is known
	Time       *string         `json:"time"`       // of the look that found them; null: not known
	From       *pathView       `json:"from"`       // what the file was called then; null: as now
	Class      string          `json:"class"`      // declared shell shared outside operation, "" where they were there in the oldest version
	Now        bool            `json:"now"`        // no checkpoint has them yet
	Also       []ownerWorkView `json:"also"`
	OrYou      bool            `json:"also_outside"`
	Forgotten  bool            `json:"forgotten"` // they are seen first behind what was forgotten of the file
	ownerWorkView
}

func (v *blamePrinter) json() error {
	doc := blamedView{pathView: viewPath(v.b.Path), Lines: []blameRunView{}}
	var failed error
	v.runs(func(r inspect.BlameRun) {
		made, err := v.made(r)
		if err != nil {
			failed = cmp.Or(failed, err)
			return
		}
		w := blameRunView{N: r.Start + 1, Count: r.Count, Also: []ownerWorkView{}, Forgotten: r.Forgotten, MadeBy: viewMaker(v.ctx, v.m, made)}
		if r.Seen != nil {
			w.Checkpoint, w.Number = viewID(r.Seen.ID), r.Seen.N
			at := viewTime(r.Seen.Time)
			w.Time = &at
		}
		if r.Turn != nil {
			w.Turn = viewID(r.Turn.ID)
		}
		if r.Path != v.b.Path {
			from := viewPath(r.Path)
			w.From = &from
		}
		if s := r.Step; s != nil {
			w.Class, w.OrYou, w.Now = string(s.Class), s.AlsoOutside, r.Seen == nil
			at := viewTime(s.To.Time)
			w.Time = &at
			if s.By != nil {
				w.ownerWorkView = viewOwnerWork(s.By)
			}
			for _, o := range s.Also {
				w.Also = append(w.Also, viewOwnerWork(o))
			}
		}
		doc.Lines = append(doc.Lines, w)
	})
	if failed != nil {
		return failed
	}
	return v.c.out.document(doc)
}
