package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine"
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
		usage: "FILE [-p] [--limit N] [--no-follow] [--precious] [--glob]",
		short: "show the checkpoints that changed a file",
		long: "Shows the checkpoints that changed a file, newest first: number, id, age, what happened\n" +
			"to it, and the tool or the prompt. The first row, @, is what the working tree has\n" +
			"changed since the newest checkpoint. A file that was deleted has its history too;\n" +
			"renames are followed backwards: the same that diff shows. Of a\n" +
			"directory, it shows the checkpoints that changed something in it.\n" +
			"A path that exists, on disk or in any checkpoint, is taken literally; any other is a\n" +
			"glob that must match one path.",
		examples: []example{
			{"rewind history src/main.go", "when it changed, and why"},
			{"rewind history -p src/main.go", "with the patch of each step"},
			{"rewind history old/notes.md", "when was it deleted?"},
			{"rewind history src --limit 0", "everything that touched a directory"},
		},
		exits:   []int{exitBusy, exitDamaged},
		minArgs: 0, maxArgs: 1, paths: true,
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
			h, err := engine.History(ctx, p, engine.HistoryOptions{Path: path, Limit: most, NoFollow: noFollow, WithPrecious: precious})
			if err != nil {
				return noHistory(err)
			}
			v := historyPrinter{c: c, p: p, h: h, patch: patch, precious: precious}
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
	return engine.PathEver(ctx, p, pathspec.PathArg{Path: path, Fixed: fixedNames(p.Root(), c.env.Dir, arg), Deep: !hasSlash(arg)}, glob)
}

// noHistory says of a path that no checkpoint has it.
func noHistory(err error) error {
	var none *project.NoPathError
	if errors.As(err, &none) {
		return &hintedError{fmt.Errorf("no checkpoint ever had the path %q", none.Path), "rewind ls last lists the paths of the newest checkpoint; rewind show last --coverage says what is left out"}
	}
	return err
}

// historyPrinter prints the history of one path, in one of its forms.
type historyPrinter struct {
	c               *call
	p               *project.Project
	h               *engine.PathHistory
	patch, precious bool
}

// each visits the steps with their diffs, newest first; of the working tree, now is set.
func (v *historyPrinter) each(ctx context.Context, visit func(s *engine.Step, d engine.FileDiff, now bool) error) error {
	if v.h.Step != nil {
		if err := visit(v.h.Step, *v.h.Now, true); err != nil {
			return err
		}
	}
	for i := range v.h.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := &v.h.Steps[i]
		d, err := engine.StepDiff(v.p, s, v.precious)
		if err != nil {
			return err
		}
		if err := visit(s, d, false); err != nil {
			return err
		}
	}
	return nil
}

func (v *historyPrinter) table(ctx context.Context) error {
	o := v.c.out
	t := screen.Table{
		Width: o.width(),
		Columns: []screen.Column{{Title: "#", Right: true}, {Title: "ID", Style: screen.Yellow}, {Title: "AGE", Right: true},
			{Title: "CHANGE"}, {Title: "WHY", Style: screen.Cyan}, {Title: "TEXT", Flex: true}},
	}
	err := v.each(ctx, func(s *engine.Step, d engine.FileDiff, now bool) error {
		if now {
			t.Rows = append(t.Rows, []string{"@", "", "now", stepText(s, d), "", "not in a checkpoint yet"})
			return nil
		}
		r := s.By
		t.Rows = append(t.Rows, []string{rowNumber(r), rowID(r), formatAge(o.now().Sub(r.Time)), tellerSide(r, s.Listed) + stepText(s, d), rowWhy(r), rowText(r, timeline.Counts{})})
		return nil
	})
	if err != nil {
		return err
	}
	t.Write(o.color, func(s string) { o.line("%s", s) })
	v.tellMore()
	return nil
}

// tellerSide says where a change at a checkpoint lies to the row that tells of it.
func tellerSide(r *timeline.Row, at project.Listed) string {
	switch {
	case r.Side == timeline.Since, r.Operation != nil:
		return ""
	case r.Seq == at.Seq:
		return "before: "
	case r.Side == timeline.After:
		return "then "
	}
	return ""
}

func (v *historyPrinter) tellMore() {
	if v.h.More && !v.c.quiet {
		v.c.out.hint("there are older ones; --limit 0 shows all")
	}
}

// patches prints each step with its patch, as git log -p does.
func (v *historyPrinter) patches(ctx context.Context) error {
	o := v.c.out
	err := v.each(ctx, func(s *engine.Step, d engine.FileDiff, now bool) error {
		if now {
			o.line("%s", o.color.Paint(screen.Yellow, "working tree")+", not in a checkpoint yet: "+stepText(s, d))
		} else {
			r := s.By
			head := "operation"
			if c := r.Checkpoint; c != nil {
				head = "checkpoint " + c.ID.String()
			}
			head = o.color.Paint(screen.Yellow, head)
			if c := r.Checkpoint; c != nil {
				head += where(*c)
			}
			o.line("%s", head+", "+ago(o, r.Time)+": "+tellerSide(r, s.Listed)+stepText(s, d))
			o.line("%s", strings.TrimSpace(o.color.Paint(screen.Cyan, rowWhy(r))+"  "+rowText(r, timeline.Counts{})))
		}
		if !s.IsDir() {
			o.line("")
			printPatch(o, d)
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
func stepText(s *engine.Step, d engine.FileDiff) string {
	text := string(s.What)
	switch s.What {
	case engine.Renamed:
		text = "renamed from " + escapePath(s.From)
	case engine.Deleted:
		if s.To != "" {
			return "renamed to " + escapePath(s.To)
		}
	case engine.ModeChanged:
		return "mode " + octal(s.Change.Old) + " to " + octal(s.Change.New)
	case engine.KindChanged:
		return "changed from " + entryKind(*s.Change.Old) + " to " + entryKind(*s.Change.New)
	case engine.NotCaptured:
		return "not captured"
	}
	switch {
	case s.IsDir():
		if b := s.Below; b != (engine.Counts{}) {
			text += " " + changeCounts(uint64(b.Added), uint64(b.Modified), uint64(b.Deleted)) + " files"
		}
	case d.Hidden:
		text += " (precious)"
	case d.Binary:
		text += " (binary)"
	case s.What == engine.Changed || s.What == engine.Renamed && d.Added+d.Deleted > 0:
		text += " +" + strconv.Itoa(d.Added) + " -" + strconv.Itoa(d.Deleted)
	case s.What == engine.Created:
		text += " +" + strconv.Itoa(d.Added)
	case s.What == engine.Deleted:
		text += " -" + strconv.Itoa(d.Deleted)
	}
	return text
}

func octal(e *manifest.Entry) string { return strconv.FormatUint(uint64(e.Mode), 8) }
