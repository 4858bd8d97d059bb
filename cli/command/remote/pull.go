package remote

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/engine/remote"
)

// NewPull makes the command that fetches what other machines have pushed.
func NewPull() *app.Command {
	var o remote.PullOptions
	return &app.Command{
		Name:  "pull",
		Usage: "[NAME] [--log ID] [--check]",
		Short: "fetch what other machines have pushed to a remote",
		Long: "Fetches the checkpoints of the other machines that push to the remote. No file of the\n" +
			"project changes, and no checkpoint of this machine. Each machine's checkpoints get a name\n" +
			"in front: rewind list laptop/ lists those of laptop, and show, diff, restore, checkout\n" +
			"and export take laptop/3, laptop/last, laptop/NAME and laptop/ID. A restore takes its\n" +
			"safety checkpoint as ever, and undo takes it back. What is here already is not fetched\n" +
			"again, and an interrupted pull is continued by the next one.\n" +
			"\n" +
			"What was pushed without the remote's key is only fetched if it is named with --log ID:\n" +
			"anybody who can write to the place can make such a log. --check reads what was pulled\n" +
			"before, and fetches again what is damaged. NAME is needed where there are several remotes\n" +
			"and none is called origin.",
		Examples: []app.Example{
			{Line: "rewind pull", Does: "from the remote of the project"},
			{Line: "rewind restore laptop/last --resume", Does: "continue what the machine laptop pushed last"},
		},
		Answers: app.Answers{"pull": pulledView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused, app.ExitUnreachable},
		MaxArgs: 1,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.Log, "log", "", "also what was pushed without the key to the log with this `ID`")
			f.BoolVar(&o.Check, "check", false, "read what was pulled before, and fetch again what is damaged")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			if err := c.NotEmpty("log"); err != nil {
				return err
			}
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			r, err := remote.Find(p, append(c.Args, "")[0])
			if err != nil {
				return err
			}
			done, err := r.Pull(ctx, o)
			if err != nil {
				return err
			}
			c.Out.Changed = len(done.Logs) > 0
			c.Out.EndProgress()
			all, err := p.Pulled()
			if err != nil {
				return err
			}
			if c.JSON {
				v := pulledView{Remote: r.Name, Bytes: done.Bytes, Requests: done.Requests, Torn: append([]string{}, done.Torn...), Failed: []failedView{}, Unsigned: append([]string{}, done.Unsigned...)}
				v.Machines = app.Map(done.Logs, func(l remote.PulledLog) pulledLogView {
					return pulledLogView{report.ViewPulled(l.PulledLog, report.IsAhead(p, l.PulledLog)), l.New}
				})
				for _, f := range done.Failed {
					v.Failed = append(v.Failed, failedView{f.Log, f.Err.Error()})
				}
				if err := c.Out.Document(v); err != nil {
					return err
				}
			} else {
				reportPulled(c, done)
				for _, l := range all {
					if report.IsAhead(p, l) {
						c.Out.Hint("%s continues from where this store is: rewind restore %s/last", l.Name, l.Name)
					}
				}
			}
			if !c.JSON {
				sayUnsigned(c, done)
			}
			for _, f := range done.Failed {
				if c.JSON || f.Err != done.Failed[0].Err {
					c.Out.Warn("the log %s was not pulled up to its end: %s", f.Log, app.Escape(f.Err.Error()))
				}
			}
			if len(done.Failed) > 0 {
				return done.Failed[0].Err
			}
			return nil
		},
	}
}

// sayUnsigned names the logs that were left out, each once.
func sayUnsigned(c *app.Call, done *remote.Pulled) {
	for _, log := range done.Unsigned {
		if !slices.Contains(done.Noticed, log) {
			c.Out.Warn("the log %s was pushed, in part or as a whole, without the remote's key: anybody who can write to the place can have done that", log)
			c.Out.Hint("if you know who pushed it: rewind pull --log %s", log)
		}
	}
}

func reportPulled(c *app.Call, done *remote.Pulled) {
	for _, name := range done.Torn {
		warnTorn(c, name)
	}
	for _, l := range done.Logs {
		c.Out.Summary("Pulled %s of %s: rewind list %s/", app.Plural(l.New, "checkpoint", "checkpoints"), l.Name, l.Name)
	}
	if len(done.Logs) == 0 && len(done.Failed) == 0 {
		c.Out.Summary("Nothing new in %s.", done.Remote.Name)
	}
}

type pulledView struct {
	Remote   string          `json:"remote"`
	Machines []pulledLogView `json:"machines"` // that something was pulled of
	Bytes    int64           `json:"bytes"`
	Requests int             `json:"requests"`
	Torn     []string        `json:"torn"`     // names of segments that are not whole
	Failed   []failedView    `json:"failed"`   // logs that could not be pulled up to their ends
	Unsigned []string        `json:"unsigned"` // logs of which something was left out, since it was pushed without the key
}

type pulledLogView struct {
	report.PulledView
	New int `json:"new"` // checkpoints that this pull brought
}

type failedView struct {
	Log   string `json:"log"`
	Error string `json:"error"`
}
