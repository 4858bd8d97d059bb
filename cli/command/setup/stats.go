package setup

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/maintain"
)

func NewStats() *app.Command {
	return &app.Command{
		Name:  "stats",
		Usage: "",
		Short: "show what uses the space",
		Long: "Shows bytes by kind, how well they compress, what only one checkpoint uses, and the\n" +
			"largest paths.",
		Examples: []app.Example{
			{Line: "rewind status -v", Does: "for a person"},
			{Line: "rewind status -v --json", Does: "for scripts; the schema is in docs/schema/stats.schema.json"},
		},
		Answers: app.Answers{"stats": report.StatsView{}},
		Exits:   []int{app.ExitDamaged},
		Run: func(ctx context.Context, c *app.Call) error {
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			st, err := maintain.StatsOf(ctx, p)
			if err != nil {
				return err
			}
			return c.Answer(ctx, func() any { return report.ViewStats(st) }, func() { printStats(c.Out, st) })
		},
	}
}

// statsShown bounds the checkpoints that stats names on a screen.
const statsShown = 20

func printStats(o *app.Output, st *maintain.Stats) {
	o.Line("%s, %s", app.CheckpointCount(st.Checkpoints-st.Safety, st.Safety), app.Plural(st.Objects, "object", "objects"))
	if st.StoredBytes > 0 {
		o.Line("%s stored for %s of content, %.1f to 1", app.FormatSize(st.StoredBytes), app.FormatSize(st.RawBytes), float64(st.RawBytes)/float64(st.StoredBytes))
	}
	t := screen.Table{Columns: []screen.Column{{Title: "ON DISK"}, {Title: "BYTES", Right: true}}}
	for _, k := range slices.Sorted(maps.Keys(st.Bytes)) {
		t.Rows = append(t.Rows, []string{app.Escape(k), app.FormatSize(st.Bytes[k])})
	}
	o.Line("")
	o.Table(t)
	if len(st.PerCheckpoint) > 0 {
		o.Line("")
		t = screen.Table{Columns: []screen.Column{
			{Title: "#", Right: true, Style: screen.Yellow}, {Title: "ID", Style: screen.Yellow}, {Title: "OWN", Right: true}, {Title: "SHARED", Right: true},
			{Title: "AGE", Right: true}, {Title: "CHECKPOINT", Flex: true},
		}}
		for _, c := range app.FirstN(st.PerCheckpoint, statsShown) {
			l := c.Checkpoint
			number := ""
			if l.N > 0 {
				number = app.Utoa(uint64(l.N))
			}
			t.Rows = append(t.Rows, []string{number, l.ID.String()[:app.ShortID], app.FormatSize(c.Unique), app.FormatSize(c.Shared), app.FormatAge(o.Now().Sub(l.Time)), cmp.Or(rows.CheckpointText(l), rows.Reason(l))})
		}
		o.Table(t)
	}
	if len(st.Largest) > 0 {
		o.Line("")
		t = screen.Table{Columns: []screen.Column{{Title: "LARGEST PATHS", Flex: true}, {Title: "BYTES", Right: true}, {Title: "VERSIONS", Right: true}}}
		for _, p := range st.Largest {
			t.Rows = append(t.Rows, []string{app.Escape(p.Path), app.FormatSize(p.Bytes), app.Utoa(uint64(p.Versions))})
		}
		o.Table(t)
	}
}
