package restore_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
)

// interruptedBy is a context that ends when a file is there.
type interruptedBy struct {
	context.Context
	file string
}

func (c interruptedBy) Err() error {
	if _, err := os.Lstat(c.file); err == nil {
		return context.Canceled
	}
	return c.Context.Err()
}

// TestInterruptedAfterTheGitDirectoryIsBuilt: a restore that has built git's directory anew is done to its end, so that it can be undone.
func TestInterruptedAfterTheGitDirectoryIsBuilt(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = l.Root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	l.Init()
	l.Write("a", "2")
	git := filepath.Join(l.Root, ".git")
	l.Ok(os.RemoveAll(git))
	l.Do(func(ctx context.Context, p *project.Project) error {
		list, err := p.List(ctx, project.ListOptions{All: true})
		if err != nil {
			return err
		}
		done, err := restore.Restore(interruptedBy{ctx, git}, p, restore.Options{Checkpoint: list[0].Checkpoint, Git: restore.GitLost})
		if err != nil || done.Operation == 0 {
			t.Fatalf("%+v, %v", done, err)
		}
		_, err = restore.Undo(ctx, p, restore.Options{})
		return err
	})
	if text, err := os.ReadFile(filepath.Join(l.Root, "a")); err != nil || string(text) != "2" {
		t.Errorf("%s, %v", text, err)
	}
}
