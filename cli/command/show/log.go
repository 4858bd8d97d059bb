package show

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

func NewLog() *app.Command {
	var o listFlags
	return &app.Command{
		Name:  "log",
		Usage: "[--since T] [--until T] [--limit N] [--all]",
		Short: "show the operations, newest first",
		Long: "Shows what changed the project or the store: restores, undos, gc, forget, repair. Each\n" +
			"with its number, its age, the command as it was typed, what it changed, the checkpoint\n" +
			"that it went to, the safety checkpoint taken before it, and whether it is taken back.\n" +
			"With --verbose, also where the transcript from before it was kept.",
		Examples: []app.Example{
			{Line: "rewind list --ops", Does: "the newest 20"},
			{Line: "rewind undo", Does: "undo the newest restore"},
			{Line: "rewind undo --to 3", Does: "undo the newest restores, up to the operation with number 3"},
		},
		Answers: app.Answers{"log": report.LogView{}},
		Exits:   []int{app.ExitBusy, app.ExitDamaged},
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&o.all, "all", false, "no limit")
			f.StringVar(&o.since, "since", "", "only from time `T` on")
			f.StringVar(&o.until, "until", "", "only up to time `T`")
			f.IntVarP(&o.limit, "limit", "n", 20, "show at most `N`, 0 for all")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			most, err := o.most(c)
			if err != nil {
				return err
			}
			filter, err := o.filter(c)
			if err != nil {
				return err
			}
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			ops, err := oplog.OperationLog(ctx, p, 0)
			if err != nil {
				return err
			}
			any := len(ops) > 0
			ops = slices.DeleteFunc(ops, func(op oplog.Logged) bool {
				return op.Time.Before(filter.Since) || !filter.Until.IsZero() && op.Time.After(filter.Until)
			})
			if most > 0 {
				ops = app.FirstN(ops, most)
			}
			if c.JSON {
				return c.Out.Document(report.ViewLog(p, ops))
			}
			if len(ops) == 0 {
				c.Out.Hint("%s", map[bool]string{true: "no operation matches; rewind list --ops lists all", false: "no operations yet"}[any])
				return nil
			}
			return c.Page(ctx, func() { logTable(c.Out, p, ops) })
		},
	}
}

func logTable(o *app.Output, p *project.Project, ops []oplog.Logged) {
	t := screen.Table{Columns: []screen.Column{{Title: "#", Right: true}, {Title: "AGE", Right: true}, {Title: "OPERATION", Style: screen.Cyan, Flex: true}, {Title: "CHANGES"},
		{Title: "CHECKPOINT", Flex: true}, {Title: "SAFETY", Style: screen.Yellow}, {Title: "NOTE", Flex: true}}}
	numbers := map[uint64]int{}
	for _, op := range ops {
		numbers[op.Seq] = op.N
	}
	for i, e := range restore.LogOf(p, report.OperationsOf(ops)).Operations {
		op := ops[i]
		safety := ""
		if op.Safety != (manifest.CheckpointID{}) {
			safety = op.Safety.String()[:app.ShortID]
		}
		t.Rows = append(t.Rows, []string{strconv.Itoa(op.N), app.FormatAge(o.Now().Sub(op.Time)), app.Escape(strings.TrimSpace(e.Kind + " " + op.Args)),
			rows.ChangeCounts(op.Created, op.Replaced, op.Deleted), logTarget(op), safety, logNote(op, numbers, e.TranscriptBackup, o.Verbose)})
	}
	o.Table(t)
}

// logTarget names the checkpoint that an operation went to.
func logTarget(op oplog.Logged) string {
	switch {
	case op.Checkpoint == (manifest.CheckpointID{}):
		return ""
	case op.Target == nil && op.Of != "":
		return op.Of + "/" + op.Checkpoint.String()[:app.ShortID]
	case op.Target == nil || op.Target.N == 0: // a safety checkpoint, or one that gc removed
		return op.Checkpoint.String()[:app.ShortID]
	}
	return rows.Briefly(*op.Target)
}

// logNote says what an operation took back, or what took it back, and that the transcript from before it was kept; long: where.
func logNote(op oplog.Logged, numbers map[uint64]int, backup *string, long bool) string {
	var notes []string
	if n, ok := numbers[op.TakenBackBy]; ok {
		notes = append(notes, "taken back by "+strconv.Itoa(n))
	}
	if len(op.TakesBack) > 0 {
		first, last := op.TakesBack[0], op.TakesBack[len(op.TakesBack)-1]
		switch a, b := numbers[first], numbers[last]; {
		case a == 0: // below what is shown
		case a == b:
			notes = append(notes, "takes back "+strconv.Itoa(a))
		case b == 0:
			notes = append(notes, "takes back "+app.Plural(len(op.TakesBack), "operation", "operations"))
		default:
			notes = append(notes, "takes back "+strconv.Itoa(a)+" to "+strconv.Itoa(b))
		}
	}
	if backup != nil && long {
		notes = append(notes, "transcript kept as "+app.Escape(*backup))
	} else if backup != nil {
		notes = append(notes, "transcript kept")
	}
	return strings.Join(notes, ", ")
}
