package cli

import (
	"context"
	"github.com/rewind-cli/rewind/engine/maintain"
)

func newRename() *command {
	return &command{
		name:  "rename",
		usage: "<ckpt> <name>",
		short: "name a checkpoint",
		long: "Gives a checkpoint a name to restore it by. gc keeps named checkpoints. The empty name ''\n" +
			"removes the name.",
		examples: []example{
			{"rewind pin last --name before-merge", "name the newest"},
			{"rewind pin before-merge --name ''", "remove the name"},
		},
		exits:   []int{exitNotFound, exitBusy, exitDamaged},
		minArgs: 2, maxArgs: 2,
		run: func(ctx context.Context, c *call) error {
			name := c.args[1]
			p, l, err := c.checkpoint(ctx, 0)
			if err != nil {
				return err
			}
			if err := maintain.Rename(ctx, p, l.Checkpoint, name); err != nil {
				return err
			}
			if c.json {
				return c.out.document(renameView{l.ID.String(), l.ID.String(), name})
			}
			if name == "" {
				c.out.summary("Removed the name of %s.", named(c.out, unnamed(l)))
			} else {
				c.out.summary("Checkpoint %s is now named %s.", named(c.out, unnamed(l)), escape(name))
			}
			return nil
		},
	}
}

type renameView struct {
	Checkpoint string `json:"checkpoint"`
	ID         string `json:"id"` // the same, as list calls it
	Name       string `json:"name"`
}
