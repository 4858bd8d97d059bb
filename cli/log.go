package cli

import (
	"context"

	"github.com/spf13/pflag"

	"rewind/engine"
	"rewind/engine/conversation"
	"rewind/manifest"
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
			v := logView{Operations: make([]operationView, len(ops))}
			t := table{
				width: c.out.width(),
				columns: []column{{title: "TIME"}, {title: "WHAT", style: cyan}, {title: "CHECKPOINT", style: yellow},
					{title: "SAFETY", style: yellow}, {title: "TRANSCRIPT BACKUP", flex: true}},
			}
			for i, op := range ops {
				v.Operations[i] = operationView{
					Seq: op.Seq, Time: viewTime(op.Time), Kind: verbOf(op), Checkpoint: viewID(op.Checkpoint),
					Backup: viewID(op.Safety), Safety: viewID(op.Safety), TranscriptBackup: orNull(conversation.TranscriptBackup(p, op)),
				}
				t.rows = append(t.rows, []string{op.Time.Local().Format("2006-01-02 15:04:05"), escape(verbOf(op)),
					deref(viewID(op.Checkpoint)), deref(viewID(op.Safety)), escape(conversation.TranscriptBackup(p, op))})
			}
			if c.json {
				return c.out.document(v)
			}
			if len(ops) == 0 {
				c.out.hint("no operations yet")
				return nil
			}
			return c.out.paged(ctx, c.env, func() error {
				t.write(c.out.color, func(s string) { c.out.line("%s", s) })
				return nil
			})
		},
	}
}

// verbOf is the command that an operation was.
func verbOf(op manifest.Operation) string {
	if op.Verb != "" {
		return op.Verb
	}
	return string(op.Kind)
}

type logView struct {
	Operations []operationView `json:"operations"`
}

type operationView struct {
	Seq              uint64  `json:"seq"`
	Time             string  `json:"time"`
	Kind             string  `json:"kind"`
	Checkpoint       *string `json:"checkpoint"`
	Backup           *string `json:"backup_checkpoint"`
	Safety           *string `json:"safety"` // the same, as restore calls it
	TranscriptBackup *string `json:"transcript_backup"`
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
