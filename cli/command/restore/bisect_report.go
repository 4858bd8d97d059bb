package restore

import (
	"context"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/bisect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// bisectView answers bisect.
type bisectView struct {
	Result     string            `json:"result"` // found, good, bad, skipped
	FirstBad   *bisectStateView  `json:"first_bad"`
	LastGood   *bisectStateView  `json:"last_good"`
	Candidates []bisectStateView `json:"candidates"`
	Tool       string            `json:"tool"`
	Prompt     string            `json:"prompt"`
	Changes    rows.ChangesView  `json:"changes"`
	States     int               `json:"states"`
	MadeBy     *rows.MadeByView  `json:"made_by"` // null where it is not known, or among several
	Steps      []bisectStepView  `json:"steps"`
	Scratch    *app.PathView     `json:"scratch"`

	Before, After int               `json:"-"`
	list          []manifest.Change // what Changes shows
}

// bisectStateView is a state; the working tree has no checkpoint.
type bisectStateView struct {
	Checkpoint  *string `json:"checkpoint"`
	N           int     `json:"n"`
	Time        *string `json:"time"`
	Kind        string  `json:"kind"`
	Description string  `json:"description"`
	Name        string  `json:"name"`
	Now         bool    `json:"now"`
}

type bisectStepView struct {
	bisectStateView
	Verdict  bisect.Verdict `json:"verdict"`
	ExitCode int            `json:"exit_code"`
}

func (b *bisecting) view(i int) bisectStateView {
	st := b.s.List[i]
	if st.Now {
		return bisectStateView{Now: true, Kind: "now"}
	}
	return viewState(st.Listed)
}

func viewState(st project.Listed) bisectStateView {
	return bisectStateView{Checkpoint: new(st.ID.String()), N: st.N, Time: new(app.ViewTime(st.Time)), Kind: string(st.Kind), Description: st.Description, Name: st.Name}
}

// report prints the answer.
func (b *bisecting) report(v bisectView) error {
	o, last := b.c.Out, len(b.s.List)-1
	v.Steps = b.steps
	var made timeline.Made
	if v.LastGood != nil {
		v.Tool, v.Prompt = b.brought(v.Before, v.After)
		made = b.maker(v)
		v.MadeBy = rows.ViewMaker(context.Background(), b.m, made)
	}
	by := made.Row
	var none error
	switch v.Result {
	case "good":
		none = app.NoAnswer("the command succeeds at "+b.name(last)+" too: there is nothing to find", "choose a later end with --bad, or a command that fails there")
	case "bad":
		none = app.NoAnswer("the command fails at "+b.name(0)+" already", "choose a state at which it succeeds with --good; the command may need paths that are not captured, such as node_modules")
	case "skipped":
		none = app.NoAnswer("only states are left that the command skips", "the first that fails is one of those listed")
	}
	if o.JSON {
		if err := o.Document(v); err != nil {
			return err
		}
		return none
	}
	if v.LastGood == nil {
		return none
	}
	if v.FirstBad != nil {
		o.Line("First bad: %s", b.name(v.After))
	} else {
		o.Line("First bad: one of")
		for i := v.Before + 1; i <= v.After; i++ {
			o.Line("  %s", b.name(i))
		}
	}
	o.Line("Last good: %s", b.nameOf(b.s.List[v.Before].Last))
	switch {
	case by != nil:
		b.printMaker(by)
	case made.Owner != nil:
		o.Line("Made %s", strings.Replace(rows.ByMaker(made.Owner, ""), "by ", "by:   ", 1))
	default:
		if v.Tool != "" {
			o.Line("Tool:      %s", app.Escape(v.Tool))
		}
		if text := app.FirstLine(v.Prompt); text != "" {
			o.Line("Prompt:    %s", text)
		}
	}
	o.Line("Changed between them:")
	for n, ch := range v.list {
		if n == app.MaxNamed {
			o.Line("  … and %s", app.Plural(len(v.list)-n, "other", "others"))
			break
		}
		rows.PrintChange(o, ch, "")
	}
	good, bad := b.s.List[v.Before].Last, b.s.List[v.After]
	from := good.ID.String()[:app.ShortID]
	to := ""
	if !bad.Now {
		to = " " + bad.ID.String()[:app.ShortID]
	}
	back := from
	if by != nil && by.Side == timeline.Did && by.Checkpoint != nil && by.Checkpoint.N > 0 && by.Checkpoint.Root == good.Root {
		back = app.Utoa(uint64(by.Checkpoint.N))
	}
	o.Hint("rewind diff %s%s shows what changed, rewind restore %s goes back to before it", from, to, back)
	if revert, what := revertOf(made); revert != "" {
		o.Hint("%s takes back %s alone, and keeps what came since", revert, what)
	}
	if v.Scratch != nil {
		o.Line("The scratch copy is %s.", app.Escape(b.s.Dir()))
	}
	return none
}

// revertOf is the command that takes back the call, or the turn, that made a change; "" where no agent's is known.
func revertOf(made timeline.Made) (command, what string) {
	r := made.Row
	switch {
	case r != nil && r.Side == timeline.Did && r.Checkpoint != nil && r.Checkpoint.Session != "" && r.Kind != timeline.Operation:
		if call := r.Checkpoint.ToolUseID; r.Kind == timeline.Tool && call != "" {
			return "rewind revert --tool " + app.ShellQuote(call), "that call"
		}
		return "rewind revert " + r.Checkpoint.ID.String()[:app.ShortID], "that turn"
	case made.Owner == nil:
		return "", ""
	}
	if by, one := made.Owner.Maker(); one && by != nil && by.Operation == 0 && by.Call != "" {
		return "rewind revert --tool " + app.ShellQuote(by.Call), "that call"
	}
	return "", ""
}

// maker is what made the first bad state of the last good one.
func (b *bisecting) maker(v bisectView) timeline.Made {
	if v.FirstBad == nil {
		return timeline.Made{}
	}
	to := uint64(timeline.ThenNow)
	if bad := b.s.List[v.After]; !bad.Now {
		to = bad.Seq
	}
	// The search is done: without its maker the answer says less.
	made, err := b.m.Between(context.Background(), "", b.s.List[v.Before].Last.Seq, to)
	if err != nil {
		return timeline.Made{}
	}
	return made
}

func (b *bisecting) printMaker(r *timeline.Row) {
	n := rows.RowNumber(r)
	if n != "" {
		n += " "
	}
	line := n + rows.RowWhy(r)
	if text := rows.RowText(r, timeline.Counts{}); text != "" {
		line += "  " + text
	}
	if r.Kind == timeline.Tool {
		if prompt, err := b.m.Prompt(context.Background(), r); err == nil && prompt != "" {
			label := app.FirstLine(prompt)
			line += " (prompt " + rows.Quoted(label) + ")"
		}
	}
	word := "by:  "
	if r.Side == timeline.After {
		word = "after:"
	}
	b.c.Out.Line("Made %s %s", word, line)
}
