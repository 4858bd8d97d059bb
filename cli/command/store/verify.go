package store

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/maintain"
)

func NewVerify() *app.Command {
	var readData bool
	return &app.Command{
		Name:  "verify",
		Usage: "[--read-data] [--repair]",
		Short: "check that every checkpoint is intact",
		Long: "Checks that everything the checkpoints need is in the store, and lists damaged\n" +
			"checkpoints and paths. With --read-data, also reads every byte and checks its hash.\n" +
			"--repair rebuilds what can be rebuilt from the packs, the working tree and the mirror.",
		Examples: []app.Example{
			{Line: "rewind verify", Does: "fast"},
			{Line: "rewind verify --read-data", Does: "thorough"},
			{Line: "rewind verify --repair", Does: "mend what was found"},
		},
		Answers: app.Answers{"verify": verifiedView{}},
		Exits:   []int{app.ExitBusy, app.ExitDamaged},
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&readData, "read-data", false, "read every byte")
			f.Bool("repair", false, "repair the store as far as possible")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			v, err := maintain.Verify(ctx, p, readData)
			if err != nil {
				return err
			}
			return reportVerified(c, v, false)
		},
	}
}

func NewRepair() *app.Command {
	return &app.Command{
		Name:  "repair",
		Usage: "",
		Short: "repair the store as far as possible",
		Long: "Rebuilds indexes, the database and a lost format file from the packs, recovers lost\n" +
			"content from the working tree and the store's mirror, and lists what stays damaged.",
		Examples: []app.Example{{Line: "rewind verify --repair", Does: "after rewind verify has found problems"}},
		Answers:  app.Answers{"verify": verifiedView{}},
		Exits:    []int{app.ExitBusy, app.ExitDamaged},
		Run: func(ctx context.Context, c *app.Call) error {
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			v, err := maintain.Repair(ctx, p)
			if err != nil {
				return err
			}
			return reportVerified(c, v, true)
		},
	}
}

func reportVerified(c *app.Call, v *maintain.Verified, repair bool) error {
	c.Out.EndProgress()
	damaged := slices.Concat(v.Damaged, v.Pulled)
	if c.JSON {
		view := verifiedView{OK: len(damaged) == 0, Checkpoints: v.Checkpoints, Chunks: v.Chunks,
			Damaged: app.Map(damaged, func(d maintain.Damage) damageView {
				return damageView{app.ViewPath(d.Path), rows.ViewID(d.Checkpoint), d.Reason, d.Of}
			}),
			Strays: app.Map(v.Strays, func(s maintain.Stray) app.PathView { return app.ViewPath(s.Path) })}
		if repair {
			view.Repaired = new(notNil(v.Repaired))
		}
		if err := c.Out.Document(view); err != nil {
			return err
		}
	} else {
		for _, r := range v.Repaired {
			c.Out.Summary("Repaired: %s", app.Escape(r))
		}
		for _, d := range damaged {
			c.Out.Line("%s", damageLine(d))
		}
		app.WarnEach(c.Out, v.Strays, app.InJSON, func(s maintain.Stray) string { return "not the store's own, in its directory: " + app.Escape(s.Text()) })
		c.Out.Summary("%s, %s: %s.", app.Plural(v.Checkpoints, "checkpoint", "checkpoints"), app.Plural(v.Chunks, "chunk", "chunks"), wholeOr(len(damaged)))
	}
	if !v.OK() {
		hint := "rewind verify --repair"
		if repair || v.Final {
			hint = "what is listed is lost, and rewind gc --checkpoint ID removes such a checkpoint; all others can be restored"
		}
		found := "the store is damaged: " + app.Plural(len(v.Damaged), "problem", "problems") + " found"
		return &app.FailedError{Failure: app.Failure{Code: app.ExitDamaged, Message: found, Hint: hint}}
	}
	if n := len(v.Pulled); n > 0 {
		found := "what was pulled is damaged: " + app.Plural(n, "problem", "problems") + " found"
		return &app.FailedError{Failure: app.Failure{Code: app.ExitDamaged, Message: found, Hint: "rewind pull --check fetches it again"}}
	}
	return nil
}

func wholeOr(problems int) string {
	if problems == 0 {
		return "all intact"
	}
	return app.Plural(problems, "problem", "problems")
}

func damageLine(d maintain.Damage) string {
	where := "store"
	if id := rows.ViewID(d.Checkpoint); id != nil {
		where = "checkpoint " + *id
		if d.Of != "" {
			where += " of " + d.Of
		}
	}
	if d.Path != "" {
		where += ", " + app.Escape(d.Path)
	}
	return "Damaged: " + where + ": " + app.Escape(d.Reason)
}

type verifiedView struct {
	OK          bool           `json:"ok"`
	Checkpoints int            `json:"checkpoints"`
	Chunks      int            `json:"chunks"`
	Damaged     []damageView   `json:"damaged"`
	Strays      []app.PathView `json:"strays"` // what lies in the store's directory and is not the store's
	Repaired    *[]string      `json:"repaired,omitempty"`
}

type damageView struct {
	app.PathView
	Checkpoint *string `json:"checkpoint"`
	Reason     string  `json:"reason"`
	Of         string  `json:"machine"` // the name of the pulled log that the checkpoint is of; "" for the store's own
}
