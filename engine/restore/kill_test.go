package restore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// restoreForever is what the child process of TestKilledRestore does: it goes
// back and forth between two checkpoints until it is killed.
func restoreForever(t *testing.T, root, home string) {
	env := account.Env{Home: home, Dir: root, Getenv: func(string) string { return "" }}
	for i := 0; ; i++ {
		p, err := project.Open(context.Background(), project.OpenOptions{Env: env, Root: root})
		if err != nil {
			t.Fatal(err)
		}
		c, err := inspect.Resolve(context.Background(), p, []string{"first", "second"}[i%2])
		if err == nil {
			_, err = restore.Restore(context.Background(), p, restore.Options{Checkpoint: c.Checkpoint})
		}
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
}

// Processes that restore are killed at random moments. Every file is then old
// or new and whole, what was never captured is still there, and the next
// command of the restore family needs no hand.
func TestKilledRestore(t *testing.T) {
	if root := os.Getenv("REWIND_TEST_RESTORE_ROOT"); root != "" {
		restoreForever(t, root, os.Getenv("REWIND_TEST_RESTORE_HOME"))
		return
	}
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	l := newLab(t)
	fill := func(tag string) {
		for i := range 120 {
			l.Write(fmt.Sprintf("dir%d/both%d", i%7, i), strings.Repeat(tag, 100+i*20))
		}
		for i := range 40 {
			l.Write(fmt.Sprintf("%s/sub/only%d", tag, i), tag)
		}
	}
	save := func(name string) {
		l.Do(func(ctx context.Context, p *project.Project) error {
			_, err := save.Save(ctx, p, checkpoint.Options{Name: name})
			return err
		})
	}
	l.Write(".gitignore", "secret\n")
	l.Write("secret", "never captured")
	fill("one")
	l.Init()
	save("first")
	one := l.Contents()
	l.Remove("one")
	fill("two")
	save("second")
	two := l.Contents()
	allowed := map[string]bool{}
	for _, file := range append(strings.Split(one, " "), strings.Split(two, " ")...) {
		allowed[file] = true
	}
	crashed := 0
	for round := range rounds {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRestore$")
		cmd.Env = append(os.Environ(), "REWIND_TEST_RESTORE_ROOT="+l.Root, "REWIND_TEST_RESTORE_HOME="+l.Home)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+rand.IntN(400)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() > 0 {
			t.Fatalf("the child ended by itself: %v", err)
		}
		for _, file := range strings.Split(l.Contents(), " ") {
			path, _, _ := strings.Cut(file, "=")
			if !allowed[file] && !rootfs.IsReserved(filepath.Base(path)) {
				t.Fatalf("round %d: %.60s… is neither old nor new", round, file)
			}
		}
		var crash *project.CrashedRestore
		l.Do(func(ctx context.Context, p *project.Project) (err error) {
			crash, err = p.Crashed(ctx)
			return err
		})
		if crash != nil {
			crashed++
		}
		// In turn: the same restore finishes it, another puts it back, undo-restore only puts it back.
		switch round % 3 {
		case 0:
			l.Must(restoreNamed("first"), restore.Options{})
			l.same(one, round)
		case 1:
			l.Must(restoreNamed("second"), restore.Options{})
			l.same(two, round)
		case 2:
			_, err := l.Run(restore.UndoRestore, restore.Options{})
			var nothing *project.NothingError
			if err != nil && !errors.As(err, &nothing) {
				t.Fatal(err)
			}
			if got := l.Contents(); got != one && got != two {
				t.Fatalf("round %d: undo-restore of a crashed restore leaves a mixture", round)
			}
		}
		l.Do(func(ctx context.Context, p *project.Project) error {
			if c, err := p.Crashed(ctx); err != nil || c != nil {
				t.Fatalf("round %d: still crashed: %+v %v", round, c, err)
			}
			return nil
		})
		filepath.WalkDir(l.Root, func(file string, d os.DirEntry, err error) error {
			if err == nil && rootfs.IsReserved(d.Name()) {
				t.Fatalf("round %d: left behind: %s", round, file)
			}
			return nil
		})
	}
	t.Logf("%d kills, %d of them in the middle of a restore", rounds, crashed)
	l.Verify()
}

// same compares large trees, and names what differs only.
func (l *lab) same(want string, round int) {
	l.T.Helper()
	files := map[string]bool{}
	for _, file := range strings.Split(l.Contents(), " ") {
		files[file] = true
	}
	for _, file := range strings.Split(want, " ") {
		if !files[file] {
			l.T.Errorf("round %d: not there: %.60s…", round, file)
		}
		delete(files, file)
	}
	for file := range files {
		l.T.Errorf("round %d: should not be there: %.60s…", round, file)
	}
	if l.T.Failed() {
		l.T.FailNow()
	}
}

func restoreNamed(name string) testlab.RestoreCall {
	return func(ctx context.Context, p *project.Project, o restore.Options) (*restore.Restored, error) {
		c, err := inspect.Resolve(ctx, p, name)
		if err != nil {
			return nil, err
		}
		o.Checkpoint = c.Checkpoint
		return restore.Restore(ctx, p, o)
	}
}
