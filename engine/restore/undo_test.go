package restore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/manifest"
)

func TestUndoGoesFurtherBack(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	l.Write("a", "2")
	l.Save()
	l.Write("a", "3")
	l.Save()
	l.Write("a", "unsaved")
	for _, want := range []string{"3", "2", "1"} {
		l.Must(restore.Undo, restore.Options{})
		l.Want("a=" + want)
	}
	var nothing *project.NothingError
	if _, err := l.Run(restore.Undo, restore.Options{}); !errors.As(err, &nothing) {
		t.Fatalf("undo past the first checkpoint: %v", err)
	}
	// Every undo is taken back in its turn, down to the work that was never saved.
	for _, want := range []string{"2", "3", "unsaved"} {
		l.Must(restore.UndoRestore, restore.Options{})
		l.Want("a=" + want)
	}
	if _, err := l.Run(restore.UndoRestore, restore.Options{}); !errors.As(err, &nothing) {
		t.Fatalf("undo-restore of nothing: %v", err)
	}
	for _, want := range []string{"3", "2", "1"} {
		l.Must(restore.RedoRestore, restore.Options{})
		l.Want("a=" + want)
	}
	if _, err := l.Run(restore.RedoRestore, restore.Options{}); !errors.As(err, &nothing) {
		t.Fatalf("redo-restore of nothing: %v", err)
	}
	l.Must(restore.UndoRestore, restore.Options{})
	l.Want("a=2")
}

// TestUndoStartsAnew: what is done after an undo is undone first; then undo goes on from where that undo led.
func TestUndoStartsAnew(t *testing.T) {
	for _, after := range []string{"edit", "save"} {
		l := newLab(t)
		l.Write("a", "1")
		l.Init()
		l.Write("a", "2")
		l.Save()
		l.Write("a", "3")
		l.Save()
		l.Must(restore.Undo, restore.Options{})
		l.Want("a=2")
		if after == "edit" {
			l.Write("a", "2 and more")
		} else {
			l.Write("b", "new")
			l.Save()
		}
		for _, want := range []string{"2", "1"} {
			l.Must(restore.Undo, restore.Options{})
			l.Want("a=" + want)
		}
	}
}

// TestUndoThroughOperations: a step takes back an operation that nothing came after, also below other steps, and leads to
// what an operation left where work came after it. Redo goes the same way forward.
func TestUndoThroughOperations(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	first := l.Init()
	l.Write("a", "2")
	l.Save()
	l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	l.Want("a=1")
	l.Write("b", "edited and not saved")
	l.Write("a", "4")
	want := []string{"a=1", "a=2", "a=1"}
	for i := range want {
		done := l.Must(restore.Undo, restore.Options{})
		l.Want(want[i])
		if got := fmt.Sprint(done.Since, "/", done.Of); got != []string{"restore/", "/restore", "/"}[i] {
			t.Errorf("step %d is called %s", i, got)
		}
	}
	var nothing *project.NothingError
	if _, err := l.Run(restore.Undo, restore.Options{}); !errors.As(err, &nothing) {
		t.Errorf("undo of nothing: %v", err)
	}
	for _, want := range []string{"a=2", "a=1", "a=4 b=edited and not saved"} {
		l.Must(restore.Redo, restore.Options{})
		l.Want(want)
	}
	if _, err := l.Run(restore.Redo, restore.Options{}); !errors.As(err, &nothing) {
		t.Errorf("redo of nothing: %v", err)
	}
	// All three at once, and back at once.
	l.Must(restore.Undo, restore.Options{Steps: 3})
	l.Want("a=1")
	if _, err := l.Run(restore.Undo, restore.Options{}); !errors.As(err, &nothing) {
		t.Errorf("undo of nothing after three steps at once: %v", err)
	}
	l.Must(restore.Redo, restore.Options{})
	l.Want("a=4 b=edited and not saved")
	// What changed nothing is no step.
	l.Save()
	l.Must(restore.Restore, restore.Options{Checkpoint: l.Save().Checkpoint})
	l.Must(restore.Undo, restore.Options{Steps: 2})
	l.Want("a=2")
	// A prompt without a change is no work: undo goes on from there.
	l.Save()
	l.Must(restore.Undo, restore.Options{})
	l.Want("a=1")
}

// TestUndoAndRedoMirror: whatever was edited, saved and restored, redo goes back through the same states that undo
// went through, and each step changes the files.
func TestUndoAndRedoMirror(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLab(t)
		l.Write("a", "0")
		saved := []*checkpoint.Saved{l.Init()}
		for i := range rapid.IntRange(1, 10).Draw(rt, "events") {
			switch rapid.IntRange(0, 5).Draw(rt, "event") {
			case 0, 1:
				l.Write(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "file"), fmt.Sprint(i))
			case 2:
				saved = append(saved, l.Save())
			case 3:
				l.Must(restore.Restore, restore.Options{Checkpoint: rapid.SampledFrom(saved).Draw(rt, "to").Checkpoint})
			case 4:
				_, _ = l.Run(restore.Undo, restore.Options{Steps: rapid.IntRange(1, 2).Draw(rt, "steps")}) // perhaps there is nothing
			case 5:
				_, _ = l.Run(restore.Redo, restore.Options{}) // the same, or it is refused because of an edit
			}
		}
		states := []string{l.Contents()}
		var nothing *project.NothingError
		for {
			_, err := l.Run(restore.Undo, restore.Options{})
			if errors.As(err, &nothing) {
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
			now := l.Contents()
			if now == states[len(states)-1] {
				rt.Fatalf("step %d changed nothing of %q", len(states), now)
			}
			if states = append(states, now); len(states) > 100 {
				rt.Fatalf("undo has no end: %q", states)
			}
		}
		for i := len(states) - 2; i >= 0; i-- {
			if _, err := l.Run(restore.Redo, restore.Options{}); err != nil {
				rt.Fatalf("redo to %q: %v", states[i], err)
			}
			if now := l.Contents(); now != states[i] {
				rt.Fatalf("redo leads to %q, not to %q of %q", now, states[i], states)
			}
		}
	})
}

func TestUndoRestoreTouchesOnlyItsOwnPaths(t *testing.T) {
	l := newLab(t)
	l.Write("a.txt", "a1")
	l.Write("b.txt", "b1")
	first := l.Init()
	l.Write("a.txt", "a2")
	l.Write("b.txt", "b2")
	l.Write("c.txt", "c2")
	l.Save()
	done := l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: []string{"a.txt"}})
	if !slices.Equal(done.Replace, []string{"a.txt"}) || len(done.Create)+len(done.Delete)+len(done.Mode) > 0 {
		t.Errorf("restored %+v", done)
	}
	l.Want("a.txt=a1 b.txt=b2 c.txt=c2")
	l.Write("b.txt", "later work")
	l.Write("d.txt", "more of it")
	l.Save()
	l.Must(restore.UndoRestore, restore.Options{})
	l.Want("a.txt=a2 b.txt=later work c.txt=c2 d.txt=more of it")
	// A save does not clear what could be redone.
	l.Save()
	l.Must(restore.RedoRestore, restore.Options{})
	l.Want("a.txt=a1 b.txt=later work c.txt=c2 d.txt=more of it")
	// A new restore does.
	l.Must(restore.UndoRestore, restore.Options{})
	l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: []string{"b.txt"}})
	var nothing *project.NothingError
	if _, err := l.Run(restore.RedoRestore, restore.Options{}); !errors.As(err, &nothing) {
		t.Errorf("redo after a new restore: %v", err)
	}
}

func TestUndoRestoreRefusesWhatChangedSince(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Write("b", "1")
	first := l.Init()
	l.Write("a", "2")
	l.Write("b", "2")
	l.Save()
	l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	l.Write("a", "precious")
	var refused *project.RefusedError
	_, err := l.Run(restore.UndoRestore, restore.Options{})
	if !errors.As(err, &refused) || !refused.Forcible || !slices.Equal(refused.Paths, []string{"a"}) {
		t.Fatalf("undo-restore over a changed path: %v %+v", err, refused)
	}
	l.Want("a=precious b=1")
	if ops := l.Operations(); len(ops) != 1 {
		t.Errorf("%d operations after a refusal", len(ops))
	}
	done := l.Must(restore.UndoRestore, restore.Options{Force: true})
	l.Want("a=2 b=2")
	if done.Safety == nil {
		t.Fatal("no safety checkpoint")
	}
	l.Must(restore.RedoRestore, restore.Options{})
	l.Want("a=precious b=1")
}

// A restore of files that are ignored today: what was in their way is in the
// safety checkpoint, and undo-restore brings it back.
func TestUndoRestoreOfIgnoredFiles(t *testing.T) {
	l := newLab(t)
	l.Write("conf", "captured")
	l.Write("gen/made", "captured too")
	first := l.Init()
	l.Write(".gitignore", "conf\ngen/\n")
	l.Write("conf", "never captured")
	l.Remove("gen")
	l.Save()
	l.Want(".gitignore=conf\ngen/\n conf=never captured")
	l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: []string{"conf", "gen"}})
	l.Want(".gitignore=conf\ngen/\n conf=captured gen/made=captured too")
	l.Must(restore.UndoRestore, restore.Options{})
	l.Want(".gitignore=conf\ngen/\n conf=never captured")
	l.Must(restore.RedoRestore, restore.Options{})
	l.Want(".gitignore=conf\ngen/\n conf=captured gen/made=captured too")
	l.Write("gen/made", "changed since")
	var refused *project.RefusedError
	if _, err := l.Run(restore.UndoRestore, restore.Options{}); !errors.As(err, &refused) {
		t.Fatalf("an ignored file that changed since: %v", err)
	}
}

// A file moved in by hand is not deleted by an undo that does not know it, nor
// is what one save without rules captured.
func TestOnlyWhatIsInScopeIsDeleted(t *testing.T) {
	l := newLab(t)
	l.Write(".gitignore", ".env\nnode_modules/\n")
	l.Write("a", "1")
	first := l.Init()
	l.Write(".env", "secret")
	l.Write("node_modules/x", "module")
	l.Write("a", "2")
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := save.Save(ctx, p, checkpoint.Options{NoIgnore: true})
		return err
	})
	l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	l.Want(".env=secret .gitignore=.env\nnode_modules/\n a=1 node_modules/x=module")

	// The target's rules differ from today's: both must agree.
	l.Write(".gitignore", "")
	l.Save()
	l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	l.Want(".env=secret .gitignore=.env\nnode_modules/\n a=1 node_modules/x=module")
}

func TestNothingDiffers(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	first := l.Init()
	done := l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	if done.Safety != nil || done.Operation == 0 || len(l.Operations()) != 1 {
		t.Errorf("a restore of the same tree left %+v", done)
	}
}

func TestDryRunTouchesNothing(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Write("gone", "1")
	first := l.Init()
	l.Write("a", "2")
	l.Remove("gone")
	l.Write("new", "2")
	before := l.Contents()
	done := l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, DryRun: true})
	if fmt.Sprint(done.Create, done.Replace, done.Delete) != "[gone] [a] [new]" || !done.DryRun || done.Safety != nil {
		t.Errorf("%+v", done)
	}
	l.Want(before)
	if len(l.Operations()) != 0 {
		t.Error("a dry run is in the operation log")
	}
	asked := false
	_, err := l.Run(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Confirm: func(r *restore.Restored) (bool, error) {
		asked = slices.Equal(r.Delete, []string{"new"})
		return false, nil
	}})
	var declined *restore.DeclinedError
	if !errors.As(err, &declined) || !asked {
		t.Errorf("asked %v, error %v", asked, err)
	}
	l.Want(before)
}

func TestRestoreOfPaths(t *testing.T) {
	all := []string{"[id].tsx", "a.go", "src/a.go", "src/sub/b.go", "src/sub/c.txt"}
	for _, c := range []struct{ args, want []string }{
		{[]string{"."}, all},
		{[]string{"src"}, all[2:]},
		{[]string{"src/"}, all[2:]},
		{[]string{"*.go"}, []string{"a.go"}},
		{[]string{"**/*.go"}, []string{"a.go", "src/a.go", "src/sub/b.go"}},
		{[]string{"src/**"}, all[2:]},
		{[]string{"src/*/b.go"}, []string{"src/sub/b.go"}},
		{[]string{"[id].tsx"}, []string{"[id].tsx"}},
		{[]string{"[ab].go", "src/sub/c.txt"}, []string{"a.go", "src/sub/c.txt"}},
	} {
		l := newLab(t)
		for _, path := range all {
			l.Write(path, "x")
		}
		first := l.Init()
		for _, path := range []string{"[id].tsx", "a.go", "src"} {
			l.Remove(path)
		}
		done := l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: l.Patterns(c.args, pathspec.PatternOptions{})})
		var want []string
		for _, path := range c.want {
			want = append(want, path+"=x")
		}
		if got := l.Contents(); got != strings.Join(want, " ") {
			t.Errorf("%q: the tree has %q", c.args, got)
		}
		l.Must(restore.UndoRestore, restore.Options{})
		l.Want("")
		_ = done
	}
	l := newLab(t)
	l.Write("a", "x")
	first := l.Init()
	var missing *project.NoPathError
	var outside *project.OutsideError
	if _, err := l.Run(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: []string{"a", "nothing"}}); !errors.As(err, &missing) {
		t.Errorf("a path that is nowhere: %v", err)
	}
	for _, path := range []string{"../x", "/etc/passwd", "a/../../x"} {
		if _, err := l.Run(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: []string{path}}); !errors.As(err, &outside) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The next scan has nothing to read: the restore left a stat cache that knows.
func TestCacheIsFreshAfterARestore(t *testing.T) {
	l := newLab(t)
	for i := range 50 {
		l.Write(fmt.Sprintf("dir%d/file%d", i%5, i), fmt.Sprint("one ", i))
	}
	first := l.Init()
	for i := range 50 {
		l.Write(fmt.Sprintf("dir%d/file%d", i%5, i), fmt.Sprint("two ", i))
	}
	l.Save()
	l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	op := l.Operations()[0]
	l.Do(func(ctx context.Context, p *project.Project) error {
		release, err := p.Use(ctx)
		if err != nil {
			return err
		}
		defer release()
		c, err := checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{})
		if err != nil {
			return err
		}
		if c.Root() != op.After || op.After != first.Checkpoint.Root {
			t.Error("the tree is not the operation's After")
		}
		return c.Discard()
	})
}

// TestRestoresOwnFilesAreNotCaptured: package ignore passes over the names that
// package rootfs reserves; neither imports the other.
func TestRestoresOwnFilesAreNotCaptured(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Write("d/"+rootfs.Reserved("left-by-a-crash"), "temporary")
	if files := l.Init().Checkpoint.Files; files != 1 {
		t.Errorf("%d files were captured, want 1", files)
	}
}

// Several steps are those of as many undos, in one operation; redo takes them back as a whole, and the
// undo after it goes on from where the tree stands.
func TestUndoSteps(t *testing.T) {
	fill := func() *lab {
		l := newLab(t)
		l.Write("a", "1")
		l.Init()
		for _, state := range []string{"2", "1", "3", "3", "4"} { // a state twice, and one that comes back
			l.Write("a", state)
			l.Save()
		}
		l.Write("a", "unsaved")
		return l
	}
	states := []string{"4", "3", "1", "2", "1"}
	for n := 1; n <= len(states); n++ {
		l := fill()
		l.Must(restore.Undo, restore.Options{Steps: n})
		l.Want("a=" + states[n-1])
		if ops := l.Operations(); len(ops) != 1 {
			t.Fatalf("undo %d is %d operations", n, len(ops))
		}
		l.Must(restore.Redo, restore.Options{})
		l.Want("a=unsaved")
		one := fill()
		for _, want := range states[:n] {
			one.Must(restore.Undo, restore.Options{})
			one.Want("a=" + want)
		}
		// There and back, one at a time: the same places both ways.
		for i := n - 2; i >= 0; i-- {
			one.Must(restore.Redo, restore.Options{})
			one.Want("a=" + states[i])
		}
		for _, want := range states[1:n] {
			one.Must(restore.Undo, restore.Options{})
			one.Want("a=" + want)
		}
		one.Must(restore.Redo, restore.Options{Steps: n})
		one.Want("a=unsaved")
		var nothing *project.NothingError
		if _, err := one.Run(restore.Redo, restore.Options{}); !errors.As(err, &nothing) {
			t.Fatalf("redo of nothing: %v", err)
		}
	}
	l := fill()
	var few *project.FewStepsError
	if _, err := l.Run(restore.Undo, restore.Options{Steps: 6}); !errors.As(err, &few) || few.Have != 5 {
		t.Fatalf("undo of too many: %v", err)
	}
	l.Want("a=unsaved")
	if ops := l.Operations(); len(ops) != 0 {
		t.Fatalf("it left %d operations", len(ops))
	}
}

// All operations up to one are taken back at once as they would be one by one, or none is.
func TestUndoRestoreTo(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Write("b", "1")
	l.Write("gone", "x")
	first := l.Init().Checkpoint
	l.Write("a", "2")
	l.Remove("gone")
	l.Write("new", "2")
	second := l.Save().Checkpoint
	l.Write("a", "work")
	l.Must(restore.Restore, restore.Options{Checkpoint: first})
	l.Want("a=1 b=1 gone=x")
	l.Write("c", "between") // an edit of another path stays
	l.Must(restore.Restore, restore.Options{Checkpoint: second, Paths: []string{"a", "new"}})
	l.Write("b", "between")
	l.Must(restore.Undo, restore.Options{Paths: []string{"a"}})
	ops := l.Operations()
	if len(ops) != 3 {
		t.Fatalf("%d operations", len(ops))
	}
	before := l.Contents()
	done := l.Must(restore.UndoRestore, restore.Options{To: ops[2].Seq})
	l.Want("a=work b=between c=between new=2")
	if done.Checkpoint.ID != ops[2].Safety {
		t.Errorf("back at %v", done.Checkpoint.ID)
	}
	var taken *restore.NotTakenBackError
	if _, err := l.Run(restore.UndoRestore, restore.Options{To: ops[1].Seq}); !errors.As(err, &taken) || taken.By == 0 {
		t.Fatalf("what is taken back already: %v", err)
	}
	l.Must(restore.RedoRestore, restore.Options{})
	l.Want(strings.TrimSpace(before))
	l.Write("gone", "edited")
	var refused *project.RefusedError
	if _, err := l.Run(restore.UndoRestore, restore.Options{To: l.Operations()[0].Seq}); !errors.As(err, &refused) || !slices.Equal(refused.Paths, []string{"gone"}) {
		t.Fatalf("with a path in the way: %v", err)
	}
}

// TestUndoTellsOfTheUnfinished: where the last restore was killed before its first change, undo says that it does not take that
// back, but what came before it.
func TestUndoTellsOfTheUnfinished(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	first := l.Init().Checkpoint
	l.Write("a", "2")
	l.Save()
	l.Must(restore.Restore, restore.Options{Checkpoint: first})
	if done := l.Must(restore.Undo, restore.Options{}); done.Unfinished != "" {
		t.Errorf("the undo of a restore says that %q did not finish", done.Unfinished)
	}
	l.Do(func(ctx context.Context, p *project.Project) error { // all that a restore leaves that is killed then
		_, err := save.Save(ctx, p, checkpoint.Options{Kind: manifest.Safety, Description: "before back"})
		return err
	})
	for _, dry := range []bool{true, false} {
		if done := l.Must(restore.Undo, restore.Options{DryRun: dry}); done.Unfinished != "back" {
			t.Errorf("dry run %v: it says that %q did not finish", dry, done.Unfinished)
		}
	}
	l.Want("a=1")
	l.Write("a", "3")
	if done := l.Must(restore.Undo, restore.Options{}); done.Unfinished != "" {
		t.Errorf("later it still says that %q did not finish", done.Unfinished)
	}
}
