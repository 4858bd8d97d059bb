package inspect_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
)

// TestPatchCounts: content that looks like a header counts as content.
func TestPatchCounts(t *testing.T) {
	l := newLab(t)
	l.Write("sql", "-- a comment\nkept\n++ plus\n")
	first := l.Init()
	l.Write("sql", "kept\n-- another\n++ more\n++ plus\n")
	l.Write("binary", "\x00\x01")
	l.Do(func(ctx context.Context, p *project.Project) error {
		got, err := inspect.Diff(ctx, p, inspect.DiffOptions{A: first.Checkpoint, Patch: true})
		if err != nil {
			return err
		}
		if len(got) != 2 || !got[0].Binary || got[1].Added != 2 || got[1].Deleted != 1 {
			t.Errorf("diff %+v", got)
		}
		if !strings.Contains(got[1].Patch, "\n--- a/sql\n+++ b/sql\n@@ ") {
			t.Errorf("patch %q", got[1].Patch)
		}
		return nil
	})
}
