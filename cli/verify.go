package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine/maintain"
)

func newVerify() *command {
	var readData bool
	return &command{
		name:  "verify",
		usage: "[--read-data] [--repair]",
		short: "check that every checkpoint is intact",
		long: "Checks that everything the checkpoints need is in the store, and lists damaged\n" +
			"checkpoints and paths. With --read-data, also reads every byte and checks its hash.\n" +
			"--repair rebuilds what can be rebuilt from the packs, the working tree and the mirror.",
		examples: []example{
			{"rewind verify", "fast"},
			{"rewind verify --read-data", "thorough"},
			{"rewind verify --repair", "mend what was found"},
		},
		exits: []int{exitBusy, exitDamaged},
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&readData, "read-data", false, "read every byte")
			f.Bool("repair", false, "repair the store as far as possible")
		},
		run: func(ctx context.Context, c *call) error {
			p, err := c.open(ctx)
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

func newRepair() *command {
	return &command{
		name:  "repair",
		usage: "",
		short: "repair the store as far as possible",
		long: "Rebuilds indexes, the database and a lost format file from the packs, recovers lost\n" +
			"content from the working tree and the store's mirror, and lists what stays damaged.",
		examples: []example{{"rewind verify --repair", "after rewind verify has found problems"}},
		exits:    []int{exitBusy, exitDamaged},
		run: func(ctx context.Context, c *call) error {
			p, err := c.open(ctx)
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

func reportVerified(c *call, v *maintain.Verified, repair bool) error {
	c.out.endProgress()
	if c.json {
		view := verifiedView{OK: v.OK(), Checkpoints: v.Checkpoints, Chunks: v.Chunks, Damaged: make([]damageView, len(v.Damaged))}
		for i, d := range v.Damaged {
			view.Damaged[i] = damageView{viewPath(d.Path), viewID(d.Checkpoint), d.Reason}
		}
		if repair {
			repaired := append([]string{}, v.Repaired...)
			view.Repaired = &repaired
		}
		if err := c.out.document(view); err != nil {
			return err
		}
	} else {
		for _, r := range v.Repaired {
			c.out.summary("Repaired: %s", escape(r))
		}
		for _, d := range v.Damaged {
			c.out.line("%s", damageLine(d))
		}
		c.out.summary("%s, %s: %s.", plural(v.Checkpoints, "checkpoint", "checkpoints"), plural(v.Chunks, "chunk", "chunks"), wholeOr(v))
	}
	if !v.OK() {
		return &damagedError{n: len(v.Damaged), afterRepair: repair}
	}
	return nil
}

func wholeOr(v *maintain.Verified) string {
	if v.OK() {
		return "all intact"
	}
	return plural(len(v.Damaged), "problem", "problems")
}

func damageLine(d maintain.Damage) string {
	where := "store"
	if id := viewID(d.Checkpoint); id != nil {
		where = "checkpoint " + *id
	}
	if d.Path != "" {
		where += ", " + escape(d.Path)
	}
	return "Damaged: " + where + ": " + escape(d.Reason)
}

type verifiedView struct {
	OK          bool         `json:"ok"`
	Checkpoints int          `json:"checkpoints"`
	Chunks      int          `json:"chunks"`
	Damaged     []damageView `json:"damaged"`
	Repaired    *[]string    `json:"repaired,omitempty"`
}

type damageView struct {
	pathView
	Checkpoint *string `json:"checkpoint"`
	Reason     string  `json:"reason"`
}
