package cli

import (
	"context"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// madeByView is the row that made a change: what list tells it under; of whom no row tells, that of their call.
type madeByView struct {
	N           int     `json:"n"`  // 0 for none
	ID          *string `json:"id"` // checkpoint; null for an operation, and where there is no row
	Kind        string  `json:"kind"`
	Tool        string  `json:"tool"`
	ToolSummary string  `json:"tool_summary"`
	Prompt      string  `json:"prompt"`
	Operation   *uint64 `json:"operation"` // by its seq, where it was one

	Owner *ownerView `json:"owner"` // whose it is, as show tells it; null where it is not known
}

// viewMaker is null where nothing tells of the change.
func viewMaker(ctx context.Context, m *timeline.Makers, made timeline.Made) *madeByView {
	var v *madeByView
	if made.Row != nil {
		v = viewMakerRow(ctx, m, made.Row)
	}
	if made.Owner == nil {
		return v
	}
	o := viewOwner(*made.Owner)
	if v == nil {
		v = &madeByView{Tool: o.Tool, ToolSummary: o.Summary, Prompt: o.Prompt}
	}
	v.Owner = &o
	return v
}

func viewMakerRow(ctx context.Context, m *timeline.Makers, r *timeline.Row) *madeByView {
	if r.Operation != nil && r.Checkpoint == nil {
		return &madeByView{Kind: engineVerb(r), Operation: &r.Operation.Seq}
	}
	c := r.Checkpoint
	prompt, err := m.Prompt(ctx, r)
	if err != nil {
		prompt = c.Prompt
	}
	return &madeByView{N: c.N, ID: viewID(c.ID), Kind: string(c.Kind), Tool: c.Tool, ToolSummary: c.ToolSummary, Prompt: prompt}
}

func engineVerb(r *timeline.Row) string {
	if v := r.Operation.Verb; v != "" {
		return v
	}
	return string(r.Operation.Kind)
}

// rowBriefly names a row in a sentence: 8 Bash "sed -i …", 6, the end of "add tz", the restore to 3 "…".
func rowBriefly(r *timeline.Row) string {
	if r.Kind == timeline.Operation {
		text := "the " + operationVerb(r.Operation)
		if to := operationText(r); to != "" {
			text += " " + to
		}
		return text
	}
	return listedBriefly(*r.Checkpoint, r.Ends)
}

// listedBriefly is briefly, for which ends is the prompt whose turn a stop ends.
func listedBriefly(l project.Listed, ends string) string {
	if said := firstLine(ends); said != "" && l.N > 0 && l.Name == "" && firstLine(l.Description) == "" {
		return utoa(uint64(l.N)) + ", the end of " + quoted(said)
	}
	return briefly(l)
}

// rowNamed is rowBriefly, and what finds the row for ever.
func rowNamed(o *output, r *timeline.Row) string {
	if r.Kind == timeline.Operation {
		return rowBriefly(r) + " (" + ago(o, r.Time) + ")"
	}
	return listedNamed(o, *r.Checkpoint, r.Ends)
}

// listedNamed is named, for which ends is the prompt whose turn a stop ends.
func listedNamed(o *output, l project.Listed, ends string) string {
	id, who := l.ID.String()[:shortID], listedBriefly(l, ends)
	if who == id {
		return who + " (" + ago(o, l.Time) + ")"
	}
	return who + " (" + id + ", " + ago(o, l.Time) + ")"
}

// inRow says of what somebody did that it came in a row: after one that an agent's turn ended with.
func inRow(o *output, r *timeline.Row, paint func(string) string) string {
	switch {
	case r.Kind == timeline.Operation:
		return "with " + paint(rowNamed(o, r))
	case r.Side == timeline.After:
		return "after " + paint(rowNamed(o, r))
	}
	return "in " + paint(rowNamed(o, r))
}

// makerText says of whom no row tells in a word and a few: "you", "shared" with all who could have, or a call.
func makerText(o *attribution.Owner, path string) (word, text string) {
	by, one := o.Maker()
	sessions := map[string]bool{}
	for _, w := range o.Works() {
		if w.Session != "" {
			sessions[w.Session] = true
		}
	}
	switch {
	case !one:
		return "shared", ownerText(*o, path, sessions)
	case by == nil:
		return "you", ""
	}
	return "agent", workText(by, path, sessions)
}

// byMaker is makerText in a sentence.
func byMaker(o *attribution.Owner, path string) string {
	word, text := makerText(o, path)
	if text == "" {
		text = word
	}
	return "by " + text
}

// endsOf is the prompt whose turn a checkpoint ends; what cannot be read is not worth failing for.
func endsOf(ctx context.Context, m *timeline.Makers, seq uint64) string {
	r, err := m.Row(ctx, seq)
	if err != nil || r == nil {
		return ""
	}
	return r.Ends
}
