package cli

import (
	"context"

	"github.com/rewind-cli/rewind/engine"
)

func newPin() *command {
	return pinCommand("pin", true, "protect a checkpoint from gc",
		"gc never removes a pinned checkpoint.")
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
			if err := engine.Pin(ctx, p, l.Checkpoint, pinned); err != nil {
				return err
			}
			if c.json {
				return c.out.document(pinView{l.ID.String(), l.ID.String(), pinned})
			}
			if pinned {
				c.out.summary("Pinned %s.", named(c.out, l))
			} else {
				c.out.summary("Unpinned %s.", named(c.out, l))
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
