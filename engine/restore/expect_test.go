package restore_test

import (
	"errors"
	"testing"

	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// What is done is what a plan said: whatever moves in between, nothing is changed.
func TestExpect(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Write("b", "1")
	first := l.Init().Checkpoint
	l.Write("a", "2")
	second := l.Save().Checkpoint
	for _, c := range []struct {
		name      string
		call      testlab.RestoreCall
		o         restore.Options
		meanwhile func()
		want      string // "" where it is refused
	}{
		{"nothing moved", restore.Restore, restore.Options{Checkpoint: first}, func() {}, "a=1 b=1"},
		{"nothing moved, taken back", restore.UndoRestore, restore.Options{}, func() {}, "a=2 b=1"},
		{"a path of the plan", restore.Restore, restore.Options{Checkpoint: first}, func() { l.Write("a", "3") }, ""},
		{"another path", restore.Restore, restore.Options{Checkpoint: first}, func() { l.Write("c", "new") }, ""},
		{"another checkpoint to undo to", restore.Undo, restore.Options{}, func() { l.Write("a", "4"); l.Save(); l.Write("a", "3") }, ""},
		{"of some paths", restore.Restore, restore.Options{Checkpoint: second, Paths: []string{"a"}}, func() {}, "a=2 b=1 c=new"},
	} {
		o := c.o
		o.DryRun = true
		plan := l.Must(c.call, o)
		if plan.Expected.Root.IsZero() || plan.Expected.Target == (manifest.CheckpointID{}) {
			t.Fatalf("%s: a dry run says nothing of what it was made from: %+v", c.name, plan.Expected)
		}
		c.meanwhile()
		before, ops := l.Contents(), len(l.Operations())
		o.DryRun, o.Expect = false, &plan.Expected
		_, err := l.Run(c.call, o)
		if c.want != "" {
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			l.Want(c.want)
			continue
		}
		var changed *restore.PlanChangedError
		if !errors.As(err, &changed) {
			t.Errorf("%s: %v", c.name, err)
		}
		if after := l.Contents(); after != before || len(l.Operations()) != ops {
			t.Errorf("%s: refused, and changed %q into %q", c.name, before, after)
		}
	}
	// The same root and the same contents, of other paths: that is another plan.
	l.Write("b", "1")
	l.Write("c", "1")
	both := l.Save().Checkpoint
	l.Write("b", "2")
	l.Write("c", "2")
	plan := l.Must(restore.Restore, restore.Options{Checkpoint: both, Paths: []string{"b"}, DryRun: true})
	_, err := l.Run(restore.Restore, restore.Options{Checkpoint: both, Paths: []string{"c"}, Expect: &plan.Expected})
	var changed *restore.PlanChangedError
	if !errors.As(err, &changed) {
		t.Errorf("another path than the plan's: %v", err)
	}
}
