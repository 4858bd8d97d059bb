package cli

import (
	"context"
	"strings"

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
	Changes    changesView       `json:"changes"`
	States     int               `json:"states"`
	MadeBy     *madeByView       `json:"made_by"` // null where it is not known, or among several
	Steps      []bisectStepView  `json:"steps"`
	Scratch    *pathView         `json:"scratch"`

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
	id, t := st.ID.String(), viewTime(st.Time)
	return bisectStateView{Checkpoint: &id, N: st.N, Time: &t, Kind: string(st.Kind), Description: st.Description, Name: st.Name}
}

// notFoundError: bisect has no answer. It has been printed.
type notFoundError struct{ msg, hint string }

func (e *notFoundError) Error() string { return e.msg }

// report prints the answer.
func (b *bisecting) report(v bisectView) error {
	o, last := b.c.out, len(b.s.List)-1
	v.Steps = b.steps
	var made timeline.Made
	if v.LastGood != nil {
		v.Tool, v.Prompt = b.brought(v.Before, v.After)
		made = b.maker(v)
		v.MadeBy = viewMaker(context.Background(), b.m, made)
	}
	by := made.Row
	var none error
	switch v.Result {
	case "good":
		none = &notFoundError{"the command succeeds at " + b.name(last) + " too: there is nothing to find", "choose a later end with --bad, or a command that fails there"}
	case "bad":
		none = &notFoundError{"the command fails at " + b.name(0) + " already", "choose a state at which it succeeds with --good; the command may need paths that are not captured, such as node_modules"}
	case "skipped":
		none = &notFoundError{"only states are left that the command skips", "the first that fails is one of those listed"}
	}
	if o.json {
		if err := o.document(v); err != nil {
			return err
		}
		return none
	}
	if v.LastGood == nil {
		return none
	}
	if v.FirstBad != nil {
		o.line("First bad: %s", b.name(v.After))
	} else {
		o.line("First bad: one of")
		for i := v.Before + 1; i <= v.After; i++ {
			o.line("  %s", b.name(i))
		}
	}
	o.line("Last good: %s", b.nameOf(b.s.List[v.Before].Last))
	switch {
	case by != nil:
		b.printMaker(by)
	case made.Owner != nil:
		o.line("Made %s", strings.Replace(byMaker(made.Owner, ""), "by ", "by:   ", 1))
	default:
		if v.Tool != "" {
			o.line("Tool:      %s", escape(v.Tool))
		}
		if text := firstLine(v.Prompt); text != "" {
			o.line("Prompt:    %s", text)
		}
	}
	o.line("Changed between them:")
	for n, ch := range v.list {
		if n == maxNamed {
			o.line("  … and %s", plural(len(v.list)-n, "other", "others"))
			break
		}
		printChange(o, ch, "")
	}
	good, bad := b.s.List[v.Before].Last, b.s.List[v.After]
	from := good.ID.String()[:shortID]
	to := ""
	if !bad.Now {
		to = " " + bad.ID.String()[:shortID]
	}
	back := from
	if by != nil && by.Side == timeline.Did && by.Checkpoint != nil && by.Checkpoint.N > 0 && by.Checkpoint.Root == good.Root {
		back = utoa(uint64(by.Checkpoint.N))
	}
	o.hint("rewind diff %s%s shows what changed, rewind restore %s goes back to before it", from, to, back)
	if revert, what := revertOf(made); revert != "" {
		o.hint("%s takes back %s alone, and keeps what came since", revert, what)
	}
	if v.Scratch != nil {
		o.line("The scratch copy is %s.", escape(b.s.Dir()))
	}
	return none
}

// revertOf is the command that takes back the call, or the turn, that made a change; "" where no agent's is known.
func revertOf(made timeline.Made) (command, what string) {
	r := made.Row
	switch {
	case r != nil && r.Side == timeline.Did && r.Checkpoint != nil && r.Checkpoint.Session != "" && r.Kind != timeline.Operation:
		if call := r.Checkpoint.ToolUseID; r.Kind == timeline.Tool && call != "" {
			return "rewind revert --tool " + shellQuote(call), "that call"
		}
		return "rewind revert " + r.Checkpoint.ID.String()[:shortID], "that turn"
	case made.Owner == nil:
		return "", ""
	}
	if by, one := made.Owner.Maker(); one && by != nil && by.Operation == 0 && by.Call != "" {
		return "rewind revert --tool " + shellQuote(by.Call), "that call"
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
	n := rowNumber(r)
	if n != "" {
		n += " "
	}
	line := n + rowWhy(r)
	if text := rowText(r, timeline.Counts{}); text != "" {
		line += "  " + text
	}
	if r.Kind == timeline.Tool {
		if prompt, err := b.m.Prompt(context.Background(), r); err == nil && prompt != "" {
			said := firstLine(prompt)
			line += " (prompt " + quoted(said) + ")"
		}
	}
	word := "by:  "
	if r.Side == timeline.After {
		word = "after:"
	}
	b.c.out.line("Made %s %s", word, line)
}
