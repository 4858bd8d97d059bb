package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

func newHistory() *command {
	var (
		patch, noFollow, precious, glob bool
		most                            int
	)
	return &command{
		name:  "history",
		usage: "FILE [-p] [--limit N] [--no-follow] [--precious]",
		short: "show the checkpoints that changed a file",
		long: "Shows what changed a file, newest first: what happened to it, and the row of rewind list\n" +
			"that did it (a tool call, a prompt, a save, a restore). The first row, @, is what the\n" +
			"working tree has changed since the newest checkpoint. Deleted files have a history, too,\n" +
			"and renames are followed backwards. For a directory, it shows the checkpoints that\n" +
			"changed something below it.\n" +
			"A path that exists, on disk or in any checkpoint, is taken literally. Any other is a glob\n" +
			"that must match one path.",
		examples: []example{
			{"rewind history src/main.go", "when it changed, and why"},
			{"rewind history -p src/main.go", "with the patch of each step"},
			{"rewind history old/notes.md", "when was it deleted?"},
			{"rewind history src --limit 0", "everything that touched a directory"},
		},
		exits:   []int{exitBusy, exitDamaged},
		minArgs: 0, maxArgs: 1, paths: true, onePath: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&patch, "patch", "p", false, "with the patch of each step")
			f.IntVar(&most, "limit", 20, "show at most `N` checkpoints, 0 for all")
			f.BoolVar(&noFollow, "no-follow", false, "end at a rename")
			f.BoolVar(&precious, "precious", false, "also show the content of precious files")
			globFlag(f, &glob)
		},
		run: func(ctx context.Context, c *call) error {
			if most < 0 {
				return usagef("--limit must be 0 or more, not %d", most)
			}
			arg, err := c.onePath(0, true)
			if err != nil {
				return err
			}
			p, err := c.open(ctx)
			if err != nil {
				return err
			}
			path, err := c.pathEver(ctx, p, arg, glob)
			if err != nil {
				return noHistory(err)
			}
			release, err := p.Hold(ctx) // the steps, then their contents
			if err != nil {
				return err
			}
			defer release()
			h, err := inspect.History(ctx, p, inspect.HistoryOptions{Path: path, Limit: most, NoFollow: noFollow, WithPrecious: precious})
			if err != nil {
				return noHistory(err)
			}
			v := historyPrinter{c: c, p: p, h: h, patch: patch, precious: precious}
			if h.Step != nil {
				v.present, _ = look(ctx, p) // without it, it is told what is known
			}
			v.m = timeline.NewMakers(p, v.present)
			if n := len(h.Steps); n > 0 {
				v.m.Reach(h.Steps[n-1].Seq)
			}
			c.out.endProgress()
			switch {
			case c.json:
				return v.json(ctx, path)
			case patch:
				return c.out.paged(ctx, c.env, func() error { return v.patches(ctx) })
			default:
				return c.out.paged(ctx, c.env, func() error { return v.table(ctx) })
			}
		},
	}
}

// pathEver resolves an argument among all paths that there are and ever were.
func (c *call) pathEver(ctx context.Context, p *project.Project, arg string, glob bool) (string, error) {
	path, err := rootPath(p.Root(), c.env.Dir, arg)
	if err != nil {
		return "", err
	}
	return inspect.PathEver(ctx, p, pathspec.PathArg{Path: path, Fixed: fixedNames(p.Root(), c.env.Dir, arg), Deep: !hasSlash(arg)}, glob)
}

// noHistory says of a path that no checkpoint has it.
func noHistory(err error) error {
	var none *project.NoPathError
	if errors.As(err, &none) {
		return &hintedError{&neverError{none}, "rewind show last --files lists the paths of the newest checkpoint; rewind show last --coverage says what is left out"}
	}
	return err
}

// neverError is the message of noHistory.
type neverError struct{ none *project.NoPathError }

func (e *neverError) Error() string {
	return fmt.Sprintf("no checkpoint ever had the path %q", e.none.Path)
}
func (e *neverError) Unwrap() error { return e.none }

// historyPrinter prints the history of one path, in one of its forms.
type historyPrinter struct {
	c               *call
	p               *project.Project
	h               *inspect.PathHistory
	m               *timeline.Makers
	present         *timeline.Present
	patch, precious bool
}

// stepped is a step with what made it.
type stepped struct {
	*inspect.Step
	d   inspect.FileDiff
	now bool // in the working tree
	by  timeline.Made
}

// each visits the steps with their diffs, newest first.
func (v *historyPrinter) each(ctx context.Context, visit func(s stepped) error) error {
	if v.h.Step != nil {
		by, err := v.maker(ctx, v.h.Step, timeline.ThenNow)
		if err != nil {
			return err
		}
		if err := visit(stepped{v.h.Step, *v.h.Now, true, by}); err != nil {
			return err
		}
	}
	for i := range v.h.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := &v.h.Steps[i]
		d, err := inspect.StepDiff(v.p, s, v.precious)
		if err != nil {
			return err
		}
		by, err := v.maker(ctx, s, s.Seq)
		if err != nil {
			return err
		}
		if err := visit(stepped{s, d, false, by}); err != nil {
			return err
		}
	}
	return nil
}

func (v *historyPrinter) maker(ctx context.Context, s *inspect.Step, seq uint64) (timeline.Made, error) {
	made, err := v.m.Maker(ctx, s.Path, seq)
	if project.IsDamage(err) {
		return timeline.Made{}, nil // verify tells of that
	}
	return made, err
}

// was is what the oldest checkpoint has, and nobody is known to have made.
func (s *stepped) was() bool {
	return !s.now && s.by == timeline.Made{} && s.What == inspect.Created
}

// text is what happened to the path.
func (s *stepped) text() string {
	text := stepText(s.Step, s.d)
	switch {
	case s.was():
		text = "there" + strings.TrimPrefix(text, string(inspect.Created))
	case s.by.Then() && !s.now:
		text = "then " + text
	}
	return text
}

// row is the step as list tells it: number, id, time, why and text.
func (v *historyPrinter) row(ctx context.Context, s *stepped) (n, id string, at time.Time, why, text string, err error) {
	r, o := s.by.Row, s.by.Owner
	switch {
	case s.was():
		return rowNumber(&timeline.Row{Checkpoint: &s.Listed}), s.ID.String()[:shortID], s.Time, "", "since the oldest checkpoint", nil
	case r != nil && (!s.now || r.Kind == timeline.Operation):
		return rowNumber(r), rowID(r), r.Time, rowWhy(r), rowText(r, timeline.Counts{}), nil
	case r != nil && (r.Kind == timeline.Tool || r.Kind == timeline.Prompt || r.Kind == timeline.Message):
		return "@", "", s.Time, rowWhy(r), rowText(r, timeline.Counts{}), nil
	case !s.now: // no row has it: the checkpoint in which it is seen
		why, text = reason(s.Listed), checkpointText(s.Listed)
		if o != nil {
			why, text = makerText(o, s.Path)
		}
		return rowNumber(&timeline.Row{Checkpoint: &s.Listed}), s.ID.String()[:shortID], s.Time, why, text, nil
	}
	if o != nil && len(o.Works()) > 0 {
		why, text = makerText(o, s.Path)
		return "@", "", s.Time, why, text, nil
	}
	text = "not in a checkpoint yet"
	if r, rerr := v.m.Now(ctx); rerr != nil {
		return "", "", s.Time, "", "", rerr
	} else if r != nil && r.Operation != nil {
		if n, _, err := r.Count(ctx, v.p, v.present); err == nil {
			text = nowText(r, n)
		}
	}
	return "@", "", s.Time, "", text, nil
}

func (v *historyPrinter) table(ctx context.Context) error {
	o := v.c.out
	t := screen.Table{
		Width: o.width(),
		Columns: []screen.Column{{Title: "#", Right: true}, {Title: "ID", Style: screen.Yellow}, {Title: "AGE", Right: true},
			{Title: "CHANGE"}, {Title: "WHY", Style: screen.Cyan}, {Title: "TEXT", Flex: true}},
	}
	err := v.each(ctx, func(s stepped) error {
		n, id, at, why, text, err := v.row(ctx, &s)
		if err != nil {
			return err
		}
		age := formatAge(o.now().Sub(at))
		if n == "@" {
			age = "now"
		}
		t.Rows = append(t.Rows, []string{n, id, age, s.text(), screen.Clip(why, maxWhy), text})
		return nil
	})
	if err != nil {
		return err
	}
	t.Write(o.color, func(s string) { o.line("%s", s) })
	v.tellMore()
	return nil
}

func (v *historyPrinter) tellMore() {
	if v.h.More && !v.c.quiet {
		v.c.out.hint("there are older ones; --limit 0 shows all")
	}
}

// patches prints each step with its patch, as git log -p does.
func (v *historyPrinter) patches(ctx context.Context) error {
	o := v.c.out
	err := v.each(ctx, func(s stepped) error {
		n, _, at, why, text, err := v.row(ctx, &s)
		switch {
		case err != nil:
			return err
		case n == "@":
			if why == "" {
				why, text = text, ""
			}
			o.line("%s", o.color.Paint(screen.Yellow, "working tree")+", "+strings.TrimSpace(why+"  "+text)+": "+s.text())
		default:
			head := "checkpoint " + s.ID.String() + where(s.Listed)
			if by := s.by.Row; by != nil && by.Checkpoint != nil {
				head = "checkpoint " + by.Checkpoint.ID.String() + where(*by.Checkpoint)
			} else if by != nil {
				head = operationVerb(by.Operation)
				why = ""
			}
			o.line("%s", o.color.Paint(screen.Yellow, head)+", "+ago(o, at)+": "+s.text())
			o.line("%s", strings.TrimSpace(o.color.Paint(screen.Cyan, why)+"  "+text))
		}
		if !s.IsDir() {
			o.line("")
			printPatch(o, s.d)
		}
		o.line("")
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
		text = "renamed from " + escapePath(s.From)
	case inspect.Deleted:
		if s.To != "" {
			return "renamed to " + escapePath(s.To)
		}
	case inspect.ModeChanged:
		return "mode " + octal(s.Change.Old) + " to " + octal(s.Change.New)
	case inspect.KindChanged:
		return "changed from " + entryKind(*s.Change.Old) + " to " + entryKind(*s.Change.New)
	case inspect.NotCaptured:
		return "not captured"
	}
	switch {
	case s.IsDir():
		if b := s.Below; b != (inspect.Counts{}) {
			text += " " + changeCounts(uint64(b.Added), uint64(b.Modified), uint64(b.Deleted)) + " files"
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
