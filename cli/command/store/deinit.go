package store

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
)

func NewDeinit() *app.Command {
	var f removeFlags
	return &app.Command{
		Name:  "deinit",
		Usage: "[--dry-run] [--force] [--yes]",
		Short: "remove this project's store, with all its checkpoints",
		Long: "Permanently removes the store of this project, after showing what that includes: its\n" +
			"checkpoints, its mirror under ~/.rewind/vault and its registration. The files of the\n" +
			"project are not touched. The agents' hooks stay registered, since other projects may use\n" +
			"them: rewind config --unregister-hooks removes them.",
		Examples: []app.Example{
			{Line: "rewind stores rm . --dry-run", Does: "what would be removed"},
			{Line: "rewind stores rm .", Does: "ask first"},
			{Line: "rewind stores rm . --yes", Does: "in a script"},
		},
		Answers: app.Answers{"stores-rm": removedView{}},
		Exits:   []int{app.ExitPartial, app.ExitBusy, app.ExitDamaged, app.ExitRefused},
		Flags:   f.define,
		Run: func(ctx context.Context, c *app.Call) error {
			return runDeinit(ctx, c, f)
		},
	}
}

func runDeinit(ctx context.Context, c *app.Call, f removeFlags) error {
	if !f.dryRun {
		// The interrupted removal was confirmed when it began.
		finished, err := stores.FinishRemovals(ctx, c.Env, "")
		if err != nil {
			return err
		}
		if done := ofProject(ctx, c, finished); len(done) > 0 {
			return reportFinished(c, done)
		}
	}
	o := c.OpenOptions()
	o.Progress = nil
	r, err := stores.PlanDeinit(ctx, o)
	if err != nil {
		return err
	}
	if err := remove(ctx, c, f, []*stores.Removal{r}, "rewind stores rm .", "rewind stores rm . --force removes it anyway"); err != nil || f.dryRun {
		return err
	}
	if agents := registration.RegisteredAgents(c.Env, r.Root); len(agents) > 0 {
		c.Out.Summary("The agents' hooks stay registered; rewind config --unregister-hooks removes them.")
	}
	return nil
}

// ofProject are the finished removals of the project that the call is in: there is nothing
// left to find it by but that it has no store any more.
func ofProject(ctx context.Context, c *app.Call, finished []stores.Removal) (done []stores.Removal) {
	if len(finished) == 0 {
		return nil
	}
	_, err := stores.PlanDeinit(ctx, c.OpenOptions())
	var none *project.NotInitializedError
	if !errors.As(err, &none) {
		return nil
	}
	for _, r := range finished {
		if vfs.Within(r.Root, none.Root) {
			done = append(done, r)
		}
	}
	return done
}

func reportFinished(c *app.Call, done []stores.Removal) error {
	for _, r := range done {
		c.Out.Summary("Finished removing the store of %s.", app.Escape(r.Root))
	}
	return c.Document(removedView{Removed: app.Map(done, func(r stores.Removal) removalView { return removalView{viewStore(r.Info), []string{}, ""} })})
}
