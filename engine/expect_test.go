package engine

import (
	"errors"
	"testing"

	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// What is done is what a plan said: whatever moves in between, nothing is changed.
func TestExpect(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.write("b", "1")
	first := l.init().Checkpoint
	l.write("a", "2")
	second := l.save().Checkpoint
	for _, c := range []struct {
		name      string
		call      restoreCall
		o         restore.Options
		meanwhile func()
		want      string // "" where it is refused
	}{
		{"nothing moved", restore.Restore, restore.Options{Checkpoint: first}, func() {}, "a=1 b=1"},
		{"nothing moved, taken back", restore.UndoRestore, restore.Options{}, func() {}, "a=2 b=1"},
		{"a path of the plan", restore.Restore, restore.Options{Checkpoint: first}, func() { l.write("a", "3") }, ""},
		{"another path", restore.Restore, restore.Options{Checkpoint: first}, func() { l.write("c", "new") }, ""},
		{"another checkpoint to undo to", restore.Undo, restore.Options{}, func() { l.write("a", "4"); l.save(); l.write("a", "3") }, ""},
		{"of some paths", restore.Restore, restore.Options{Checkpoint: second, Paths: []string{"a"}}, func() {}, "a=2 b=1 c=new"},
	} {
		o := c.o
		o.DryRun = true
		plan := l.must(c.call, o)
		if plan.Expected.Root.IsZero() || plan.Expected.Target == (manifest.CheckpointID{}) {
			t.Fatalf("%s: a dry run says nothing of what it was made from: %+v", c.name, plan.Expected)
		}
		c.meanwhile()
		before, ops := l.contents(), len(l.operations())
		o.DryRun, o.Expect = false, &plan.Expected
		_, err := l.run(c.call, o)
		if c.want != "" {
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			l.want(c.want)
			continue
		}
		var changed *restore.PlanChangedError
		if !errors.As(err, &changed) {
			t.Errorf("%s: %v", c.name, err)
		}
		if after := l.contents(); after != before || len(l.operations()) != ops {
			t.Errorf("%s: refused, and changed %q into %q", c.name, before, after)
		}
	}
	// The same root and the same contents, of other paths: that is another plan.
	l.write("b", "1")
	l.write("c", "1")
	both := l.save().Checkpoint
	l.write("b", "2")
	l.write("c", "2")
	plan := l.must(restore.Restore, restore.Options{Checkpoint: both, Paths: []string{"b"}, DryRun: true})
	_, err := l.run(restore.Restore, restore.Options{Checkpoint: both, Paths: []string{"c"}, Expect: &plan.Expected})
	var changed *restore.PlanChangedError
	if !errors.As(err, &changed) {
		t.Errorf("another path than the plan's: %v", err)
	}
}
