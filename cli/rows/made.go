package rows

import (
	"context"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// MadeByView is the row of list that has a change; for a change in no row, it is the agent's call.
type MadeByView struct {
	N           int     `json:"n"`  // 0 for none
	ID          *string `json:"id"` // checkpoint; null for an operation, and where there is no row
	Kind        string  `json:"kind"`
	Tool        string  `json:"tool"`
	ToolSummary string  `json:"tool_summary"`
	Prompt      string  `json:"prompt"`
	Operation   *uint64 `json:"operation"` // by its seq, where it was one

	Owner *ownerView `json:"owner"` // the author, as in show; null where it is not known
}

// ViewMaker is null where the change is in no row and has no known author.
func ViewMaker(ctx context.Context, m *timeline.Makers, made timeline.Made) *MadeByView {
	var v *MadeByView
	if made.Row != nil {
		v = viewMakerRow(ctx, m, made.Row)
	}
	if made.Owner == nil {
		return v
	}
	o := viewOwner(*made.Owner)
	if v == nil {
		v = &MadeByView{Tool: o.Tool, ToolSummary: o.Summary, Prompt: o.Prompt}
	}
	v.Owner = &o
	return v
}

func viewMakerRow(ctx context.Context, m *timeline.Makers, r *timeline.Row) *MadeByView {
	if r.Operation != nil && r.Checkpoint == nil {
		return &MadeByView{Kind: engineVerb(r), Operation: &r.Operation.Seq}
	}
	c := r.Checkpoint
	prompt, err := m.Prompt(ctx, r)
	if err != nil {
		prompt = c.Prompt
	}
	return &MadeByView{N: c.N, ID: ViewID(c.ID), Kind: string(c.Kind), Tool: c.Tool, ToolSummary: c.ToolSummary, Prompt: prompt}
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
		text := "the " + OperationVerb(r.Operation)
		if to := operationText(r); to != "" {
			text += " " + to
		}
		return text
	}
	return listedBriefly(*r.Checkpoint, r.Ends)
}

// listedBriefly is briefly, for which ends is the prompt whose turn a stop ends.
func listedBriefly(l project.Listed, ends string) string {
	if prompt := app.FirstLine(ends); prompt != "" && l.N > 0 && l.Name == "" && app.FirstLine(l.Description) == "" {
		return app.Utoa(uint64(l.N)) + ", the end of " + Quoted(prompt)
	}
	return Briefly(l)
}

// rowNamed is rowBriefly, and what finds the row for ever.
func rowNamed(o *app.Output, r *timeline.Row) string {
	if r.Kind == timeline.Operation {
		return rowBriefly(r) + " (" + app.Ago(o, r.Time) + ")"
	}
	return ListedNamed(o, *r.Checkpoint, r.Ends)
}

// ListedNamed is named, for which ends is the prompt whose turn a stop ends.
func ListedNamed(o *app.Output, l project.Listed, ends string) string {
	id, who := l.ID.String()[:app.ShortID], listedBriefly(l, ends)
	if who == id {
		return who + " (" + app.Ago(o, l.Time) + ")"
	}
	return who + " (" + id + ", " + app.Ago(o, l.Time) + ")"
}

// InRow names the row of a change in a sentence: in it, or after it if the row is the end of an agent's turn.
func InRow(o *app.Output, r *timeline.Row, paint func(string) string) string {
	switch {
	case r.Kind == timeline.Operation:
		return "with " + paint(rowNamed(o, r))
	case r.Side == timeline.After:
		return "after " + paint(rowNamed(o, r))
	}
	return "in " + paint(rowNamed(o, r))
}

// MakerText names the author of a change that is in no row, in one word and in a few: "you", "shared" and the possible authors, or a call.
func MakerText(o *attribution.Owner, path string) (word, text string) {
	by, one := o.Maker()
	sessions := map[string]bool{}
	for _, w := range o.Works() {
		if w.Session != "" {
			sessions[w.Session] = true
		}
	}
	switch {
	case !one:
		return "shared", OwnerText(*o, path, sessions)
	case by == nil:
		return "you", ""
	}
	return "agent", workText(by, path, sessions)
}

// ByMaker is MakerText in a sentence.
func ByMaker(o *attribution.Owner, path string) string {
	word, text := MakerText(o, path)
	if text == "" {
		text = word
	}
	return "by " + text
}

// EndsOf is the prompt whose turn a checkpoint ends; what cannot be read is not worth failing for.
func EndsOf(ctx context.Context, m *timeline.Makers, seq uint64) string {
	r, err := m.Row(ctx, seq)
	if err != nil || r == nil {
		return ""
	}
	return r.Ends
}

// RunWho names the author of lines in a few words; "" means that the author is not known.
func RunWho(r inspect.BlameRun) string {
	s := r.Step
	switch {
	case r.Forgotten:
		return "history forgotten"
	case s == nil:
		return ""
	case s.By == nil && len(s.Also) > 0:
		return "you?"
	case s.By == nil:
		return "you"
	case s.By.Operation != 0:
		return strings.TrimSpace("the " + app.Escape(s.By.Tool) + " " + app.FirstLine(s.By.Summary))
	}
	tool := app.Escape(s.By.Tool)
	if tool == "" {
		tool = app.Escape(s.By.Agent)
	}
	if tool == "" {
		tool = "the agent"
	}
	if len(s.Also) > 0 || s.AlsoOutside {
		tool += "?"
	}
	if prompt := app.FirstLine(s.By.Prompt); prompt != "" {
		return tool + ` "` + prompt + `"`
	}
	return tool
}

// LineMade finds what brought and what removed a line that a search found, for the command, the picker and the page. For
// what came after the newest checkpoint it names an operation, and only if that is certain.
func LineMade(ctx context.Context, m *timeline.Makers, s search.Span) (came, went timeline.Made, err error) {
	maker := func(seq uint64) (timeline.Made, error) {
		made, err := m.Maker(ctx, s.Path, seq)
		if project.IsDamage(err) {
			return timeline.Made{}, nil // the search reports it
		}
		return made, err
	}
	switch {
	case s.Appeared == nil:
		if came, err = maker(timeline.ThenNow); came.Row != nil && came.Row.Kind != timeline.Operation {
			came.Row = nil
		}
	case !s.Oldest:
		came, err = maker(s.Appeared.Seq)
	}
	if err != nil {
		return came, went, err
	}
	switch {
	case s.Vanished != nil:
		went, err = maker(s.Vanished.Seq)
	case s.Appeared != nil && !s.Now:
		if went, err = maker(timeline.ThenNow); went.Row != nil && went.Row.Side != timeline.Did {
			went.Row = nil
		}
	}
	return came, went, err
}
