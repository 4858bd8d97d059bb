package remote

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/remote"
)

// NewPush makes the command that sends checkpoints to a remote.
func NewPush() *app.Command {
	var check, repair, wait bool
	return &app.Command{
		Name:  "push",
		Usage: "[NAME] [--check|--repair] [--wait]",
		Short: "send what is new to a remote",
		Long: "Sends all checkpoints that the remote does not have yet, with their conversations and\n" +
			"all that undo and revert need: names, sessions, operations. What was sent once is not\n" +
			"sent again. An interrupted push is continued by the next one. --check also asks the\n" +
			"remote whether all that was pushed is there, by names and lengths. --repair reads all of\n" +
			"it, and so also finds what was changed. Both send everything again, as another log,\n" +
			"where something is missing or damaged. It ends when all is there. While another process\n" +
			"pushes, as after a save, it waits for that, half a minute at most, and with --wait as\n" +
			"long as it takes. NAME is needed where there are several remotes and none is called\n" +
			"origin.",
		Examples: []app.Example{
			{Line: "rewind push", Does: "to the remote of the project"},
			{Line: "rewind push --repair", Does: "after rewind remote check found something"},
		},
		Answers: app.Answers{"push": pushedView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitUnreachable},
		MaxArgs: 1,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&check, "check", false, "ask the remote whether what was pushed is still there")
			f.BoolVar(&repair, "repair", false, "read what was pushed, and send it again if it is damaged")
			f.BoolVar(&wait, "wait", false, "wait as long as another process pushes")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			if check && repair {
				return &app.UsageError{Msg: "--check and --repair exclude each other", Hint: "--repair checks all that --check does"}
			}
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			r, err := remote.Find(p, append(c.Args, "")[0])
			if err != nil {
				return err
			}
			if wait {
				if err := r.Await(ctx); err != nil {
					return err
				}
			}
			maintain.FinishForgetting(ctx, p)
			var done *remote.Pushed
			if repair {
				done, err = r.Repair(ctx)
			} else {
				done, err = r.Push(ctx, check)
			}
			if err != nil {
				return err
			}
			merged, err := r.Merge(ctx) // what was pushed is there in any case, and a later push merges
			if err != nil && ctx.Err() != nil {
				return err
			}
			c.Out.EndProgress()
			if c.JSON {
				return c.Out.Document(viewPushed(r.Name, done, merged.Objects))
			}
			if done.Described {
				c.Out.Summary("The description of %s was damaged, and is whole again.", r.Name)
			}
			if done.Moved {
				c.Out.Warn("the log here is not the one that was pushed before: it is pushed as a log of its own, beside that one")
			}
			if done.Later != nil {
				c.Out.Hint("what was pushed before: %s", report.NextOfLater(*done.Later))
			}
			if done.Lost {
				c.Out.Warn("the remote no longer had what was pushed before, or it was damaged: all of it was pushed again")
			}
			if done.Old != "" {
				c.Out.Hint("what is left of it: rewind remote gc --log %s removes it", done.Old)
			}
			if done.NewKey {
				c.Out.Summary("The key of %s was rotated: what is pushed is sealed for the new one now.", r.Name)
			}
			if done.OldKey {
				c.Out.Warn("the remote has a newer key, which this account does not have: what it pushes can be read with the old one")
				c.Out.Hint("rewind remote key --key FILE opens it with a key of yours, or with the line that rewind remote key prints elsewhere")
			}
			if done.Bytes == 0 {
				c.Out.Summary("%s has everything already.", r.Name)
				return nil
			}
			c.Out.Summary("Pushed %s to %s: %s, %s.", app.Plural(done.Checkpoints, "checkpoint", "checkpoints"), r.Name,
				app.FormatSize(done.Bytes), app.Plural(done.Requests, "request", "requests"))
			return nil
		},
	}
}

type pushedView struct {
	Remote      string `json:"remote"`
	Checkpoints int    `json:"checkpoints"`
	Bytes       int64  `json:"bytes"`
	Requests    int    `json:"requests"`
	Lost        bool   `json:"lost"`   // what was pushed before was no longer there, or damaged: all of it was pushed again
	Old         string `json:"old"`    // the log that is left of it; "": none
	Moved       bool   `json:"moved"`  // another copy of the store had pushed: this one pushes as a writer of its own now
	Merged      int    `json:"merged"` // small objects that were merged after it
	NewKey      bool   `json:"new_key"`
	OldKey      bool   `json:"old_key"`

	Later *report.LaterView `json:"later"` // what was pushed from here before, and is not in this store
}

func viewPushed(name string, done *remote.Pushed, merged int) pushedView {
	return pushedView{name, done.Checkpoints, done.Bytes, done.Requests, done.Lost, done.Old, done.Moved, merged, done.NewKey, done.OldKey, report.ViewLater(done.Later)}
}
