package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine"
)

func newLog() *command {
	var limit int
	return &command{
		name:  "log",
		usage: "[--limit N]",
		short: "show the operations, newest first",
		long: "Shows what changed the project or the store: restores, undos, gc, forget, repair, each\n" +
			"with its time, its checkpoint, and the safety checkpoint that was taken before it.",
		examples: []example{
			{"rewind log", "the newest 20"},
			{"rewind undo-restore", "undo the newest restore"},
		},
		exits: []int{exitBusy, exitDamaged},
		flags: func(f *pflag.FlagSet) {
			f.IntVar(&limit, "limit", 20, "show at most `N`, 0 for all")
		},
		run: func(ctx context.Context, c *call) error {
			if limit < 0 {
				return usagef("--limit must be 0 or more, not %d", limit)
			}
			p, err := c.open(ctx)
			if err != nil {
				return err
			}
			ops, err := engine.Operations(ctx, p, limit)
			if err != nil {
				return err
			}
			v := engine.LogOf(p, ops)
			t := screen.Table{
				Width: c.out.width(),
				Columns: []screen.Column{{Title: "TIME"}, {Title: "WHAT", Style: screen.Cyan}, {Title: "CHECKPOINT", Style: screen.Yellow},
					{Title: "SAFETY", Style: screen.Yellow}, {Title: "TRANSCRIPT BACKUP", Flex: true}},
			}
			for i, e := range v.Operations {
				t.Rows = append(t.Rows, []string{ops[i].Time.Local().Format("2006-01-02 15:04:05"), escape(e.Kind),
					deref(e.Checkpoint), deref(e.Safety), escape(deref(e.TranscriptBackup))})
			}
			if c.json {
				return c.out.document(v)
			}
			if len(ops) == 0 {
				c.out.hint("no operations yet")
				return nil
			}
			return c.out.paged(ctx, c.env, func() error {
				t.Write(c.out.color, func(s string) { c.out.line("%s", s) })
				return nil
			})
		},
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
