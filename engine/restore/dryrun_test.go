//go:build unix

package restore_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// listing gives every path of the root but the store and .git: kind, mode and content.
func (l *lab) listing() map[string]string {
	l.T.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(l.Root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == l.Root {
			return err
		}
		if d.Name() == ".agent" || d.Name() == ".git" {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(l.Root, file)
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			what += " " + string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(file)
			if err != nil {
				return err
			}
			what += " " + target
		}
		out[rel] = what
		return nil
	})
	if err != nil {
		l.T.Fatal(err)
	}
	return out
}

// happened compares two listings: what came, went and became another.
func happened(before, after map[string]string) (create, change, remove []string) {
	for path, was := range before {
		switch is, ok := after[path]; {
		case !ok:
			remove = append(remove, path)
		case is != was:
			change = append(change, path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			create = append(create, path)
		}
	}
	slices.Sort(create)
	slices.Sort(change)
	slices.Sort(remove)
	return create, change, remove
}

// grow puts something at random places, over what is there, kind over kind.
func (l *lab) grow(r *rand.Rand, edits int) {
	l.T.Helper()
	names := []string{"a", "b", "c.log", "[x]", "ignored"}
	for range edits {
		path := l.Root
		for range 1 + r.IntN(3) {
			if info, err := os.Lstat(path); err != nil || !info.IsDir() {
				l.Ok(os.RemoveAll(path))
				l.Ok(os.Mkdir(path, 0o755))
			}
			path = filepath.Join(path, names[r.IntN(len(names))])
		}
		kind := r.IntN(10)
		if kind != 9 {
			l.Ok(os.RemoveAll(path))
		}
		switch kind {
		case 0, 1, 2, 3:
			l.Ok(os.WriteFile(path, []byte(fmt.Sprint(r.IntN(3))), []fs.FileMode{0o644, 0o755, 0o600}[r.IntN(3)]))
		case 4:
			l.Ok(os.Symlink([]string{"a", "../b"}[r.IntN(2)], path))
		case 5, 6:
			l.Ok(os.Mkdir(path, 0o755))
			l.Ok(os.WriteFile(filepath.Join(path, "a"), []byte("a"), 0o644))
		case 7:
			l.Ok(os.MkdirAll(filepath.Join(path, "a", "b"), 0o700))
		case 9:
			if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink == 0 {
				l.Ok(os.Chmod(path, info.Mode().Perm()^0o050))
			}
		}
	}
}

// any is must for a restore that may leave paths alone.
func (l *lab) any(call testlab.RestoreCall, o restore.Options) (done *restore.Restored) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		done, err = call(ctx, p, o)
		return err
	})
	return done
}

// A dry run names exactly what happens: random trees, all kinds, ignored paths in the way, and paths left out by coverage.
func TestDryRunIsWhatHappens(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 12
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range rounds {
		l := newLab(t)
		l.settings(`{"captureIgnored": "none"}`)
		l.Write("keep", "k")
		l.grow(r, 15)
		target := l.Init()
		for range 2 {
			if r.IntN(2) == 0 {
				l.Ok(os.RemoveAll(filepath.Join(l.Root, ".gitignore")))
				l.Write(".gitignore", []string{"*.log\n", "ignored\n", "b/\n", ""}[r.IntN(4)])
			}
			l.grow(r, 12)
			l.Save()
		}
		before := l.listing()
		dry := l.any(restore.Restore, restore.Options{Checkpoint: target.Checkpoint, DryRun: true})
		if create, change, remove := happened(before, l.listing()); len(create)+len(change)+len(remove) > 0 {
			t.Fatalf("a dry run changed %v %v %v", create, change, remove)
		}
		done := l.any(restore.Restore, restore.Options{Checkpoint: target.Checkpoint})
		create, change, remove := happened(before, l.listing())
		for _, said := range []*restore.Restored{dry, done} {
			changed := slices.Sorted(slices.Values(append(slices.Clone(said.Replace), said.Mode...)))
			for what, lists := range map[string][2][]string{"create": {said.Create, create}, "replace or mode": {changed, change}, "delete": {said.Delete, remove}} {
				if !slices.Equal(lists[0], lists[1]) {
					t.Errorf("dry run %v, %s: said %q, happened %q; left alone %+v", said.DryRun, what, lists[0], lists[1], said.Skip)
				}
			}
		}
		if fmt.Sprint(dry.Skip) != fmt.Sprint(done.Skip) {
			t.Errorf("left alone: said %+v, happened %+v", dry.Skip, done.Skip)
		}
		if t.Failed() {
			return
		}
		if done.Operation != 0 {
			l.Must(restore.UndoRestore, restore.Options{})
		}
		if create, change, remove := happened(before, l.listing()); len(create)+len(change)+len(remove) > 0 {
			t.Fatalf("taken back, but for %v %v %v", create, change, remove)
		}
	}
}

// A directory that becomes a file takes what is in it along, and the plan says so.
func TestDirectoryBecomesFile(t *testing.T) {
	l := newLab(t)
	l.Write("d", "a file")
	target := l.Init()
	l.Remove("d")
	l.Write("d/a", "a")
	l.Write("d/sub/b", "b")
	for _, dry := range []bool{true, false} {
		done := l.Must(restore.Restore, restore.Options{Checkpoint: target.Checkpoint, DryRun: dry})
		if fmt.Sprint(done.Replace, done.Delete) != "[d] [d/a d/sub d/sub/b]" {
			t.Errorf("dry %v: replaces %v, deletes %v", dry, done.Replace, done.Delete)
		}
	}
	// What came since into a directory that an undo puts back is not known to a redo, and stays.
	l.Must(restore.UndoRestore, restore.Options{})
	l.Write("d/sub/later", "work")
	done := l.any(restore.RedoRestore, restore.Options{})
	if !strings.Contains(fmt.Sprint(done.Skip), "not selected") || !l.has("d/sub/later") {
		t.Errorf("%+v", done)
	}
}

// A file that git tracks although it is ignored, and that leaves the index: the tree has it no more, the disk has it
// still. Undo gets past the checkpoints to which there is nothing to do.
func TestUndoGetsPastWhatIsNoChange(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	l := newLab(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = l.Root
		cmd.Env = append(os.Environ(), "HOME="+l.Home, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	l.settings(`{"captureIgnored": "none"}`)
	l.Write(".gitignore", "*.gen\n.agent/\n")
	l.Write("x.gen", "made")
	l.Write("a", "1")
	git("add", "-f", ".gitignore", "x.gen", "a")
	one := l.Init()
	l.Write("a", "2")
	two := l.Save()
	l.Save()
	git("rm", "-q", "--cached", "x.gen")
	for i := range 3 {
		undone := l.Must(restore.Undo, restore.Options{DryRun: true})
		if undone.Checkpoint.ID != one.Checkpoint.ID || fmt.Sprint(undone.Replace) != "[a]" {
			t.Fatalf("round %d: to %s, replaces %v, leaves %+v", i, undone.Checkpoint.ID, undone.Replace, undone.Skip)
		}
	}
	// To the checkpoint itself nothing is to be done: identical bytes are no change, and another mode is one.
	for _, dry := range []bool{true, false} {
		done := l.Must(restore.Restore, restore.Options{Checkpoint: two.Checkpoint, DryRun: dry})
		if len(done.Replace)+len(done.Create)+len(done.Delete)+len(done.Mode) > 0 || (done.Operation == 0) != dry {
			t.Errorf("dry %v: %+v", dry, done)
		}
	}
	l.Ok(os.Chmod(filepath.Join(l.Root, "x.gen"), 0o600))
	done := l.Must(restore.Restore, restore.Options{Checkpoint: two.Checkpoint})
	if fmt.Sprint(done.Mode, done.Replace) != "[x.gen] []" {
		t.Errorf("another mode: %+v", done)
	}
	if done = l.Must(restore.Undo, restore.Options{}); fmt.Sprint(done.Mode, done.Replace, done.Of) != "[x.gen] []restore" {
		t.Errorf("undo of that: %+v", done)
	}
	if done = l.Must(restore.Undo, restore.Options{}); fmt.Sprint(done.Mode, done.Replace) != "[x.gen] []" {
		t.Errorf("undo of the other mode: %+v", done)
	}
	l.Must(restore.Undo, restore.Options{})
	l.Want(".gitignore=*.gen\n.agent/\n a=1 x.gen=made")
	if _, err := l.Run(restore.Undo, restore.Options{}); err == nil {
		t.Error("there is nothing further back")
	}
}

// The same bytes are the same, as one object or cut into chunks.
func TestChunkedOrWhole(t *testing.T) {
	l := newLab(t)
	l.Write("a", strings.Repeat("line\n", 100))
	l.Write("b", "1")
	first := l.Init()
	l.Write("b", "2")
	l.Save()
	var target manifest.Checkpoint
	l.Do(l.rechunk(first.Checkpoint, "a", &target))
	for _, dry := range []bool{true, false} {
		done := l.Must(restore.Restore, restore.Options{Checkpoint: target, DryRun: dry})
		if fmt.Sprint(done.Replace, done.Mode) != "[b] []" {
			t.Errorf("dry %v: replaces %v, mode %v", dry, done.Replace, done.Mode)
		}
	}
}

// rechunk commits a checkpoint like c, with one of its files cut into chunks.
func (l *lab) rechunk(c manifest.Checkpoint, path string, out *manifest.Checkpoint) func(context.Context, *project.Project) error {
	return func(ctx context.Context, p *project.Project) error {
		release, err := p.Use(ctx)
		if err != nil {
			return err
		}
		defer release()
		tx := commit.Begin(p)
		e, err := inspect.EntryIn(p, c.Root, path)
		if err != nil {
			return err
		}
		content, err := project.ContentOf(p.Store.Get, e)
		if err != nil {
			return err
		}
		w := tx.Writer()
		id, _, err := w.PutFile(content, oid.ID{})
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			return err
		}
		e.Kind, e.ID = manifest.Chunked, id
		if c.Root, err = treeio.EditTree(tx, tx, c.Root, []treeio.Edit{{Path: path, Entry: e}}, nil); err != nil {
			return err
		}
		c.ID[0]++
		_, err = tx.Commit(ctx, func() ([]manifest.Record, error) { return []manifest.Record{{Checkpoint: &c}}, nil }, nil)
		*out = c
		return err
	}
}
