package restore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// temporary lists the files that a restore left in the tree.
func (l *lab) temporary() (out []string) {
	l.T.Helper()
	err := filepath.WalkDir(l.Root, func(file string, d fs.DirEntry, err error) error {
		if err == nil && rootfs.IsReserved(d.Name()) {
			out = append(out, file)
		}
		return err
	})
	if err != nil {
		l.T.Fatal(err)
	}
	return out
}

// After a killed restore a save clears what it left, or the crash is told of until the restore family has dealt with it.
func TestSaveAfterKilledRestore(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	l := newLab(t)
	fill := func(tag string) {
		for i := range 300 {
			l.Write(fmt.Sprintf("dir%d/f%d", i%7, i), strings.Repeat(tag, 100+i*20))
		}
	}
	save := func(name string) error {
		return l.Try(func(ctx context.Context, p *project.Project) error {
			_, err := save.Save(ctx, p, checkpoint.Options{Name: name})
			return err
		})
	}
	fill("one")
	l.Init()
	l.Ok(save("first"))
	fill("two")
	l.Ok(save("second"))
	told, cleared := 0, 0
	for round := range rounds {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRestore$")
		cmd.Env = append(os.Environ(), "REWIND_TEST_RESTORE_ROOT="+l.Root, "REWIND_TEST_RESTORE_HOME="+l.Home)
		l.Ok(cmd.Start())
		time.Sleep(time.Duration(20+rand.IntN(300)) * time.Millisecond)
		l.Ok(cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
		left := len(l.temporary())
		l.Ok(save(""))
		var crash *project.CrashedRestore
		l.Do(func(ctx context.Context, p *project.Project) (err error) {
			crash, err = p.Crashed(ctx)
			return err
		})
		now := l.temporary()
		switch {
		case crash == nil && len(now) > 0:
			t.Fatalf("round %d: %d temporary files are left, and nobody says so: %s", round, len(now), now[0])
		case crash != nil && crash.Done:
			t.Fatalf("round %d: the save did not clear up", round)
		case crash != nil:
			told++
			l.Must(restore.UndoRestore, restore.Options{})
		case left > 0:
			cleared++
		}
		if now := l.temporary(); len(now) > 0 {
			t.Fatalf("round %d: %d temporary files are left", round, len(now))
		}
	}
	t.Logf("%d rounds: told of %d, cleared %d", rounds, told, cleared)
}

// A restore that was killed after it was recorded, and before its journal says so, is done: nobody is told to put it back, and
// a save clears its journal.
func TestKilledAfterItsRecord(t *testing.T) {
	for i, call := range []testlab.RestoreCall{restore.Redo, restore.Undo, restore.UndoRestore} {
		l := newLab(t)
		l.Write("f", "1")
		first := l.Init().Checkpoint
		l.Write("f", "2")
		l.Save()
		l.Must(restore.Restore, restore.Options{Checkpoint: first})
		if i == 0 {
			l.Must(restore.Undo, restore.Options{})
		}
		copied := filepath.Join(t.TempDir(), "journal")
		var dir string
		l.Do(func(ctx context.Context, p *project.Project) error {
			dir = p.RestoreDir()
			p.Progress = func(i project.ProgressInfo) {
				if i.Phase == "replace" && i.Files == i.TotalFiles {
					l.Ok(os.RemoveAll(copied))
					l.Ok(os.CopyFS(copied, os.DirFS(dir)))
				}
			}
			_, err := call(ctx, p, restore.Options{})
			return err
		})
		before := l.Read()
		l.Ok(os.CopyFS(dir, os.DirFS(copied)))
		crashed := func() (crash *project.CrashedRestore) {
			l.Do(func(ctx context.Context, p *project.Project) (err error) {
				crash, err = p.Crashed(ctx)
				return err
			})
			return crash
		}
		if crash := crashed(); crash == nil || !crash.Done {
			t.Fatalf("after the kill: %+v", crash)
		}
		l.Save()
		if crash := crashed(); crash != nil {
			t.Errorf("after the save: %+v", crash)
		}
		l.Is(before, "after the save")
	}
}

// What a killed restore led to stays until it is finished or put back, whatever gc is to keep.
func TestGCKeepsWhatAKilledRestoreNeeds(t *testing.T) {
	l := newLab(t)
	save := func(name string, files int) {
		for i := range files {
			l.Write(fmt.Sprintf("dir%d/f%d", i%7, i), strings.Repeat(name, 100+i*20))
		}
		l.Do(func(ctx context.Context, p *project.Project) error {
			_, err := save.Save(ctx, p, checkpoint.Options{Name: name})
			return err
		})
	}
	l.Init()
	save("first", 300)
	save("second", 300)
	var crash *project.CrashedRestore
	for round := 0; crash == nil || crash.Done; round++ {
		if round == 60 {
			t.Skip("no kill met a restore")
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRestore$")
		cmd.Env = append(os.Environ(), "REWIND_TEST_RESTORE_ROOT="+l.Root, "REWIND_TEST_RESTORE_HOME="+l.Home)
		l.Ok(cmd.Start())
		time.Sleep(time.Duration(50+rand.IntN(300)) * time.Millisecond)
		l.Ok(cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
		l.Do(func(ctx context.Context, p *project.Project) (err error) {
			crash, err = p.Crashed(ctx)
			return err
		})
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		for _, name := range []string{"first", "second"} {
			c, err := inspect.Resolve(ctx, p, name)
			l.Ok(err)
			l.Ok(maintain.Rename(ctx, p, c.Checkpoint, ""))
		}
		return nil
	})
	for i := range 3 {
		save(fmt.Sprint("later", i), 1)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := maintain.GC(ctx, p, maintain.GCOptions{Checkpoint: crash.Checkpoint})
		if refused := (*project.RefusedError)(nil); !errors.As(err, &refused) {
			t.Errorf("gc of that checkpoint: %v", err)
		}
		_, err = maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
		return err
	})
	l.Must(restoreNamed(crash.Checkpoint.String()), restore.Options{})
}
