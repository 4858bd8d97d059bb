package cli

import "context"

// newPick is what rewind without a command does at a terminal.
func newPick() *command {
	return &command{
		name:  "pick",
		usage: "",
		short: "choose a checkpoint and restore it",
		long:  "Shows the checkpoints; type to filter, enter restores.",
		exits: []int{exitPartial, exitBusy, exitDamaged, exitRefused},
		run:   func(ctx context.Context, c *call) error { return usagef("the picker needs a terminal") },
	}
}
