package cli

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
)

func newDeinit() *command {
	var f removeFlags
	return &command{
		name:  "deinit",
		usage: "[--dry-run] [--force] [--yes]",
		short: "remove this project's store, with all its checkpoints",
		long: "Permanently removes the store of this project, after showing what that includes: its\n" +
			"checkpoints, its mirror under ~/.rewind/vault and its registration. The files of the\n" +
			"project are not touched. The agents' hooks stay registered, since other projects may use\n" +
			"them: rewind config --unregister-hooks removes them.",
		examples: []example{
			{"rewind stores rm . --dry-run", "what would be removed"},
			{"rewind stores rm .", "ask first"},
			{"rewind stores rm . --yes", "in a script"},
		},
		exits: []int{exitPartial, exitBusy, exitDamaged, exitRefused},
		flags: f.define,
		run: func(ctx context.Context, c *call) error {
			return runDeinit(ctx, c, f)
		},
	}
}

func runDeinit(ctx context.Context, c *call, f removeFlags) error {
	if !f.dryRun {
		// The interrupted removal was confirmed when it began.
		finished, err := stores.FinishRemovals(ctx, c.env, "")
		if err != nil {
			return err
		}
		if done := ofProject(ctx, c, finished); len(done) > 0 {
			return c.reportFinished(done)
		}
	}
	o := c.openOptions()
	o.Progress = nil
	r, err := stores.PlanDeinit(ctx, o)
	if err != nil {
		return err
	}
	if err := c.remove(ctx, f, []*stores.Removal{r}, "rewind stores rm .", "rewind stores rm . --force removes it anyway"); err != nil || f.dryRun {
		return err
	}
	if agents := registeredAgents(c.env, r.Root); len(agents) > 0 {
		c.out.summary("The agents' hooks stay registered; rewind config --unregister-hooks removes them.")
	}
	return nil
}

// ofProject are the finished removals of the project that the call is in: there is nothing
// left to find it by but that it has no store any more.
func ofProject(ctx context.Context, c *call, finished []stores.Removal) (done []stores.Removal) {
	if len(finished) == 0 {
		return nil
	}
	_, err := stores.PlanDeinit(ctx, c.openOptions())
	var none *project.NotInitializedError
	if !errors.As(err, &none) {
		return nil
	}
	for _, r := range finished {
		if _, inside := below(r.Root, none.Root); inside || r.Root == none.Root {
			done = append(done, r)
		}
	}
	return done
}

func (c *call) reportFinished(done []stores.Removal) error {
	v := removedView{Removed: []removalView{}}
	for _, r := range done {
		v.Removed = append(v.Removed, removalView{viewStore(r.Info), []string{}, ""})
		c.out.summary("Finished removing the store of %s.", escape(r.Root))
	}
	if c.json {
		return c.out.document(v)
	}
	return nil
}
