package cli

import (
	"context"

	"github.com/spf13/pflag"

	"rewind/engine"
)

func newForget() *command {
	var yes, glob bool
	return &command{
		name:  "forget",
		usage: "[--yes] [--glob] -- path…",
		short: "take paths out of all checkpoints, for good",
		long: "Takes paths, such as a password that was captured, out of every checkpoint. It cannot\n" +
			"be undone. The files in the working tree stay.\n" + aboutPaths,
		examples: []example{
			{"rewind forget -- .env", "one file"},
			{"rewind forget -- 'secrets/**'", "a glob"},
		},
		exits: []int{exitBusy, exitDamaged, exitRefused},
		paths: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&yes, "yes", "y", false, "do not ask")
			globFlag(f, &glob)
		},
		run: func(ctx context.Context, c *call) error {
			if len(c.paths) == 0 {
				return &usageError{msg: "too few arguments", hint: "rewind forget -- path…"}
			}
			p, err := c.open(ctx)
			if err != nil {
				return err
			}
			paths, err := c.patterns(ctx, p, c.paths, glob)
			if err != nil {
				return err
			}
			if len(paths) == 0 {
				return &usageError{msg: "the whole project cannot be forgotten", hint: "rewind gc --keep 1 keeps the newest checkpoint only"}
			}
			if c.out.interactive() && !yes {
				ok, err := c.out.ask("This takes %s out of every checkpoint and cannot be undone. Go on?", plural(len(paths), "path", "paths"))
				if err != nil {
					return err
				}
				if !ok {
					return &engine.DeclinedError{}
				}
			}
			done, err := p.Forget(ctx, paths)
			if err != nil {
				return err
			}
			c.out.endProgress()
			if c.json {
				return c.out.document(forgotView{viewPaths(done.Paths), done.Checkpoints, done.Freed})
			}
			if len(done.Paths) == 0 {
				c.out.summary("No checkpoint holds it.")
				return nil
			}
			c.out.summary("Took %s out of %s, freed %s.", plural(len(done.Paths), "path", "paths"),
				plural(done.Checkpoints, "checkpoint", "checkpoints"), formatSize(done.Freed))
			for _, path := range done.Paths {
				c.out.note("%s", path)
			}
			return nil
		},
	}
}

type forgotView struct {
	Paths       []pathView `json:"paths"`
	Checkpoints int        `json:"checkpoints"`
	Freed       int64      `json:"freed_bytes"`
}
