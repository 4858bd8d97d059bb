package store

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/timeline"
)

func NewSave() *app.Command {
	var o checkpoint.Options
	var message []string
	return &app.Command{
		Name:  "save",
		Usage: "[description…] [-m TEXT] [--name N] [--pin] [--no-ignore] [--rehash]",
		Short: "take a checkpoint now",
		Long: "Takes a checkpoint of the whole project. It is always recorded, even if nothing has\n" +
			"changed since the last one.\n" +
			"It holds the conversation of the agent's session at work too, or of the one that --session\n" +
			"names.",
		Examples: []app.Example{
			{Line: "rewind save", Does: "the project as it is now"},
			{Line: "rewind save -m 'before the refactoring'", Does: "with a description"},
			{Line: "rewind save --name v1 --pin", Does: "with a name to restore it by, and kept by gc"},
			{Line: "rewind save --no-ignore", Does: "include ignored files"},
		},
		Answers: app.Answers{"save": rows.SavedView{}},
		Exits:   []int{app.ExitPartial, app.ExitBusy, app.ExitDamaged},
		MaxArgs: -1,
		Flags: func(f *pflag.FlagSet) {
			f.StringArrayVarP(&message, "message", "m", nil, "the description, as `TEXT`; several are joined")
			f.StringVar(&o.Name, "name", "", "a `name` for the checkpoint")
			f.BoolVar(&o.Pin, "pin", false, "never let gc remove it")
			f.BoolVar(&o.NoIgnore, "no-ignore", false, "capture ignored files too")
			f.BoolVar(&o.Rehash, "rehash", false, "read every file again, even if it looks unchanged")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			o.Description = strings.Join(append(append(c.Args, c.Paths...), message...), " ")
			if c.Flags.Changed("name") && o.Name == "" {
				return &project.BadNameError{Name: "", Reason: "it is empty"}
			}
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			saved, err := save.Save(ctx, p, o)
			if err != nil {
				return err
			}
			if err := sinceOperation(ctx, p, saved); err != nil {
				return err
			}
			if err := c.Document(rows.ViewSaved(saved)); err != nil {
				return err
			}
			return report.ReportSaved(c, saved)
		},
	}
}

// sinceOperation counts what a save found since an operation, where one came after the checkpoint before: that one is the
// safety checkpoint, which list does not show either.
func sinceOperation(ctx context.Context, p *project.Project, s *checkpoint.Saved) error {
	if !s.Safety {
		return nil
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	r, err := timeline.RowOf(ctx, p, s.Checkpoint.Seq, nil)
	if err != nil || r == nil {
		return err
	}
	n, known, err := r.Count(ctx, p, nil)
	if project.IsDamage(err) || !known {
		return nil // verify tells of damage
	}
	s.Checkpoint.Added, s.Checkpoint.Modified, s.Checkpoint.Deleted = n.Added, n.Modified, n.Deleted
	s.Unchanged = r.From != nil && r.From.Root == r.To.Root
	return err
}
