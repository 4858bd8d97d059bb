package setup

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

func NewInit() *app.Command {
	var (
		o    stores.InitOptions
		mode string
	)
	return &app.Command{
		Name:  "init",
		Usage: "[--mode project|global] [--tier T] [--no-save] [--adopt STORE] [--trust] [--force]",
		Short: "create the store and take the first checkpoint",
		Long: "Creates a store for the project and takes its first checkpoint. If there is a store\n" +
			"already, says so and changes nothing, except that a store without any checkpoint gets\n" +
			"its first.",
		Examples: []app.Example{
			{Line: "rewind init", Does: "create the store in .agent/rewind of this project"},
			{Line: "rewind init --mode global", Does: "create the store under ~/.rewind instead"},
			{Line: "rewind init --adopt 1f0c22ab", Does: "bring the history of a lost or removed project here"},
		},
		Answers: app.Answers{"init": initView{}},
		Exits:   []int{app.ExitPartial, app.ExitBusy, app.ExitDamaged, app.ExitRefused},
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&mode, "mode", "", "where to create the store: `project|global` (default: as configured)")
			f.StringVar(&o.Tier, "tier", "", "the `tier`: minimal, balanced or aggressive")
			f.BoolVar(&o.NoSave, "no-save", false, "do not take a first checkpoint")
			f.StringVar(&o.Adopt, "adopt", "", "bring the history of a `store` here: its id, a prefix, or the path of its project")
			f.BoolVar(&o.Trust, "trust", false, "use a store that came with a repository or from another account")
			f.BoolVar(&o.Force, "force", false, "create the store even on an unreliable file system, or behind a link")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			switch account.Mode(mode) {
			case "", account.ProjectMode, account.GlobalMode:
				o.Mode = account.Mode(mode)
			default:
				return app.Usagef("--mode must be project or global, not %q", mode)
			}
			if o.Tier != "" && !settings.IsTier(o.Tier) {
				return app.Usagef("--tier must be minimal, balanced or aggressive, not %q", o.Tier)
			}
			o.OpenOptions = c.OpenOptions()
			return runInit(ctx, c, o)
		},
	}
}

// initView is SavedView for init, which may have saved nothing.
type initView struct {
	*rows.SavedView
	Root    string `json:"root"`
	Store   string `json:"store"`
	Mode    string `json:"mode"`
	Created bool   `json:"created"`

	NotCaptured int `json:"not_captured"` // paths that the newest checkpoint is without

	Older *olderView `json:"older,omitempty"` // where the older rewind was initialised before
}

type olderView struct {
	Checkpoints string   `json:"checkpoints"` // the directory in which its checkpoints lie
	Count       int      `json:"count"`
	Settings    string   `json:"settings"` // its settings file, as it was
	Taken       []string `json:"taken"`    // what was taken over from it
}

// reportOlder says what became of what the older rewind has in the project.
func reportOlder(c *app.Call, o *project.Older) {
	if len(o.Taken) > 0 {
		c.Out.Summary("The settings of the older rewind still apply: %s.", strings.Join(o.Taken, ", "))
	}
	if o.Settings != "" {
		c.Out.Summary("The settings file of the older rewind is %s.", app.Escape(o.Settings))
	}
	if o.Unread != nil {
		c.Out.Warn("nothing was imported from it: %v", o.Unread)
	}
	if o.Checkpoints != "" {
		c.Out.Summary("%s in %s.", app.Plural(o.Count, "checkpoint of the older rewind is kept", "checkpoints of the older rewind are kept"), app.Escape(o.Checkpoints))
	}
}

// notCaptured counts the paths that a checkpoint is without.
func notCaptured(ctx context.Context, c *app.Call, k manifest.Checkpoint) int {
	problems, err := inspect.Coverage(ctx, c.Project, k)
	if err != nil {
		return 0 // the checkpoint was taken, and status reports what is wrong with the store
	}
	return inspect.Outside(problems)
}

func runInit(ctx context.Context, c *app.Call, o stores.InitOptions) error {
	p, saved, created, err := save.Init(ctx, o)
	if p != nil {
		err = errors.Join(err, c.Opened(ctx, p))
	}
	if err != nil {
		var refused *project.RefusedRootError
		if errors.As(err, &refused) && o.Root != "" {
			return app.Hinted(err, "--force creates one anyway")
		}
		if refused != nil && o.Adopt == "" && c.Env.Dir != "" {
			return app.Hinted(err, "cd to the project, or, if this directory is the project: rewind init --root .")
		}
		return err
	}
	if c.JSON {
		v := initView{Root: p.Root(), Store: p.StoreDir(), Mode: string(p.Mode()), Created: created}
		if saved != nil {
			s := rows.ViewSaved(saved)
			v.SavedView = &s
			v.NotCaptured = notCaptured(ctx, c, saved.Checkpoint)
		}
		if o := p.Older; o != nil {
			v.Older = &olderView{o.Checkpoints, o.Count, o.Settings, append([]string{}, o.Taken...)}
		}
		if err := c.Out.Document(v); err != nil {
			return err
		}
	} else if created {
		c.Out.Summary("Initialised %s.", app.Escape(p.StoreDir()))
		if o := p.Older; o != nil {
			reportOlder(c, o)
		}
		if h := p.History; len(h) > 0 {
			for _, line := range app.HistoryText(h) {
				c.Out.Warn("%s", line)
			}
			c.Out.Hint("to use its history instead: rewind stores rm ., then rewind init --adopt %s", app.ShortStore(h[0].ID))
		}
		if err := hook.Mirrored(p); err != nil && p.Mode() == account.ProjectMode {
			c.Out.Warn("the store has no mirror under ~/.rewind, so git clean -fdx would destroy it: %v", err)
			c.Out.Hint("rewind stores rm ., then rewind init --mode global keeps the store outside the project")
		}
	} else if saved != nil {
		c.Out.Summary("Already initialised: %s. It had no checkpoint yet.", app.Escape(p.StoreDir()))
	} else {
		c.Out.Summary("Already initialised: %s.", app.Escape(p.StoreDir()))
	}
	if !created && o.Mode != "" && o.Mode != p.Mode() {
		c.Out.Warn("this project is in %s mode: --mode %s changes nothing", p.Mode(), o.Mode)
		c.Out.Hint("to change the mode, remove the store with its checkpoints first: rewind stores rm ., then rewind init --mode %s", o.Mode)
	}
	if now := p.Settings().Tier; !created && o.Tier != "" && o.Tier != now {
		c.Out.Warn("the tier of this project is %s: --tier %s changes nothing", now, o.Tier)
		c.Out.Hint("rewind config --tier %s", o.Tier)
	}
	if saved == nil {
		return nil
	}
	err = report.ReportSaved(c, saved)
	if !c.JSON {
		report.TellNotCaptured(c, notCaptured(ctx, c, saved.Checkpoint), "last")
	}
	return err
}
