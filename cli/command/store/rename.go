package store

import (
	"context"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/maintain"
)

func NewRename() *app.Command {
	return &app.Command{
		Name:  "rename",
		Usage: "<ckpt> <name>",
		Short: "name a checkpoint",
		Long: "Gives a checkpoint a name to restore it by. gc keeps named checkpoints. The empty name ''\n" +
			"removes the name.",
		Examples: []app.Example{
			{Line: "rewind pin last --name before-merge", Does: "name the newest"},
			{Line: "rewind pin before-merge --name ''", Does: "remove the name"},
		},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged},
		MinArgs: 2, MaxArgs: 2,
		Run: func(ctx context.Context, c *app.Call) error {
			name := c.Args[1]
			p, l, err := c.Checkpoint(ctx, 0)
			if err != nil {
				return err
			}
			if err := maintain.Rename(ctx, p, l.Checkpoint, name); err != nil {
				return err
			}
			if name == "" {
				c.Out.Summary("Removed the name of %s.", rows.Named(c.Out, rows.Unnamed(l)))
			} else {
				c.Out.Summary("Checkpoint %s is now named %s.", rows.Named(c.Out, rows.Unnamed(l)), app.Escape(name))
			}
			return c.Document(RenameView{l.ID.String(), l.ID.String(), name})
		},
	}
}

type RenameView struct {
	Checkpoint string `json:"checkpoint"`
	ID         string `json:"id"` // the same, as list calls it
	Name       string `json:"name"`
}
