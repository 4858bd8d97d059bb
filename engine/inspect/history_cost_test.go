package inspect_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
)

// TestOneFileOfMany: the history and the blame of a file that the first checkpoint has look at no other file of that
// checkpoint: they allocate less than one object for each of them.
func TestOneFileOfMany(t *testing.T) {
	const dirs, files = 20, 200
	l := newLab(t)
	for d := range dirs {
		for f := range files {
			l.Write(fmt.Sprintf("d%02d/f%03d", d, f), fmt.Sprintf("%d %d\n", d, f))
		}
	}
	l.Init()
	l.Write("d07/f007", "7 7\nmore\n")
	l.Save()
	for name, ask := range map[string]func(context.Context, *project.Project) error{
		"history": func(ctx context.Context, p *project.Project) error {
			h, err := inspect.History(ctx, p, inspect.HistoryOptions{Path: "d07/f007"})
			if err == nil && len(h.Steps) != 2 {
				t.Errorf("the history has %d steps, want 2", len(h.Steps))
			}
			return err
		},
		"blame": func(ctx context.Context, p *project.Project) error {
			b, err := inspect.Blame(ctx, p, inspect.BlameOptions{Path: "d07/f007"})
			if err == nil && len(b.Lines) != 2 {
				t.Errorf("blame has %d lines, want 2", len(b.Lines))
			}
			return err
		},
	} {
		allocations := testing.AllocsPerRun(1, func() { l.Do(ask) })
		if allocations >= dirs*files {
			t.Errorf("%s of one file of %d: %.0f allocations", name, dirs*files, allocations)
		}
	}
}
