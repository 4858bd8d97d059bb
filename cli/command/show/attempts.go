package show

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
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
			"first prompt. Changes that only you or other sessions made are not counted. * marks the\n" +
			"attempt that the project's files are from.\n" +
			"<prompt> is the checkpoint of a prompt, or one of its turn. The default is the newest\n" +
			"prompt with more than one attempt; if there is none, the command says so and ends with 0.\n" +
			"attempt~N names the end of the N-th attempt at that newest prompt, wherever a checkpoint\n" +
			"can be named.",
		Examples: []app.Example{
			{Line: "rewind list --attempts", Does: "the newest prompt that was tried more than once"},
			{Line: "rewind list --attempts prompt~3", Does: "the attempts at the third-last prompt"},
			{Line: "rewind diff attempt~1 attempt~2 --base", Does: "what the first two made of it"},
			{Line: "rewind restore attempt~1", Does: "go back to the first one's end"},
		},
		Answers: app.Answers{"attempts": attemptsView{}},
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
			v := attemptsPrinter{c: c, p: p, f: f, numbered: len(c.Args) == 0}
			if f != nil {
				if n := len(f.Attempts); most > 0 && n > most {
					f.Attempts = f.Attempts[n-most:]
				}
				if err := v.measure(ctx); err != nil {
					return err
				}
			}
			c.Out.EndProgress()
			if c.JSON {
				return v.json()
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

// tried is an attempt with what it changed.
type tried struct {
	attempts.Attempt
	now     bool // its end is the working tree
	ended   time.Time
	changes *inspect.Totals // nil: not known
	others  int             // paths that are not counted there: others changed them
	also    int             // paths there that others changed, too
}

type attemptsPrinter struct {
	c        *app.Call
	p        *project.Project
	f        *attempts.Fork // nil: there is none
	numbered bool           // attempt~N means those of f
	present  *timeline.Present
	tried    []tried
}

// measure finds the ends, and what each attempt changed.
func (v *attemptsPrinter) measure(ctx context.Context) error {
	v.present, _ = rows.Look(ctx, v.p) // without it, the ends are what is known
	stretches := make([]inspect.Stretch, len(v.f.Attempts))
	for i, a := range v.f.Attempts {
		stretches[i] = inspect.Stretch{Session: a.Prompt.Session, From: a.Prompt.Seq}
		if a.End != nil && (!a.Open || v.present == nil || v.present.Root == a.End.Root) {
			stretches[i].To = &a.End.Checkpoint
		} else if !a.Open || v.present == nil {
			stretches[i].To = &a.Prompt.Checkpoint // it is not known
		}
	}
	others, err := inspect.OthersIn(ctx, v.p, stretches...)
	if err != nil {
		return err
	}
	for i, a := range v.f.Attempts {
		t := tried{Attempt: a}
		var end *manifest.Checkpoint
		if a.End != nil {
			end, t.ended = &a.End.Checkpoint, a.End.Time
		}
		if a.Open && v.present != nil && (end == nil || v.present.Root != end.Root) {
			t.now, t.ended, end = true, v.present.Time, nil
		}
		if t.now || end != nil {
			n, left, also, err := inspect.DiffTotals(ctx, v.p, inspect.DiffOptions{A: v.f.Base.Checkpoint, B: end, Renames: true}, others[i])
			switch {
			case project.IsDamage(err): // verify tells of that
			case err != nil:
				return err
			default:
				t.changes, t.others, t.also = &n, left, also
			}
		}
		v.tried = append(v.tried, t)
	}
	return nil
}

func (v *attemptsPrinter) print(ctx context.Context) error {
	o := v.c.Out
	if v.f == nil {
		o.Summary("No prompt has more than one attempt.")
		if !v.c.Quiet {
			o.Hint("rewind restore prompt~1 goes back to before the last prompt; what is typed there is a second attempt")
		}
		return nil
	}
	t := screen.Table{Columns: []screen.Column{{Title: ""}, {Title: "ATTEMPT", Style: screen.Cyan}, {Title: "END", Style: screen.Yellow},
		{Title: "AGE", Right: true}, {Title: "TOOK", Right: true}, {Title: "FILES"}, {Title: "LINES"}, {Title: "TEXT", Flex: true}}}
	mixed, others, also := false, false, false
	for i := range v.tried {
		a := &v.tried[i]
		mark := ""
		if a.Open {
			mark = "*"
		}
		name := strconv.Itoa(a.N)
		if v.numbered {
			name = attempts.Name(a.N)
		}
		files, lines := "?", ""
		if n := a.changes; n != nil {
			if files = rows.ChangeCounts(uint64(n.Added), uint64(n.Modified), uint64(n.Deleted)); files == "" {
				files = "none"
			}
			if lines = lineCounts(n.LinesAdded, n.LinesDeleted); lines != "" && a.also > 0 {
				lines += "*"
				also = true
			}
		}
		if a.others > 0 {
			files += fmt.Sprintf(" (%d)", a.others)
			others = true
		}
		if a.Mixed {
			files += "!"
			mixed = true
		}
		t.Rows = append(t.Rows, []string{mark, name, a.endText(), app.FormatAge(o.Now().Sub(a.Began())), a.took(), files, lines, app.FirstLine(a.Prompt.Prompt)})
	}
	return v.c.Page(ctx, func() {
		o.Line("Attempts since %s:", rows.Named(o, v.f.Base))
		o.Table(t)
		if mixed {
			o.Summary("%s", o.Color.Paint(screen.Dim, "!: several were at work in the same tree, so this is not its work alone."))
		}
		if others {
			o.Summary("%s", o.Color.Paint(screen.Dim, "(n): n more that only you or other sessions changed meanwhile; they are not counted."))
		}
		if also {
			o.Summary("%s", o.Color.Paint(screen.Dim, "*: lines that you or other sessions wrote in the same files are counted, too."))
		}
		if v.f.At == 0 {
			text := "The project's files are from none of them."
			if v.present != nil && v.present.Root == v.f.Base.Root {
				text = "The tree is as it was before the prompt."
			}
			o.Summary("%s", text)
		}
		if len(v.tried) == 1 && v.tried[0].N == 1 {
			o.Summary("This prompt was tried once: there is no other attempt to compare it with.")
		}
		v.hint()
	})
}

// hint says how two of them are compared.
func (v *attemptsPrinter) hint() {
	if v.c.Quiet || len(v.tried) < 2 {
		return
	}
	word := func(t *tried) string {
		switch {
		case v.numbered:
			return attempts.Name(t.N)
		case t.now:
			return NowWord
		case t.End != nil:
			return t.End.ID.String()[:app.ShortID]
		}
		return ""
	}
	a, b := word(&v.tried[len(v.tried)-2]), word(&v.tried[len(v.tried)-1])
	if a != "" && b != "" {
		v.c.Out.Hint("rewind diff %s %s --base", a, b)
	}
}

func (t *tried) endText() string {
	switch {
	case t.now:
		return NowWord
	case t.End == nil:
		return "gone"
	}
	return t.End.ID.String()[:app.ShortID]
}

// took is how long it was between the prompt and the end.
func (t *tried) took() string {
	if d := t.ended.Sub(t.Began()); !t.ended.IsZero() && d >= time.Second {
		return app.FormatAge(d)
	}
	return ""
}

// lineCounts are lines in signs: +12 -3.
func lineCounts(added, deleted int) string {
	if added+deleted == 0 {
		return ""
	}
	return strings.TrimSpace("+" + strconv.Itoa(added) + " -" + strconv.Itoa(deleted))
}

// attemptsView is what attempts --json prints; docs/schema/attempts.schema.json describes it.
type attemptsView struct {
	Base     *rows.CheckpointView `json:"base"` // the checkpoint of the first attempt's prompt; null: no prompt has more than one attempt
	At       int                  `json:"at"`   // number of the attempt that the tree is at, 0 for none
	AtBase   bool                 `json:"at_base"`
	Attempts []attemptView        `json:"attempts"`
}

type attemptView struct {
	N          int                  `json:"n"`
	Prompt     string               `json:"prompt"`
	PromptID   string               `json:"prompt_id"`
	SessionID  string               `json:"session_id"`
	Agent      string               `json:"agent"`
	Checkpoint rows.CheckpointView  `json:"checkpoint"` // of its prompt
	End        *rows.CheckpointView `json:"end"`        // null: collected, or now
	Now        bool                 `json:"now"`        // its end is the working tree
	Current    bool                 `json:"current"`
	Began      string               `json:"began"`
	Ended      *string              `json:"ended"`
	Prompts    int                  `json:"prompts"`     // typed in it
	Mixed      bool                 `json:"mixed"`       // another was at work in the same tree
	Changes    *totalsView          `json:"changes"`     // against base; null: not known
	Others     int                  `json:"others"`      // paths that are not in changes: only others changed them
	OthersAlso int                  `json:"others_also"` // paths in changes that others changed, too
}

type totalsView struct {
	Added        int `json:"added"`
	Modified     int `json:"modified"`
	Deleted      int `json:"deleted"`
	LinesAdded   int `json:"lines_added"`
	LinesDeleted int `json:"lines_deleted"`
}

func (v *attemptsPrinter) json() error {
	doc := attemptsView{Attempts: []attemptView{}}
	if v.f != nil {
		doc.Base, doc.At = new(rows.ViewCheckpoint(v.f.Base)), v.f.At
		doc.AtBase = v.f.At == 0 && v.present != nil && v.present.Root == v.f.Base.Root && v.present.Root != (oid.ID{})
	}
	for i := range v.tried {
		t := &v.tried[i]
		c := &t.Prompt
		w := attemptView{N: t.N, Prompt: c.Prompt, PromptID: c.PromptID, SessionID: c.Session, Agent: c.Agent, Checkpoint: rows.ViewCheckpoint(*c),
			Now: t.now, Current: t.Open, Began: app.ViewTime(t.Began()), Prompts: t.Prompts, Mixed: t.Mixed, Others: t.others, OthersAlso: t.also}
		if t.End != nil && !t.now {
			w.End = new(rows.ViewCheckpoint(*t.End))
		}
		if !t.ended.IsZero() {
			w.Ended = new(app.ViewTime(t.ended))
		}
		if t.changes != nil {
			w.Changes = new(totalsView(*t.changes))
		}
		doc.Attempts = append(doc.Attempts, w)
	}
	return v.c.Out.Document(doc)
}
