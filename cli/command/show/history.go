package show

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
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
		Answers: app.Answers{"history": historyView{}},
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
				return rows.NoHistory(err)
			}
			release, err := p.Use(ctx) // the steps, then their contents
			if err != nil {
				return err
			}
			defer release()
			h, err := inspect.History(ctx, p, inspect.HistoryOptions{Path: path, Limit: most, NoFollow: noFollow, WithPrecious: precious})
			if err != nil {
				return rows.NoHistory(err)
			}
			v := historyPrinter{rows.NewHistory(ctx, p, h), c, patch}
			v.Precious = precious
			if n := len(h.Steps); n > 0 {
				v.M.Reach(h.Steps[n-1].Seq)
			}
			c.Out.EndProgress()
			switch {
			case c.JSON:
				return v.json(ctx, path)
			case patch:
				return c.Out.Paged(ctx, c.Env, func() error {
					defer release() // before the person reads
					return v.patches(ctx)
				})
			default:
				return c.Out.Paged(ctx, c.Env, func() error {
					defer release()
					return v.table(ctx)
				})
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

// historyPrinter prints the history of one path, in one of its forms.
type historyPrinter struct {
	*rows.History
	c     *app.Call
	patch bool
}

// changeText is what happened to the path.
func changeText(s rows.Stepped) string {
	text := stepText(s.Step, s.D)
	switch {
	case s.Was():
		text = "there" + strings.TrimPrefix(text, string(inspect.Created))
	case s.By.Then() && !s.Now:
		text = "then " + text
	}
	return text
}

func (v *historyPrinter) table(ctx context.Context) error {
	o := v.c.Out
	t := screen.Table{
		Width: o.Width(),
		Columns: []screen.Column{{Title: "#", Right: true}, {Title: "ID", Style: screen.Yellow}, {Title: "AGE", Right: true},
			{Title: "CHANGE"}, {Title: "WHY", Style: screen.Cyan}, {Title: "TEXT", Flex: true}},
	}
	err := v.Each(ctx, func(s rows.Stepped) error {
		n, id, at, why, text, err := v.Row(ctx, &s)
		if err != nil {
			return err
		}
		age := app.FormatAge(o.Now().Sub(at))
		if n == "@" {
			age = "now"
		}
		t.Rows = append(t.Rows, []string{n, id, age, changeText(s), screen.Clip(why, rows.MaxWhy), text})
		return nil
	})
	if err != nil {
		return err
	}
	t.Write(o.Color, func(s string) { o.Line("%s", s) })
	v.tellMore()
	return nil
}

func (v *historyPrinter) tellMore() {
	if v.More && !v.c.Quiet {
		v.c.Out.Hint("there are older ones; --limit 0 shows all")
	}
}

// patches prints each step with its patch, as git log -p does.
func (v *historyPrinter) patches(ctx context.Context) error {
	o := v.c.Out
	err := v.Each(ctx, func(s rows.Stepped) error {
		n, _, at, why, text, err := v.Row(ctx, &s)
		switch {
		case err != nil:
			return err
		case n == "@":
			if why == "" {
				why, text = text, ""
			}
			o.Line("%s", o.Color.Paint(screen.Yellow, "working tree")+", "+strings.TrimSpace(why+"  "+text)+": "+changeText(s))
		default:
			head := "checkpoint " + s.ID.String() + where(s.Listed)
			if by := s.By.Row; by != nil && by.Checkpoint != nil {
				head = "checkpoint " + by.Checkpoint.ID.String() + where(*by.Checkpoint)
			} else if by != nil {
				head = rows.OperationVerb(by.Operation)
				why = ""
			}
			o.Line("%s", o.Color.Paint(screen.Yellow, head)+", "+app.Ago(o, at)+": "+changeText(s))
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
		if b := s.Below; !b.None() {
			text += " " + rows.ChangeCounts(b.Added, b.Modified, b.Deleted) + " files"
		}
	case d.Hidden:
		text += " (precious)"
	case d.Large:
		text += " (too large to be shown line by line)"
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

// historyView is what history --json prints; docs/schema/history.schema.json describes it.
type historyView struct {
	app.PathView
	Now         *stepView           `json:"now"`         // null: the working tree is as the newest checkpoint
	NowMadeBy   *rows.MadeByView    `json:"now_made_by"` // the row of list that has the present changes; null: there is none, or a person alone made them
	Checkpoints []checkpointStepped `json:"checkpoints"`
	More        bool                `json:"more"` // there are older ones
}

// checkpointStepped is a checkpoint with what it did to the path.
type checkpointStepped struct {
	rows.CheckpointView
	Change stepView         `json:"change"`
	MadeBy *rows.MadeByView `json:"made_by"` // null: it was there already in the oldest checkpoint
}

type stepView struct {
	app.PathView                  // as it is called after the step
	Kind         string           `json:"kind"` // created changed deleted renamed mode kind not-captured
	From         *app.PathView    `json:"from"` // of renamed
	To           *app.PathView    `json:"to"`   // of deleted: what the same checkpoint renamed it to
	LinesAdded   int              `json:"lines_added"`
	LinesDeleted int              `json:"lines_deleted"`
	Binary       bool             `json:"binary"`
	Precious     bool             `json:"precious"`
	OldMode      *string          `json:"old_mode"`
	NewMode      *string          `json:"new_mode"`
	OldHash      *string          `json:"old_hash"`
	NewHash      *string          `json:"new_hash"`
	Below        *manifest.Counts `json:"below"` // of a directory: the files in it that changed
	Patch        *string          `json:"patch,omitempty"`
}

func (v *historyPrinter) json(ctx context.Context, path string) error {
	doc := historyView{PathView: app.ViewPath(path), Checkpoints: []checkpointStepped{}, More: v.More}
	err := v.Each(ctx, func(s rows.Stepped) error {
		view := v.step(s.Step, s.D)
		if s.Now {
			doc.Now = &view
			if o := s.By.Owner; s.By.Row != nil || o != nil && len(o.Works()) > 0 {
				doc.NowMadeBy = rows.ViewMaker(ctx, v.M, s.By)
			}
		} else {
			doc.Checkpoints = append(doc.Checkpoints, checkpointStepped{rows.ViewCheckpoint(s.Listed), view, rows.ViewMaker(ctx, v.M, s.By)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.c.Out.Document(doc)
}

func (v *historyPrinter) step(s *inspect.Step, d inspect.FileDiff) stepView {
	w := stepView{
		PathView: app.ViewPath(s.Path), Kind: string(s.What), LinesAdded: d.Added, LinesDeleted: d.Deleted,
		Binary: d.Binary, Precious: s.Change.Precious(),
	}
	named := func(path string) *app.PathView {
		if path == "" {
			return nil
		}
		p := app.ViewPath(path)
		return &p
	}
	w.From, w.To = named(s.From), named(s.To)
	side := func(e *manifest.Entry) (mode, hash *string) {
		if e == nil {
			return nil, nil
		}
		if e.Kind != manifest.Symlink {
			hash = rows.ViewID(e.ID)
		}
		m := fmt.Sprintf("%04o", e.Mode)
		return &m, hash
	}
	w.OldMode, w.OldHash = side(s.Change.Old)
	w.NewMode, w.NewHash = side(s.Change.New)
	if s.IsDir() {
		w.Below = &s.Below
	} else if v.patch {
		w.Patch = &d.Patch
	}
	return w
}
