package show

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/project"
)

func NewAttempts() *app.Command {
	most := 0
	return &app.Command{
		Name:  "attempts",
		Usage: "[prompt] [--limit N]",
		Short: "show what came of a prompt each time it was tried",
		Long: "Shows the attempts at one prompt: that prompt, and each prompt that was typed at the same\n" +
			"place after a restore to before it, in a fork of the session, or after going back in the\n" +
			"agent itself. Each line has the end of the attempt (the state before the next restore,\n" +
			"its newest checkpoint, or now) and what the attempt changed since the checkpoint of the\n" +
			"first prompt. Changes that only you or other sessions made are not counted. A conversation\n" +
			"that is begun anew, as after /clear, is no part of the attempt before it. * marks the\n" +
			"attempt that the project's files are from.\n" +
			"<prompt> is the checkpoint of a prompt, or one of its turn. The default is the newest\n" +
			"prompt with more than one attempt; if there is none, the command says so and ends with 0.\n" +
			"attempt~N names the end of the N-th attempt at that newest prompt, wherever a checkpoint\n" +
			"can be named. An end that is now has no checkpoint: diff takes the tree for it.",
		Examples: []app.Example{
			{Line: "rewind list --attempts", Does: "the newest prompt that was tried more than once"},
			{Line: "rewind list --attempts prompt~3", Does: "the attempts at the third-last prompt"},
			{Line: "rewind diff attempt~1 attempt~2 --base", Does: "what the first two made of it"},
			{Line: "rewind restore attempt~1", Does: "go back to the first one's end"},
		},
		Answers: app.Answers{"attempts": rows.AttemptsView{}},
		Exits:   []int{app.ExitNotFound, app.ExitDamaged},
		MaxArgs: 1,
		Flags: func(f *pflag.FlagSet) {
			f.IntVarP(&most, "limit", "n", 0, "show at most the newest `N`, 0 for all")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			if most < 0 {
				return app.Usagef("--limit must be 0 or more, not %d", most)
			}
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			f, err := attemptsOf(ctx, c, p)
			if err != nil {
				return err
			}
			if f != nil && most > 0 && len(f.Attempts) > most {
				f.Attempts = f.Attempts[len(f.Attempts)-most:]
			}
			v := attemptsPrinter{c: c, numbered: len(c.Args) == 0}
			if v.Attempts, err = rows.MeasureAttempts(ctx, p, f); err != nil {
				return err
			}
			c.Out.EndProgress()
			if c.JSON {
				return c.Out.Document(v.View())
			}
			return v.print(ctx)
		},
	}
}

// attemptsOf is the fork that the argument means; nil where there is none.
func attemptsOf(ctx context.Context, c *app.Call, p *project.Project) (*attempts.Fork, error) {
	if len(c.Args) == 0 {
		return attempts.Newest(ctx, p)
	}
	l, err := c.Resolve(ctx, p, c.Args[0])
	if err != nil {
		return nil, err
	}
	f, err := attempts.Of(ctx, p, l.Checkpoint)
	if err == nil && f == nil {
		err = app.Hinted(&project.NoCheckpointError{Spec: c.Args[0], Reason: "it belongs to no prompt"}, "rewind list shows the prompts")
	}
	return f, err
}

type attemptsPrinter struct {
	c        *app.Call
	numbered bool // attempt~N means those that are shown
	*rows.Attempts
}

func (v *attemptsPrinter) print(ctx context.Context) error {
	o := v.c.Out
	if v.Fork == nil {
		o.Summary("No prompt has more than one attempt.")
		if !v.c.Quiet {
			o.Hint("rewind restore prompt~1 goes back to before the last prompt; what is typed there is a second attempt")
		}
		return nil
	}
	t := screen.Table{Columns: []screen.Column{{Title: ""}, {Title: "ATTEMPT", Style: screen.Cyan}, {Title: "END", Style: screen.Yellow},
		{Title: "AGE", Right: true}, {Title: "TOOK", Right: true}, {Title: "FILES"}, {Title: "LINES"}, {Title: "TEXT", Flex: true}}}
	mixed, others, also := false, false, false
	for i := range v.Tried {
		a := &v.Tried[i]
		mark := ""
		if a.N == v.Fork.At {
			mark = "*"
		}
		name := strconv.Itoa(a.N)
		if v.numbered {
			name = attempts.Name(a.N)
		}
		files, lines := "?", ""
		if n := a.Changes; n != nil {
			if files = rows.ChangeCounts(uint64(n.Added), uint64(n.Modified), uint64(n.Deleted)); files == "" {
				files = "none"
			}
			if lines = rows.LineCounts(n.LinesAdded, n.LinesDeleted); lines != "" && a.Also > 0 {
				lines += "*"
				also = true
			}
		}
		if a.Others > 0 {
			files += fmt.Sprintf(" (%d)", a.Others)
			others = true
		}
		if a.Mixed {
			files += "!"
			mixed = true
		}
		t.Rows = append(t.Rows, []string{mark, name, endText(a), app.FormatAge(o.Now().Sub(a.Began())), took(a), files, lines, app.FirstLine(a.Prompt.Prompt)})
	}
	return v.c.Page(ctx, func() {
		o.Line("Attempts since %s:", rows.Named(o, v.Fork.Base))
		o.Table(t)
		if mixed {
			o.Summary("%s", o.Color.Paint(screen.Dim, "!: several were at work in the same tree, so this is not its work alone."))
		}
		if others {
			o.Summary("%s", o.Color.Paint(screen.Dim, "(n): n more that only you or other sessions changed; they are not counted."))
		}
		if also {
			o.Summary("%s", o.Color.Paint(screen.Dim, "*: lines that you or other sessions wrote in the same files are counted, too."))
		}
		if v.Fork.At == 0 {
			text := "The project's files are from none of them."
			if v.Present != nil && v.Present.Root == v.Fork.Base.Root {
				text = "The tree is as it was before the prompt."
			}
			o.Summary("%s", text)
		}
		if len(v.Tried) == 1 && v.Tried[0].N == 1 {
			o.Summary("This prompt was tried once: there is no other attempt to compare it with.")
		}
		v.hint()
	})
}

// hint says how two of them are compared.
func (v *attemptsPrinter) hint() {
	if v.c.Quiet || len(v.Tried) < 2 {
		return
	}
	word := func(t *rows.Tried) string {
		switch {
		case v.numbered:
			return attempts.Name(t.N)
		case t.Now:
			return NowWord
		case t.End != nil:
			return t.End.ID.String()[:app.ShortID]
		}
		return ""
	}
	a, b := word(&v.Tried[len(v.Tried)-2]), word(&v.Tried[len(v.Tried)-1])
	if a != "" && b != "" {
		v.c.Out.Hint("rewind diff %s %s --base", a, b)
	}
}

func endText(t *rows.Tried) string {
	switch {
	case t.Now:
		return NowWord
	case t.End == nil:
		return "gone"
	}
	return t.End.ID.String()[:app.ShortID]
}

// took is how long it was between the prompt and the end.
func took(t *rows.Tried) string {
	if d := t.Ended.Sub(t.Began()); !t.Ended.IsZero() && d >= time.Second {
		return app.FormatAge(d)
	}
	return ""
}
