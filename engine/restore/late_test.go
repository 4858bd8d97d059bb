package restore_test

import (
	"context"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// TestRestoreNamesWhatWasWrittenMeanwhile: what somebody writes after a restore has looked is in its safety checkpoint, and
// that and the path are told.
func TestRestoreNamesWhatWasWrittenMeanwhile(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Write("b", "1")
	l.Init()
	l.Write("a", "2")
	l.Write("b", "2")
	l.Write("c", "2")
	l.Do(func(ctx context.Context, p *project.Project) error {
		list, err := p.List(ctx, project.ListOptions{All: true})
		if err != nil {
			return err
		}
		write := func(*restore.Restored) (bool, error) {
			l.Write("a", "written meanwhile")
			return true, nil
		}
		done, err := restore.Restore(ctx, p, restore.Options{Checkpoint: list[0].Checkpoint, Confirm: write})
		if err != nil {
			return err
		}
		if !slices.Equal(done.Late, []string{"a"}) || done.Safety == nil {
			t.Fatalf("told: %q, safety %v", done.Late, done.Safety)
		}
		e, ok, err := manifest.Find(p.LoadDir, done.Safety.Root, "a")
		if err != nil || !ok || e.Size != uint64(len("written meanwhile")) {
			t.Errorf("the safety checkpoint has %+v, %v", e, err)
		}
		return nil
	})
}
