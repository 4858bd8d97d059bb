package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

func NewGC() *app.Command {
	var (
		o            maintain.GCOptions
		age, maxSize string
		chosen       string
		yes          bool
	)
	return &app.Command{
		Name:  "gc",
		Usage: "[--keep N] [--max-age D] [--max-size S] [--checkpoint CKPT] [--dry-run] [--yes]",
		Short: "remove old checkpoints and free their space",
		Long: "Removes the checkpoints that the flags, or else the retention settings, no longer keep,\n" +
			"then frees space. Pinned and named checkpoints are kept, and those that operations still\n" +
			"need; --max-size also keeps manual ones and the newest. At a terminal it asks before it\n" +
			"removes checkpoints that the flags name.\n" +
			"On a full disk it first frees the space that takes no rewriting.",
		Examples: []app.Example{
			{Line: "rewind gc --dry-run", Does: "what would be removed"},
			{Line: "rewind gc --max-age 30d", Does: "remove everything older than 30 days"},
			{Line: "rewind gc --checkpoint 3", Does: "remove this one"},
			{Line: "rewind gc --keep 100 --max-size 5GB", Does: "keep at most 100 checkpoints and 5 GB"},
		},
		Answers: app.Answers{"gc": gcView{}},
		Exits:   []int{app.ExitPartial, app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused},
		Flags: func(f *pflag.FlagSet) {
			f.IntVar(&o.Keep, "keep", 0, "keep the newest `N` checkpoints")
			f.StringVar(&age, "max-age", "", "keep checkpoints up to this `age`: 12h, 30d, 2w")
			f.StringVar(&maxSize, "max-size", "", "keep the store below this `size`: 500M, 5GB, 10GiB")
			f.StringVar(&chosen, "checkpoint", "", "remove this `checkpoint` and no other")
			f.BoolVarP(&o.DryRun, "dry-run", "n", false, "print what would be removed, and remove nothing")
			f.BoolVarP(&yes, "yes", "y", false, "do not ask")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			if err := gcArgs(c, &o, age, maxSize); err != nil {
				return err
			}
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			if c.Flags.Changed("checkpoint") {
				l, err := c.Resolve(ctx, p, chosen)
				if err != nil {
					return err
				}
				o.Checkpoint = l.ID
			}
			if !yes && !o.DryRun && c.Out.Interactive() {
				if err := confirmGC(ctx, c, p, o); err != nil {
					return err
				}
			}
			done, err := maintain.GC(ctx, p, o)
			if err != nil {
				return err
			}
			c.Out.Changed = !o.DryRun
			c.Out.EndProgress()
			gone, err := stores.Gone(ctx, c.Env, 0)
			if err != nil {
				return err
			}
			if c.JSON {
				return errors.Join(c.Out.Document(gcView{
					Removed: app.Map(done.Removed, manifest.CheckpointID.String), Kept: done.Kept, Freed: done.Freed, DryRun: done.DryRun, Room: done.Room,
					Lost: app.Map(done.Lost, func(l project.Listed) string { return l.ID.String() }), Gone: len(gone), GoneBytes: stores.Bytes(gone),
				}), unswept(done))
			}
			c.Out.Summary(app.Did(done.DryRun, "Removed %s, kept %d, freed %s.", "Would remove %s, keep %d and free about %s."), app.Plural(len(done.Removed), "checkpoint", "checkpoints"), done.Kept, app.FormatSize(done.Freed))
			if keep := cmp.Or(o.Keep, p.Settings().Retention.MaxCheckpoints); keep > 0 && done.Kept > keep && o.Checkpoint == (manifest.CheckpointID{}) {
				c.Out.Summary("More than %d: pinned and named checkpoints are kept, and those that operations need, such as safety checkpoints.", keep)
			}
			app.WarnEach(c.Out, done.Lost, app.InJSON, func(l project.Listed) string {
				return "the store has lost a part of checkpoint " + rows.Named(c.Out, l)
			})
			if len(done.Lost) > 0 {
				c.Out.Hint("rewind verify says what is lost; rewind gc --checkpoint %s removes that checkpoint", done.Lost[0].ID.String()[:app.ShortID])
			}
			if done.Room > 0 {
				c.Out.Warn("this needs %s of free space on the disk, and there is less: nothing would be removed now", app.FormatSize(done.Room))
			}
			if c.Verbose || done.DryRun {
				for _, l := range done.Gone {
					c.Out.Summary("  %s", rows.Named(c.Out, l))
				}
			}
			hintGone(c.Out, gone)
			if limit := cmp.Or(o.MaxSize, p.Settings().Retention.MaxSize); limit > 0 && !done.DryRun && done.Unswept == nil {
				if size, err := p.StoreSize(); err == nil && size > limit {
					c.Out.Warn("the store still uses %s of at most %s: pinned, named and manual checkpoints, the newest one, and those that operations need are kept", app.FormatSize(size), app.FormatSize(limit))
				}
			}
			return unswept(done)
		},
	}
}

// unswept says that the space is not free yet. The answer has been printed.
func unswept(done *maintain.Collected) error {
	if done.Unswept == nil {
		return nil
	}
	return &app.PartlyError{Err: app.Hinted(
		fmt.Errorf("the checkpoints are removed, but what they alone hold is still in the store: %w", done.Unswept),
		"rewind gc removes it, as does the next sweep",
	)}
}

// confirmGC asks before checkpoints go that the flags condemn: what the settings say was
// agreed to when they were set.
func confirmGC(ctx context.Context, c *app.Call, p *project.Project, o maintain.GCOptions) error {
	if o.Keep == 0 && o.MaxAge == 0 && o.MaxSize == 0 && o.Checkpoint == (manifest.CheckpointID{}) {
		return nil
	}
	o.DryRun = true
	plan, err := maintain.GC(ctx, p, o)
	if err != nil || len(plan.Removed) == 0 {
		return err
	}
	ok, err := c.Out.Ask("This removes %s, keeps %d, and cannot be undone. Continue?",
		app.Plural(len(plan.Removed), "checkpoint", "checkpoints"), plan.Kept)
	if err == nil && !ok {
		err = &restore.DeclinedError{}
	}
	return err
}

func gcArgs(c *app.Call, o *maintain.GCOptions, age, maxSize string) (err error) {
	if c.Flags.Changed("checkpoint") && (c.Flags.Changed("keep") || c.Flags.Changed("max-age") || c.Flags.Changed("max-size")) {
		return app.Usagef("--checkpoint removes one checkpoint, and takes none of --keep, --max-age and --max-size")
	}
	if c.Flags.Changed("keep") && o.Keep < 1 {
		return app.Usagef("--keep must be 1 or more, not %d", o.Keep)
	}
	if c.Flags.Changed("max-age") {
		if o.MaxAge, err = app.ParseAge(age); err != nil {
			return err
		}
		if o.MaxAge <= 0 {
			return app.Usagef("--max-age must be greater than zero")
		}
	}
	if c.Flags.Changed("max-size") {
		if o.MaxSize, err = app.ParseSize(maxSize); err != nil {
			return err
		}
		if o.MaxSize <= 0 {
			return app.Usagef("--max-size must be greater than zero")
		}
	}
	return nil
}

type gcView struct {
	Removed []string `json:"removed"`
	Kept    int      `json:"kept"`
	Freed   int64    `json:"freed_bytes"`
	DryRun  bool     `json:"dry_run"`
	// Room is how many bytes of disk must be free for it, where less is; else 0.
	Room int64 `json:"needs_free_bytes"`
	// Lost are the checkpoints that stay though the store has lost a part of them.
	Lost      []string `json:"lost"`
	Gone      int      `json:"gone_stores"` // of deleted projects
	GoneBytes int64    `json:"gone_bytes"`
}
