package picker

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// mostGrown is how many checkpoints are named of those that brought most into the store.
const mostGrown = 40

// Grown is a checkpoint that brought much into the store.
type Grown struct {
	maintain.CheckpointBytes
	By   *From  // the row that made the largest of its files, or in which it was first seen; nil where that is gone
	Path string // of that file; "" for none
	Size uint64 // and its bytes
}

// Usage is what takes the space of the store, and the checkpoints that brought most of it, the largest first.
func (s *Source) Usage(ctx context.Context) (st *maintain.Stats, out []Grown, err error) {
	if st, err = maintain.StatsOf(ctx, s.P); err != nil {
		return nil, nil, err
	}
	all := make([]int, len(st.PerCheckpoint)) // they are newest first
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(i, j int) int { return cmp.Compare(st.PerCheckpoint[j].New, st.PerCheckpoint[i].New) })
	makers := timeline.NewMakers(s.P, nil)
	for _, i := range app.FirstN(all, mostGrown) {
		g := Grown{CheckpointBytes: st.PerCheckpoint[i]}
		take := func(path string, e *manifest.Entry) {
			if e != nil && e.Kind != manifest.Subdir && e.Size > g.Size {
				g.Path, g.Size = path, e.Size
			}
		}
		if i == len(all)-1 {
			err = manifest.Walk(s.P.LoadDir, g.Checkpoint.Root, func(path string, e manifest.Entry) error { take(path, &e); return nil })
		} else {
			err = manifest.Diff(s.P.LoadDir, st.PerCheckpoint[i+1].Checkpoint.Root, g.Checkpoint.Root, func(d manifest.Change) error { take(d.Path, d.New); return nil })
		}
		if err == nil && g.Path != "" {
			var made timeline.Made
			made, err = makers.Maker(ctx, g.Path, g.Checkpoint.Seq)
			if g.By = FromRow(made.Row); g.By == nil && err == nil {
				g.By, err = seenIn(ctx, makers, made, &g.Checkpoint.Checkpoint, g.Path)
			}
		}
		if err = s.P.Classify(err); err != nil && !project.IsDamage(err) { // verify reports that
			return nil, nil, err
		}
		if g.New > 0 && g.Path != "" {
			out = append(out, g)
		}
	}
	return st, out, nil
}

// mostTold is how many of each the screen shows.
const mostTold = 15

// info says what is not captured, and what takes the space.
func (s *picking) info(ctx context.Context) ([]screen.Line, error) {
	var newest *manifest.Checkpoint
	err := s.P.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Limit: 1}) {
			if err != nil {
				return err
			}
			newest = &c
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if newest == nil {
		return []screen.Line{nil, screen.Text(screen.Plain, "  no checkpoints yet; take one with rewind save")}, nil
	}
	left, err := inspect.Coverage(ctx, s.P, *newest)
	if err != nil {
		return nil, err
	}
	out := []screen.Line{screen.Text(screen.Bold, "  "+app.Plural(len(left), "path is", "paths are")+" not in the newest checkpoint"), nil}
	for _, l := range app.FirstN(left, mostTold) {
		out = append(out, screen.Line{{Text: "  " + screen.Ordered(app.EscapePath(l.Path)) + "  "}, {Text: app.Escape(string(l.Reason)), Style: screen.Dim}})
	}
	if len(left) > mostTold {
		out = append(out, screen.Text(screen.Dim, "  rewind show last --coverage lists all"))
	}
	_, grown, err := s.Usage(ctx)
	if err != nil {
		return nil, err
	}
	out = append(out, nil, screen.Text(screen.Bold, "  What brought most into the store"), nil)
	for _, g := range app.FirstN(grown, mostTold) {
		by := g.Checkpoint.ID.String()[:app.ShortID]
		if g.By != nil {
			by = fmt.Sprintf("%s %s %s", g.By.N, g.By.Why, screen.Ordered(g.By.Text))
		}
		out = append(out, screen.Line{{Text: fmt.Sprintf("  %9s  ", app.FormatSize(g.New)), Style: screen.Yellow}, {Text: screen.Clip(by, 60)},
			{Text: "  " + screen.Ordered(app.EscapePath(g.Path)), Style: screen.Dim}})
	}
	return out, nil
}
