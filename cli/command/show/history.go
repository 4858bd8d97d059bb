package show

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

func NewHistory() *app.Command {
	var (
		patch, noFollow, precious, glob bool
		most                            int
	)
	return &app.Command{
		Name:  "history",
		Usage: "FILE [-p] [--limit N] [--no-follow] [--precious]",
		Short: "show the checkpoints that changed a file",
		Long: "Shows what changed a file, newest first: what happened to it, and the row of rewind list\n" +
			"that did it (a tool call, a prompt, a save, a restore). The first row, @, is what the\n" +
			"working tree has changed since the newest checkpoint. Deleted files have a history, too,\n" +
			"and renames are followed backwards. For a directory, it shows the checkpoints that\n" +
			"changed something below it.\n" +
			"A path that exists, on disk or in any checkpoint, is taken literally. Any other is a glob\n" +
			"that must match one path.",
		Examples: []app.Example{
			{Line: "rewind history src/main.go", Does: "when it changed, and why"},
			{Line: "rewind history -p src/main.go", Does: "with the patch of each step"},
			{Line: "rewind history old/notes.md", Does: "when was it deleted?"},
			{Line: "rewind history src --limit 0", Does: "everything that touched a directory"},
		},
		Exits:   []int{app.ExitBusy, app.ExitDamaged},
		MinArgs: 0, MaxArgs: 1, Paths: true, OnePath: true,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&patch, "patch", "p", false, "with the patch of each step")
			f.IntVar(&most, "limit", 20, "show at most `N` checkpoints, 0 for all")
			f.BoolVar(&noFollow, "no-follow", false, "end at a rename")
			f.BoolVar(&precious, "precious", false, "also show the content of precious files")
			app.GlobFlag(f, &glob)
		},
		Run: func(ctx context.Context, c *app.Call) error {
			if most < 0 {
				return app.Usagef("--limit must be 0 or more, not %d", most)
			}
			arg, err := onePath(c, 0, true)
			if err != nil {
				return err
			}
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			path, err := pathEver(ctx, c, p, arg, glob)
			if err != nil {
				return NoHistory(err)
			}
			release, err := p.Hold(ctx) // the steps, then their contents
			if err != nil {
				return err
			}
			defer release()
			h, err := inspect.History(ctx, p, inspect.HistoryOptions{Path: path, Limit: most, NoFollow: noFollow, WithPrecious: precious})
			if err != nil {
				return NoHistory(err)
			}
			v := HistoryPrinter{C: c, P: p, H: h, Patch: patch, precious: precious}
			if h.Step != nil {
				v.Present, _ = rows.Look(ctx, p) // without the present state, the recorded versions are shown
			}
			v.M = timeline.NewMakers(p, v.Present)
			if n := len(h.Steps); n > 0 {
				v.M.Reach(h.Steps[n-1].Seq)
			}
			c.Out.EndProgress()
			switch {
			case c.JSON:
				return v.json(ctx, path)
			case patch:
				return c.Out.Paged(ctx, c.Env, func() error { return v.patches(ctx) })
			default:
				return c.Out.Paged(ctx, c.Env, func() error { return v.table(ctx) })
			}
		},
	}
}

// pathEver resolves an argument among all paths that there are and ever were.
func pathEver(ctx context.Context, c *app.Call, p *project.Project, arg string, glob bool) (string, error) {
	path, err := app.RootPath(p.Root(), c.Env.Dir, arg)
	if err != nil {
		return "", err
	}
	return inspect.PathEver(ctx, p, pathspec.PathArg{Path: path, Fixed: app.FixedNames(p.Root(), c.Env.Dir, arg), Deep: !app.HasSlash(arg)}, glob)
}

// NoHistory says of a path that no checkpoint has it.
func NoHistory(err error) error {
	var none *project.NoPathError
	if errors.As(err, &none) {
		return app.Hinted(&neverError{none}, "rewind show last --files lists the paths of the newest checkpoint; rewind show last --coverage says what is left out")
	}
	return err
}

// neverError is the message of NoHistory.
type neverError struct{ none *project.NoPathError }

func (e *neverError) Error() string {
	return fmt.Sprintf("no checkpoint ever had the path %q", e.none.Path)
}
func (e *neverError) Unwrap() error { return e.none }

// HistoryPrinter prints the history of one path, in one of its forms.
type HistoryPrinter struct {
	C               *app.Call
	P               *project.Project
	H               *inspect.PathHistory
	M               *timeline.Makers
	Present         *timeline.Present
	Patch, precious bool
}

// Stepped is a step with what made it.
type Stepped struct {
	*inspect.Step
	D   inspect.FileDiff
	Now bool // in the working tree
	By  timeline.Made
}

// Each visits the steps with their diffs, newest first.
func (v *HistoryPrinter) Each(ctx context.Context, visit func(s Stepped) error) error {
	if v.H.Step != nil {
		by, err := v.maker(ctx, v.H.Step, timeline.ThenNow)
		if err != nil {
			return err
		}
		if err := visit(Stepped{v.H.Step, *v.H.Now, true, by}); err != nil {
			return err
		}
	}
	for i := range v.H.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := &v.H.Steps[i]
		d, err := inspect.StepDiff(v.P, s, v.precious)
		if err != nil {
			return err
		}
		by, err := v.maker(ctx, s, s.Seq)
		if err != nil {
			return err
		}
		if err := visit(Stepped{s, d, false, by}); err != nil {
			return err
		}
	}
	return nil
}

func (v *HistoryPrinter) maker(ctx context.Context, s *inspect.Step, seq uint64) (timeline.Made, error) {
	made, err := v.M.Maker(ctx, s.Path, seq)
	if project.IsDamage(err) {
		return timeline.Made{}, nil // verify tells of that
	}
	return made, err
}

// was is the version in the oldest checkpoint, whose author is not known.
func (s *Stepped) was() bool {
	return !s.Now && s.By == timeline.Made{} && s.What == inspect.Created
}

// text is what happened to the path.
func (s *Stepped) text() string {
	text := stepText(s.Step, s.D)
	switch {
	case s.was():
		text = "there" + strings.TrimPrefix(text, string(inspect.Created))
	case s.By.Then() && !s.Now:
		text = "then " + text
	}
	return text
}

// Row is the step as list tells it: number, id, time, why and text.
func (v *HistoryPrinter) Row(ctx context.Context, s *Stepped) (n, id string, at time.Time, why, text string, err error) {
	r, o := s.By.Row, s.By.Owner
	switch {
	case s.was():
		return rows.RowNumber(&timeline.Row{Checkpoint: &s.Listed}), s.ID.String()[:app.ShortID], s.Time, "", "since the oldest checkpoint", nil
	case r != nil && (!s.Now || r.Kind == timeline.Operation):
		return rows.RowNumber(r), rows.RowID(r), r.Time, rows.RowWhy(r), rows.RowText(r, timeline.Counts{}), nil
	case r != nil && (r.Kind == timeline.Tool || r.Kind == timeline.Prompt || r.Kind == timeline.Message):
		return "@", "", s.Time, rows.RowWhy(r), rows.RowText(r, timeline.Counts{}), nil
	case !s.Now: // no row has it: the checkpoint in which it is seen
		why, text = rows.Reason(s.Listed), rows.CheckpointText(s.Listed)
		if o != nil {
			why, text = rows.MakerText(o, s.Path)
		}
		return rows.RowNumber(&timeline.Row{Checkpoint: &s.Listed}), s.ID.String()[:app.ShortID], s.Time, why, text, nil
	}
	if o != nil && len(o.Works()) > 0 {
		why, text = rows.MakerText(o, s.Path)
		return "@", "", s.Time, why, text, nil
	}
	text = "not in a checkpoint yet"
	if r, rerr := v.M.Now(ctx); rerr != nil {
		return "", "", s.Time, "", "", rerr
	} else if r != nil && r.Operation != nil {
		if n, _, err := r.Count(ctx, v.P, v.Present); err == nil {
			text = rows.NowText(r, n)
		}
	}
	return "@", "", s.Time, "", text, nil
}

func (v *HistoryPrinter) table(ctx context.Context) error {
	o := v.C.Out
	t := screen.Table{
		Width: o.Width(),
		Columns: []screen.Column{{Title: "#", Right: true}, {Title: "ID", Style: screen.Yellow}, {Title: "AGE", Right: true},
			{Title: "CHANGE"}, {Title: "WHY", Style: screen.Cyan}, {Title: "TEXT", Flex: true}},
	}
	err := v.Each(ctx, func(s Stepped) error {
		n, id, at, why, text, err := v.Row(ctx, &s)
		if err != nil {
			return err
		}
		age := app.FormatAge(o.Now().Sub(at))
		if n == "@" {
			age = "now"
		}
		t.Rows = append(t.Rows, []string{n, id, age, s.text(), screen.Clip(why, rows.MaxWhy), text})
		return nil
	})
	if err != nil {
		return err
	}
	t.Write(o.Color, func(s string) { o.Line("%s", s) })
	v.tellMore()
	return nil
}

func (v *HistoryPrinter) tellMore() {
	if v.H.More && !v.C.Quiet {
		v.C.Out.Hint("there are older ones; --limit 0 shows all")
	}
}

// patches prints each step with its patch, as git log -p does.
func (v *HistoryPrinter) patches(ctx context.Context) error {
	o := v.C.Out
	err := v.Each(ctx, func(s Stepped) error {
		n, _, at, why, text, err := v.Row(ctx, &s)
		switch {
		case err != nil:
			return err
		case n == "@":
			if why == "" {
				why, text = text, ""
			}
			o.Line("%s", o.Color.Paint(screen.Yellow, "working tree")+", "+strings.TrimSpace(why+"  "+text)+": "+s.text())
		default:
			head := "checkpoint " + s.ID.String() + where(s.Listed)
			if by := s.By.Row; by != nil && by.Checkpoint != nil {
				head = "checkpoint " + by.Checkpoint.ID.String() + where(*by.Checkpoint)
			} else if by != nil {
				head = rows.OperationVerb(by.Operation)
				why = ""
			}
			o.Line("%s", o.Color.Paint(screen.Yellow, head)+", "+app.Ago(o, at)+": "+s.text())
			o.Line("%s", strings.TrimSpace(o.Color.Paint(screen.Cyan, why)+"  "+text))
		}
		if !s.IsDir() {
			o.Line("")
			printPatch(o, s.D)
		}
		o.Line("")
		return nil
	})
	if err == nil {
		v.tellMore()
	}
	return err
}

// stepText is what happened to the path, in a few words.
func stepText(s *inspect.Step, d inspect.FileDiff) string {
	text := string(s.What)
	switch s.What {
	case inspect.Renamed:
		text = "renamed from " + app.EscapePath(s.From)
	case inspect.Deleted:
		if s.To != "" {
			return "renamed to " + app.EscapePath(s.To)
		}
	case inspect.ModeChanged:
		return "mode " + octal(s.Change.Old) + " to " + octal(s.Change.New)
	case inspect.KindChanged:
		return "changed from " + rows.EntryKind(*s.Change.Old) + " to " + rows.EntryKind(*s.Change.New)
	case inspect.NotCaptured:
		return "not captured"
	}
	switch {
	case s.IsDir():
		if b := s.Below; b != (inspect.Counts{}) {
			text += " " + rows.ChangeCounts(uint64(b.Added), uint64(b.Modified), uint64(b.Deleted)) + " files"
		}
	case d.Hidden:
		text += " (precious)"
	case d.Binary:
		text += " (binary)"
	case s.What == inspect.Changed || s.What == inspect.Renamed && d.Added+d.Deleted > 0:
		text += " +" + strconv.Itoa(d.Added) + " -" + strconv.Itoa(d.Deleted)
	case s.What == inspect.Created:
		text += " +" + strconv.Itoa(d.Added)
	case s.What == inspect.Deleted:
		text += " -" + strconv.Itoa(d.Deleted)
	}
	return text
}

func octal(e *manifest.Entry) string { return strconv.FormatUint(uint64(e.Mode), 8) }
