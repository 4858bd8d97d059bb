package cli

import (
	"context"

	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/spf13/pflag"
)

func newPin() *command {
	var name string
	c := pinCommand("pin", true, "protect a checkpoint from gc, or name it",
		"gc never removes a pinned or a named checkpoint. --name gives it a name to restore it by,\n"+
			"and the empty name takes that away. --remove takes the pin away: the checkpoint stays\n"+
			"until retention removes it.")
	c.usage = "<ckpt> [--name NAME] [--remove]"
	c.examples = append(c.examples, example{"rewind pin 3 --name before-merge", "name it"}, example{"rewind pin v1 --remove", "take the pin away"})
	c.flags = func(f *pflag.FlagSet) {
		f.StringVar(&name, "name", "", "give the checkpoint this `NAME` instead of a pin")
		f.Bool("remove", false, "take the pin away")
	}
	pin := c.run
	c.run = func(ctx context.Context, c *call) error {
		if !c.flags.Changed("name") {
			return pin(ctx, c)
		}
		c.args = append(c.args, name)
		return newRename().run(ctx, c)
	}
	return c
}

func newUnpin() *command {
	return pinCommand("unpin", false, "allow gc to remove a checkpoint again",
		"Removes the pin. The checkpoint is kept until retention removes it.")
}

func pinCommand(name string, pinned bool, short, long string) *command {
	return &command{
		name:  name,
		usage: "<ckpt>",
		short: short,
		long:  long,
		examples: []example{
			{"rewind " + name + " last", "the newest"},
			{"rewind " + name + " v1", "by name"},
		},
		exits:   []int{exitNotFound, exitBusy, exitDamaged},
		minArgs: 1, maxArgs: 1,
		run: func(ctx context.Context, c *call) error {
			p, l, err := c.checkpoint(ctx, 0)
			if err != nil {
				return err
			}
			was := l.Pinned
			if err := maintain.Pin(ctx, p, l.Checkpoint, pinned); err != nil {
				return err
			}
			if c.json {
				return c.out.document(pinView{l.ID.String(), l.ID.String(), pinned})
			}
			switch {
			case pinned:
				c.out.summary("Pinned %s.", named(c.out, l))
			case was:
				c.out.summary("Unpinned %s.", named(c.out, l))
			default:
				c.out.summary("%s was not pinned.", named(c.out, l))
			}
			return nil
		},
	}
}

type pinView struct {
	Checkpoint string `json:"checkpoint"`
	ID         string `json:"id"` // the same, as list calls it
	Pinned     bool   `json:"pinned"`
}
