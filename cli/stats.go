package cli

import (
	"context"
	"sort"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/maintain"
)

func newStats() *command {
	return &command{
		name:  "stats",
		usage: "",
		short: "show what uses the space",
		long: "Shows bytes by kind, how well they compress, what only one checkpoint uses, and the\n" +
			"largest paths.",
		examples: []example{
			{"rewind status -v", "for a person"},
			{"rewind status -v --json", "for scripts; the schema is in docs/schema/stats.schema.json"},
		},
		exits: []int{exitDamaged},
		run: func(ctx context.Context, c *call) error {
			p, err := c.open(ctx)
			if err != nil {
				return err
			}
			st, err := maintain.StatsOf(ctx, p)
			if err != nil {
				return err
			}
			if c.json {
				return c.out.document(viewStats(st))
			}
			return c.out.paged(ctx, c.env, func() error {
				printStats(c.out, st)
				return nil
			})
		},
	}
}

// statsView is described by docs/schema/stats.schema.json.
type statsView struct {
	Checkpoints   int64                 `json:"checkpoints"`
	Objects       int64                 `json:"objects"`
	Bytes         map[string]int64      `json:"bytes"`
	RawBytes      int64                 `json:"raw_bytes"`
	StoredBytes   int64                 `json:"stored_bytes"`
	PerCheckpoint []checkpointBytesView `json:"per_checkpoint"`
	Largest       []pathBytesView       `json:"largest"`
}

type checkpointBytesView struct {
	Checkpoint string `json:"checkpoint"`
	Unique     int64  `json:"unique_bytes"`
	Shared     int64  `json:"shared_bytes"`
}

type pathBytesView struct {
	pathView
	Bytes    int64 `json:"bytes"`
	Versions int   `json:"versions"`
}

func viewStats(st *maintain.Stats) statsView {
	v := statsView{
		Checkpoints: st.Checkpoints, Objects: st.Objects, Bytes: st.Bytes, RawBytes: st.RawBytes, StoredBytes: st.StoredBytes,
		PerCheckpoint: make([]checkpointBytesView, len(st.PerCheckpoint)), Largest: make([]pathBytesView, len(st.Largest)),
	}
	if v.Bytes == nil {
		v.Bytes = map[string]int64{}
	}
	for i, c := range st.PerCheckpoint {
		v.PerCheckpoint[i] = checkpointBytesView{c.Checkpoint.ID.String(), c.Unique, c.Shared}
	}
	for i, p := range st.Largest {
		v.Largest[i] = pathBytesView{viewPath(p.Path), p.Bytes, p.Versions}
	}
	return v
}

// statsShown bounds the checkpoints that stats names on a screen.
const statsShown = 20

func printStats(o *output, st *maintain.Stats) {
	o.line("%s, %s", checkpointCount(st.Checkpoints-st.Safety, st.Safety), plural(st.Objects, "object", "objects"))
	if st.StoredBytes > 0 {
		o.line("%s stored for %s of content, %.1f to 1", formatSize(st.StoredBytes), formatSize(st.RawBytes), float64(st.RawBytes)/float64(st.StoredBytes))
	}
	kinds := make([]string, 0, len(st.Bytes))
	for k := range st.Bytes {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	t := screen.Table{Width: o.width(), Columns: []screen.Column{{Title: "ON DISK"}, {Title: "BYTES", Right: true}}}
	for _, k := range kinds {
		t.Rows = append(t.Rows, []string{escape(k), formatSize(st.Bytes[k])})
	}
	emit := func(s string) { o.line("%s", s) }
	o.line("")
	t.Write(o.color, emit)
	if len(st.PerCheckpoint) > 0 {
		o.line("")
		t = screen.Table{Width: o.width(), Columns: []screen.Column{
			{Title: "#", Right: true, Style: screen.Yellow}, {Title: "ID", Style: screen.Yellow}, {Title: "OWN", Right: true}, {Title: "SHARED", Right: true},
			{Title: "AGE", Right: true}, {Title: "CHECKPOINT", Flex: true},
		}}
		for _, c := range firstN(st.PerCheckpoint, statsShown) {
			l := c.Checkpoint
			text := checkpointText(l)
			if text == "" {
				text = reason(l)
			}
			number := ""
			if l.N > 0 {
				number = utoa(uint64(l.N))
			}
			t.Rows = append(t.Rows, []string{number, l.ID.String()[:shortID], formatSize(c.Unique), formatSize(c.Shared), formatAge(o.now().Sub(l.Time)), text})
		}
		t.Write(o.color, emit)
	}
	if len(st.Largest) > 0 {
		o.line("")
		t = screen.Table{Width: o.width(), Columns: []screen.Column{{Title: "LARGEST PATHS", Flex: true}, {Title: "BYTES", Right: true}, {Title: "VERSIONS", Right: true}}}
		for _, p := range st.Largest {
			t.Rows = append(t.Rows, []string{escape(p.Path), formatSize(p.Bytes), utoa(uint64(p.Versions))})
		}
		t.Write(o.color, emit)
	}
}
