package store

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/maintain"
)

func NewPin() *app.Command {
	var name string
	c := pinCommand("pin", true, "protect a checkpoint from gc, or name it",
		"gc never removes a pinned or a named checkpoint. --name gives it a name to restore it by,\n"+
			"and the empty name takes that away. --remove takes the pin away: the checkpoint stays\n"+
			"until retention removes it.")
	c.Usage = "<ckpt> [--name NAME] [--remove]"
	c.Examples = append(c.Examples, app.Example{Line: "rewind pin 3 --name before-merge", Does: "name it"}, app.Example{Line: "rewind pin v1 --remove", Does: "take the pin away"})
	c.Flags = func(f *pflag.FlagSet) {
		f.StringVar(&name, "name", "", "give the checkpoint this `NAME` instead of a pin")
		f.Bool("remove", false, "take the pin away")
	}
	pin := c.Run
	c.Run = func(ctx context.Context, c *app.Call) error {
		if !c.Flags.Changed("name") {
			return pin(ctx, c)
		}
		c.Args = append(c.Args, name)
		return NewRename().Run(ctx, c)
	}
	return c
}

func NewUnpin() *app.Command {
	return pinCommand("unpin", false, "allow gc to remove a checkpoint again",
		"Removes the pin. The checkpoint is kept until retention removes it.")
}

func pinCommand(name string, pinned bool, short, long string) *app.Command {
	return &app.Command{
		Name:  name,
		Usage: "<ckpt>",
		Short: short,
		Long:  long,
		Examples: []app.Example{
			{Line: "rewind " + name + " last", Does: "the newest"},
			{Line: "rewind " + name + " v1", Does: "by name"},
		},
		Answers: app.Answers{"pin": pinView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged},
		MinArgs: 1, MaxArgs: 1,
		Run: func(ctx context.Context, c *app.Call) error {
			p, l, err := c.Checkpoint(ctx, 0)
			if err != nil {
				return err
			}
			was := l.Pinned
			if err := maintain.Pin(ctx, p, l.Checkpoint, pinned); err != nil {
				return err
			}
			switch {
			case pinned:
				c.Out.Summary("Pinned %s.", rows.Named(c.Out, l))
			case was:
				c.Out.Summary("Unpinned %s.", rows.Named(c.Out, l))
			default:
				c.Out.Summary("%s was not pinned.", rows.Named(c.Out, l))
			}
			return c.Document(pinView{l.ID.String(), l.ID.String(), pinned})
		},
	}
}

type pinView struct {
	Checkpoint string `json:"checkpoint"`
	ID         string `json:"id"` // the same, as list calls it
	Pinned     bool   `json:"pinned"`
}

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
		Answers: app.Answers{"rename": renameView{}},
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
			return c.Document(renameView{l.ID.String(), l.ID.String(), name})
		},
	}
}

type renameView struct {
	Checkpoint string `json:"checkpoint"`
	ID         string `json:"id"` // the same, as list calls it
	Name       string `json:"name"`
}
