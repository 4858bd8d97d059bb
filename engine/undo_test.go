package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/manifest"
)

// contents gives the files of the lab's root as "path=content", in order; the
// store is left out.
func (l *lab) contents() string {
	l.t.Helper()
	var out []string
	err := filepath.WalkDir(l.root, func(file string, d os.DirEntry, err error) error {
		if err != nil || file == l.root {
			return err
		}
		if d.Name() == ".agent" || d.Name() == ".git" {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(l.root, file)
		if d.Type().IsRegular() {
			data, err := os.ReadFile(file)
			out = append(out, rel+"="+string(data))
			return err
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func (l *lab) want(contents string) {
	l.t.Helper()
	if got := l.contents(); got != contents {
		l.t.Fatalf("the tree has %.300q, want %.300q", got, contents)
	}
}

// restoreCall is a method of the restore family.
type restoreCall func(context.Context, *project.Project, restore.Options) (*restore.Restored, error)

// run calls one of the restore family, and checks that the operation's trees
// are what is on disk.
func (l *lab) run(call restoreCall, o restore.Options) (done *restore.Restored, err error) {
	l.t.Helper()
	err = l.try(func(ctx context.Context, p *project.Project) error {
		if done, err = call(ctx, p, o); err != nil {
			return err
		}
		for _, s := range done.Skip {
			if s.Failed {
				l.t.Errorf("skipped: %+v", s)
			}
		}
		return nil
	})
	return done, err
}

func (l *lab) must(call restoreCall, o restore.Options) *restore.Restored {
	l.t.Helper()
	done, err := l.run(call, o)
	if err != nil {
		l.t.Fatal(err)
	}
	return done
}

func (l *lab) operations() (ops []manifest.Operation) {
	l.t.Helper()
	l.do(func(ctx context.Context, p *project.Project) (err error) {
		ops, err = oplog.Operations(ctx, p, 0)
		return err
	})
	return ops
}

func TestUndoGoesFurtherBack(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.init()
	l.write("a", "2")
	l.save()
	l.write("a", "3")
	l.save()
	l.write("a", "unsaved")
	for _, want := range []string{"3", "2", "1"} {
		l.must(restore.Undo, restore.Options{})
		l.want("a=" + want)
	}
	var nothing *project.NothingError
	if _, err := l.run(restore.Undo, restore.Options{}); !errors.As(err, &nothing) {
		t.Fatalf("undo past the first checkpoint: %v", err)
	}
	// Every undo is taken back in its turn, down to the work that was never saved.
	for _, want := range []string{"2", "3", "unsaved"} {
		l.must(restore.UndoRestore, restore.Options{})
		l.want("a=" + want)
	}
	if _, err := l.run(restore.UndoRestore, restore.Options{}); !errors.As(err, &nothing) {
		t.Fatalf("undo-restore of nothing: %v", err)
	}
	for _, want := range []string{"3", "2", "1"} {
		l.must(restore.RedoRestore, restore.Options{})
		l.want("a=" + want)
	}
	if _, err := l.run(restore.RedoRestore, restore.Options{}); !errors.As(err, &nothing) {
		t.Fatalf("redo-restore of nothing: %v", err)
	}
	l.must(restore.UndoRestore, restore.Options{})
	l.want("a=2")
}

// TestUndoStartsAnew: what is done after an undo is undone first; then undo goes on from where that undo led.
func TestUndoStartsAnew(t *testing.T) {
	for _, after := range []string{"edit", "save"} {
		l := newLab(t)
		l.write("a", "1")
		l.init()
		l.write("a", "2")
		l.save()
		l.write("a", "3")
		l.save()
		l.must(restore.Undo, restore.Options{})
		l.want("a=2")
		if after == "edit" {
			l.write("a", "2 and more")
		} else {
			l.write("b", "new")
			l.save()
		}
		for _, want := range []string{"2", "1"} {
			l.must(restore.Undo, restore.Options{})
			l.want("a=" + want)
		}
	}
}

// TestUndoThroughOperations: a step takes back an operation that nothing came after, also below other steps, and leads to
// what an operation left where work came after it. Redo goes the same way forward.
func TestUndoThroughOperations(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	first := l.init()
	l.write("a", "2")
	l.save()
	l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	l.want("a=1")
	l.write("b", "edited and not saved")
	l.write("a", "4")
	want := []string{"a=1", "a=2", "a=1"}
	for i := range want {
		done := l.must(restore.Undo, restore.Options{})
		l.want(want[i])
		if got := fmt.Sprint(done.Since, "/", done.Of); got != []string{"restore/", "/restore", "/"}[i] {
			t.Errorf("step %d is called %s", i, got)
		}
	}
	var nothing *project.NothingError
	if _, err := l.run(restore.Undo, restore.Options{}); !errors.As(err, &nothing) {
		t.Errorf("undo of nothing: %v", err)
	}
	for _, want := range []string{"a=2", "a=1", "a=4 b=edited and not saved"} {
		l.must(restore.Redo, restore.Options{})
		l.want(want)
	}
	if _, err := l.run(restore.Redo, restore.Options{}); !errors.As(err, &nothing) {
		t.Errorf("redo of nothing: %v", err)
	}
	// All three at once, and back at once.
	l.must(restore.Undo, restore.Options{Steps: 3})
	l.want("a=1")
	if _, err := l.run(restore.Undo, restore.Options{}); !errors.As(err, &nothing) {
		t.Errorf("undo of nothing after three steps at once: %v", err)
	}
	l.must(restore.Redo, restore.Options{})
	l.want("a=4 b=edited and not saved")
	// What changed nothing is no step.
	l.save()
	l.must(restore.Restore, restore.Options{Checkpoint: l.save().Checkpoint})
	l.must(restore.Undo, restore.Options{Steps: 2})
	l.want("a=2")
	// A prompt without a change is no work: undo goes on from there.
	l.save()
	l.must(restore.Undo, restore.Options{})
	l.want("a=1")
}

// TestUndoAndRedoMirror: whatever was edited, saved and restored, redo goes back through the same states that undo
// went through, and each step changes the files.
func TestUndoAndRedoMirror(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLab(t)
		l.write("a", "0")
		saved := []*checkpoint.Saved{l.init()}
		for i := range rapid.IntRange(1, 10).Draw(rt, "events") {
			switch rapid.IntRange(0, 5).Draw(rt, "event") {
			case 0, 1:
				l.write(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "file"), fmt.Sprint(i))
			case 2:
				saved = append(saved, l.save())
			case 3:
				l.must(restore.Restore, restore.Options{Checkpoint: rapid.SampledFrom(saved).Draw(rt, "to").Checkpoint})
			case 4:
				_, _ = l.run(restore.Undo, restore.Options{Steps: rapid.IntRange(1, 2).Draw(rt, "steps")}) // perhaps there is nothing
			case 5:
				_, _ = l.run(restore.Redo, restore.Options{}) // the same, or it is refused because of an edit
			}
		}
		states := []string{l.contents()}
		var nothing *project.NothingError
		for {
			_, err := l.run(restore.Undo, restore.Options{})
			if errors.As(err, &nothing) {
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
			now := l.contents()
			if now == states[len(states)-1] {
				rt.Fatalf("step %d changed nothing of %q", len(states), now)
			}
			if states = append(states, now); len(states) > 100 {
				rt.Fatalf("undo has no end: %q", states)
			}
		}
		for i := len(states) - 2; i >= 0; i-- {
			if _, err := l.run(restore.Redo, restore.Options{}); err != nil {
				rt.Fatalf("redo to %q: %v", states[i], err)
			}
			if now := l.contents(); now != states[i] {
				rt.Fatalf("redo leads to %q, not to %q of %q", now, states[i], states)
			}
		}
	})
}

func TestUndoRestoreTouchesOnlyItsOwnPaths(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "a1")
	l.write("b.txt", "b1")
	first := l.init()
	l.write("a.txt", "a2")
	l.write("b.txt", "b2")
	l.write("c.txt", "c2")
	l.save()
	done := l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: []string{"a.txt"}})
	if !slices.Equal(done.Replace, []string{"a.txt"}) || len(done.Create)+len(done.Delete)+len(done.Mode) > 0 {
		t.Errorf("restored %+v", done)
	}
	l.want("a.txt=a1 b.txt=b2 c.txt=c2")
	l.write("b.txt", "later work")
	l.write("d.txt", "more of it")
	l.save()
	l.must(restore.UndoRestore, restore.Options{})
	l.want("a.txt=a2 b.txt=later work c.txt=c2 d.txt=more of it")
	// A save does not clear what could be redone.
	l.save()
	l.must(restore.RedoRestore, restore.Options{})
	l.want("a.txt=a1 b.txt=later work c.txt=c2 d.txt=more of it")
	// A new restore does.
	l.must(restore.UndoRestore, restore.Options{})
	l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: []string{"b.txt"}})
	var nothing *project.NothingError
	if _, err := l.run(restore.RedoRestore, restore.Options{}); !errors.As(err, &nothing) {
		t.Errorf("redo after a new restore: %v", err)
	}
}

func TestUndoRestoreRefusesWhatChangedSince(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.write("b", "1")
	first := l.init()
	l.write("a", "2")
	l.write("b", "2")
	l.save()
	l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	l.write("a", "precious")
	var refused *project.RefusedError
	_, err := l.run(restore.UndoRestore, restore.Options{})
	if !errors.As(err, &refused) || !refused.Forcible || !slices.Equal(refused.Paths, []string{"a"}) {
		t.Fatalf("undo-restore over a changed path: %v %+v", err, refused)
	}
	l.want("a=precious b=1")
	if ops := l.operations(); len(ops) != 1 {
		t.Errorf("%d operations after a refusal", len(ops))
	}
	done := l.must(restore.UndoRestore, restore.Options{Force: true})
	l.want("a=2 b=2")
	if done.Safety == nil {
		t.Fatal("no safety checkpoint")
	}
	l.must(restore.RedoRestore, restore.Options{})
	l.want("a=precious b=1")
}

// A restore of files that are ignored today: what was in their way is in the
// safety checkpoint, and undo-restore brings it back.
func TestUndoRestoreOfIgnoredFiles(t *testing.T) {
	l := newLab(t)
	l.write("conf", "captured")
	l.write("gen/made", "captured too")
	first := l.init()
	l.write(".gitignore", "conf\ngen/\n")
	l.write("conf", "never captured")
	l.remove("gen")
	l.save()
	l.want(".gitignore=conf\ngen/\n conf=never captured")
	l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: []string{"conf", "gen"}})
	l.want(".gitignore=conf\ngen/\n conf=captured gen/made=captured too")
	l.must(restore.UndoRestore, restore.Options{})
	l.want(".gitignore=conf\ngen/\n conf=never captured")
	l.must(restore.RedoRestore, restore.Options{})
	l.want(".gitignore=conf\ngen/\n conf=captured gen/made=captured too")
	l.write("gen/made", "changed since")
	var refused *project.RefusedError
	if _, err := l.run(restore.UndoRestore, restore.Options{}); !errors.As(err, &refused) {
		t.Fatalf("an ignored file that changed since: %v", err)
	}
}

// A file moved in by hand is not deleted by an undo that does not know it, nor
// is what one save without rules captured.
func TestOnlyWhatIsInScopeIsDeleted(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", ".env\nnode_modules/\n")
	l.write("a", "1")
	first := l.init()
	l.write(".env", "secret")
	l.write("node_modules/x", "module")
	l.write("a", "2")
	l.do(func(ctx context.Context, p *project.Project) error {
		_, err := save.Save(ctx, p, checkpoint.Options{NoIgnore: true})
		return err
	})
	l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	l.want(".env=secret .gitignore=.env\nnode_modules/\n a=1 node_modules/x=module")

	// The target's rules differ from today's: both must agree.
	l.write(".gitignore", "")
	l.save()
	l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	l.want(".env=secret .gitignore=.env\nnode_modules/\n a=1 node_modules/x=module")
}

func TestNothingDiffers(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	first := l.init()
	done := l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	if done.Safety != nil || done.Operation == 0 || len(l.operations()) != 1 {
		t.Errorf("a restore of the same tree left %+v", done)
	}
}

func TestDryRunTouchesNothing(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.write("gone", "1")
	first := l.init()
	l.write("a", "2")
	l.remove("gone")
	l.write("new", "2")
	before := l.contents()
	done := l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, DryRun: true})
	if fmt.Sprint(done.Create, done.Replace, done.Delete) != "[gone] [a] [new]" || !done.DryRun || done.Safety != nil {
		t.Errorf("%+v", done)
	}
	l.want(before)
	if len(l.operations()) != 0 {
		t.Error("a dry run is in the operation log")
	}
	asked := false
	_, err := l.run(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Confirm: func(r *restore.Restored) (bool, error) {
		asked = slices.Equal(r.Delete, []string{"new"})
		return false, nil
	}})
	var declined *restore.DeclinedError
	if !errors.As(err, &declined) || !asked {
		t.Errorf("asked %v, error %v", asked, err)
	}
	l.want(before)
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
			l.write(path, "x")
		}
		first := l.init()
		for _, path := range []string{"[id].tsx", "a.go", "src"} {
			l.remove(path)
		}
		done := l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: l.patterns(c.args, pathspec.PatternOptions{})})
		var want []string
		for _, path := range c.want {
			want = append(want, path+"=x")
		}
		if got := l.contents(); got != strings.Join(want, " ") {
			t.Errorf("%q: the tree has %q", c.args, got)
		}
		l.must(restore.UndoRestore, restore.Options{})
		l.want("")
		_ = done
	}
	l := newLab(t)
	l.write("a", "x")
	first := l.init()
	var missing *project.NoPathError
	var outside *project.OutsideError
	if _, err := l.run(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: []string{"a", "nothing"}}); !errors.As(err, &missing) {
		t.Errorf("a path that is nowhere: %v", err)
	}
	for _, path := range []string{"../x", "/etc/passwd", "a/../../x"} {
		if _, err := l.run(restore.Restore, restore.Options{Checkpoint: first.Checkpoint, Paths: []string{path}}); !errors.As(err, &outside) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The next scan has nothing to read: the restore left a stat cache that knows.
func TestCacheIsFreshAfterARestore(t *testing.T) {
	l := newLab(t)
	for i := range 50 {
		l.write(fmt.Sprintf("dir%d/file%d", i%5, i), fmt.Sprint("one ", i))
	}
	first := l.init()
	for i := range 50 {
		l.write(fmt.Sprintf("dir%d/file%d", i%5, i), fmt.Sprint("two ", i))
	}
	l.save()
	l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	op := l.operations()[0]
	l.do(func(ctx context.Context, p *project.Project) error {
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
	l.write("a", "1")
	l.write("d/"+rootfs.Reserved("left-by-a-crash"), "temporary")
	if files := l.init().Checkpoint.Files; files != 1 {
		t.Errorf("%d files were captured, want 1", files)
	}
}

// Several steps are those of as many undos, in one operation; redo takes them back as a whole, and the
// undo after it goes on from where the tree stands.
func TestUndoSteps(t *testing.T) {
	fill := func() *lab {
		l := newLab(t)
		l.write("a", "1")
		l.init()
		for _, state := range []string{"2", "1", "3", "3", "4"} { // a state twice, and one that comes back
			l.write("a", state)
			l.save()
		}
		l.write("a", "unsaved")
		return l
	}
	states := []string{"4", "3", "1", "2", "1"}
	for n := 1; n <= len(states); n++ {
		l := fill()
		l.must(restore.Undo, restore.Options{Steps: n})
		l.want("a=" + states[n-1])
		if ops := l.operations(); len(ops) != 1 {
			t.Fatalf("undo %d is %d operations", n, len(ops))
		}
		l.must(restore.Redo, restore.Options{})
		l.want("a=unsaved")
		one := fill()
		for _, want := range states[:n] {
			one.must(restore.Undo, restore.Options{})
			one.want("a=" + want)
		}
		// There and back, one at a time: the same places both ways.
		for i := n - 2; i >= 0; i-- {
			one.must(restore.Redo, restore.Options{})
			one.want("a=" + states[i])
		}
		for _, want := range states[1:n] {
			one.must(restore.Undo, restore.Options{})
			one.want("a=" + want)
		}
		one.must(restore.Redo, restore.Options{Steps: n})
		one.want("a=unsaved")
		var nothing *project.NothingError
		if _, err := one.run(restore.Redo, restore.Options{}); !errors.As(err, &nothing) {
			t.Fatalf("redo of nothing: %v", err)
		}
	}
	l := fill()
	var few *project.FewStepsError
	if _, err := l.run(restore.Undo, restore.Options{Steps: 6}); !errors.As(err, &few) || few.Have != 5 {
		t.Fatalf("undo of too many: %v", err)
	}
	l.want("a=unsaved")
	if ops := l.operations(); len(ops) != 0 {
		t.Fatalf("it left %d operations", len(ops))
	}
}

// All operations up to one are taken back at once as they would be one by one, or none is.
func TestUndoRestoreTo(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.write("b", "1")
	l.write("gone", "x")
	first := l.init().Checkpoint
	l.write("a", "2")
	l.remove("gone")
	l.write("new", "2")
	second := l.save().Checkpoint
	l.write("a", "work")
	l.must(restore.Restore, restore.Options{Checkpoint: first})
	l.want("a=1 b=1 gone=x")
	l.write("c", "between") // an edit of another path stays
	l.must(restore.Restore, restore.Options{Checkpoint: second, Paths: []string{"a", "new"}})
	l.write("b", "between")
	l.must(restore.Undo, restore.Options{Paths: []string{"a"}})
	ops := l.operations()
	if len(ops) != 3 {
		t.Fatalf("%d operations", len(ops))
	}
	before := l.contents()
	done := l.must(restore.UndoRestore, restore.Options{To: ops[2].Seq})
	l.want("a=work b=between c=between new=2")
	if done.Checkpoint.ID != ops[2].Safety {
		t.Errorf("back at %v", done.Checkpoint.ID)
	}
	var taken *restore.NotTakenBackError
	if _, err := l.run(restore.UndoRestore, restore.Options{To: ops[1].Seq}); !errors.As(err, &taken) || taken.By == 0 {
		t.Fatalf("what is taken back already: %v", err)
	}
	l.must(restore.RedoRestore, restore.Options{})
	l.want(strings.TrimSpace(before))
	l.write("gone", "edited")
	var refused *project.RefusedError
	if _, err := l.run(restore.UndoRestore, restore.Options{To: l.operations()[0].Seq}); !errors.As(err, &refused) || !slices.Equal(refused.Paths, []string{"gone"}) {
		t.Fatalf("with a path in the way: %v", err)
	}
}

// TestUndoTellsOfTheUnfinished: where the last restore was killed before its first change, undo says that it does not take that
// back, but what came before it.
func TestUndoTellsOfTheUnfinished(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	first := l.init().Checkpoint
	l.write("a", "2")
	l.save()
	l.must(restore.Restore, restore.Options{Checkpoint: first})
	if done := l.must(restore.Undo, restore.Options{}); done.Unfinished != "" {
		t.Errorf("the undo of a restore says that %q did not finish", done.Unfinished)
	}
	l.do(func(ctx context.Context, p *project.Project) error { // all that a restore leaves that is killed then
		_, err := save.Save(ctx, p, checkpoint.Options{Kind: manifest.Safety, Description: "before back"})
		return err
	})
	for _, dry := range []bool{true, false} {
		if done := l.must(restore.Undo, restore.Options{DryRun: dry}); done.Unfinished != "back" {
			t.Errorf("dry run %v: it says that %q did not finish", dry, done.Unfinished)
		}
	}
	l.want("a=1")
	l.write("a", "3")
	if done := l.must(restore.Undo, restore.Options{}); done.Unfinished != "" {
		t.Errorf("later it still says that %q did not finish", done.Unfinished)
	}
}
