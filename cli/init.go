package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

func newInit() *command {
	var (
		o    stores.InitOptions
		mode string
	)
	return &command{
		name:  "init",
		usage: "[--mode project|global] [--tier T] [--no-save] [--adopt STORE] [--trust] [--force]",
		short: "create the store and take the first checkpoint",
		long: "Creates a store for the project and takes its first checkpoint. If there is a store\n" +
			"already, says so and changes nothing, except that a store without any checkpoint gets\n" +
			"its first.",
		examples: []example{
			{"rewind init", "create the store in .agent/rewind of this project"},
			{"rewind init --mode global", "create the store under ~/.rewind instead"},
			{"rewind init --adopt 1f0c22ab", "bring the history of a lost or removed project here"},
		},
		exits: []int{exitPartial, exitBusy, exitDamaged, exitRefused},
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&mode, "mode", "", "where to create the store: `project|global` (default: as configured)")
			f.StringVar(&o.Tier, "tier", "", "the `tier`: minimal, balanced or aggressive")
			f.BoolVar(&o.NoSave, "no-save", false, "do not take a first checkpoint")
			f.StringVar(&o.Adopt, "adopt", "", "bring the history of a `store` here: its id, a prefix, or the path of its project")
			f.BoolVar(&o.Trust, "trust", false, "use a store that came with a repository or from another account")
			f.BoolVar(&o.Force, "force", false, "create the store even on an unreliable file system, or behind a link")
		},
		run: func(ctx context.Context, c *call) error {
			switch account.Mode(mode) {
			case "", account.ProjectMode, account.GlobalMode:
				o.Mode = account.Mode(mode)
			default:
				return usagef("--mode must be project or global, not %q", mode)
			}
			if o.Tier != "" && !settings.IsTier(o.Tier) {
				return usagef("--tier must be minimal, balanced or aggressive, not %q", o.Tier)
			}
			o.OpenOptions = c.openOptions()
			return runInit(ctx, c, o)
		},
	}
}

// initView is savedView for init, which may have saved nothing.
type initView struct {
	*savedView
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
func reportOlder(c *call, o *project.Older) {
	if len(o.Taken) > 0 {
		c.out.summary("The settings of the older rewind still apply: %s.", strings.Join(o.Taken, ", "))
	}
	if o.Settings != "" {
		c.out.summary("Its settings file is %s.", escape(o.Settings))
	}
	if o.Unread != nil {
		c.out.warn("nothing was imported from it: %v", o.Unread)
	}
	if o.Checkpoints != "" {
		c.out.summary("Its %s in %s.", plural(o.Count, "checkpoint is kept", "checkpoints are kept"), escape(o.Checkpoints))
	}
}

// notCaptured counts the paths that a checkpoint is without.
func notCaptured(ctx context.Context, c *call, k manifest.Checkpoint) int {
	problems, err := inspect.Coverage(ctx, c.project, k)
	if err != nil {
		return 0 // the checkpoint was taken, and status reports what is wrong with the store
	}
	return inspect.Outside(problems)
}

// tellNotCaptured says how many paths a checkpoint is without, and how to see them.
func tellNotCaptured(c *call, n int, checkpoint string) {
	if n > 0 {
		c.out.summary("Not captured: %s. To list them: %s", plural(n, "path", "paths"), c.out.typed("rewind show "+checkpoint+" --coverage"))
	}
}

func runInit(ctx context.Context, c *call, o stores.InitOptions) error {
	p, saved, created, err := save.Init(ctx, o)
	if p != nil {
		err = errors.Join(err, c.opened(ctx, p))
	}
	if err != nil {
		var refused *project.RefusedRootError
		if errors.As(err, &refused) && o.Root != "" {
			return &hintedError{err, "--force creates one anyway"}
		}
		if refused != nil && o.Adopt == "" && c.env.Dir != "" {
			return &hintedError{err, "cd to the project, or, if this directory is the project: rewind init --root ."}
		}
		return err
	}
	if c.json {
		v := initView{Root: p.Root(), Store: p.StoreDir(), Mode: string(p.Mode()), Created: created}
		if saved != nil {
			s := viewSaved(saved)
			v.savedView = &s
			v.NotCaptured = notCaptured(ctx, c, saved.Checkpoint)
		}
		if o := p.Older; o != nil {
			v.Older = &olderView{o.Checkpoints, o.Count, o.Settings, append([]string{}, o.Taken...)}
		}
		if err := c.out.document(v); err != nil {
			return err
		}
	} else if created {
		c.out.summary("Initialised %s.", escape(p.StoreDir()))
		if o := p.Older; o != nil {
			reportOlder(c, o)
		}
		if h := p.History; len(h) > 0 {
			for _, line := range historyText(h) {
				c.out.warn("%s", line)
			}
			c.out.hint("to use its history instead: rewind stores rm ., then rewind init --adopt %s", shortStore(h[0].ID))
		}
		if err := hook.Mirrored(p); err != nil && p.Mode() == account.ProjectMode {
			c.out.warn("the store has no mirror under ~/.rewind, so git clean -fdx would destroy it: %v", err)
			c.out.hint("rewind stores rm ., then rewind init --mode global keeps the store outside the project")
		}
	} else if saved != nil {
		c.out.summary("Already initialised: %s. It had no checkpoint yet.", escape(p.StoreDir()))
	} else {
		c.out.summary("Already initialised: %s.", escape(p.StoreDir()))
	}
	if !created && o.Mode != "" && o.Mode != p.Mode() {
		c.out.warn("this project is in %s mode: --mode %s changes nothing", p.Mode(), o.Mode)
		c.out.hint("to change the mode, remove the store with its checkpoints first: rewind stores rm ., then rewind init --mode %s", o.Mode)
	}
	if now := p.Settings().Tier; !created && o.Tier != "" && o.Tier != now {
		c.out.warn("the tier of this project is %s: --tier %s changes nothing", now, o.Tier)
		c.out.hint("rewind config --tier %s", o.Tier)
	}
	if saved == nil {
		return nil
	}
	err = reportSaved(c, saved)
	if !c.json {
		tellNotCaptured(c, notCaptured(ctx, c, saved.Checkpoint), "last")
	}
	return err
}
