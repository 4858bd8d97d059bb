package hook_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"rewind/engine"
	"rewind/engine/checkpoint"
	"rewind/engine/conversation"
	"rewind/engine/hook"
	"rewind/engine/project"
	"rewind/manifest"
)

// A restore comes in the middle of a detached capture. It does not wait for the
// capture, and no checkpoint mixes what was scanned before with what is there
// after: the tree is looked at again.
func TestRestoreWhileACaptureRuns(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "one")
	l.write("b.txt", "one")
	first := l.init()
	l.write("a.txt", "two")
	l.write("b.txt", "two")
	if s := l.save(hook.SaveOptions{Deadline: tooLate, Options: checkpoint.Options{Kind: manifest.Prompt, By: conversation.Trigger{Prompt: "left"}}}); !s.Left {
		t.Fatalf("%+v", s)
	}
	scans := 0
	l.do(func(ctx context.Context, p *project.Project) error {
		p.Progress = func(project.ProgressInfo) { // when the tree was looked at, at the latest
			if scans++; scans > 1 {
				return
			}
			l.do(func(ctx context.Context, p *project.Project) error {
				done, err := engine.Restore(ctx, p, engine.RestoreOptions{Checkpoint: first})
				if err == nil && len(done.Replace) != 2 {
					t.Errorf("the restore: %+v", done)
				}
				return err
			})
			l.write("b.txt", "three")
		}
		return hook.Work(ctx, p, hook.WorkOptions{})
	})
	if scans < 2 {
		t.Error("the tree was not looked at again")
	}
	newest := l.newest(1)[0].Checkpoint
	if newest.Prompt != "left" || l.at(newest, "a.txt") != "one" || l.at(newest, "b.txt") != "three" {
		t.Errorf("%q holds a.txt %q, b.txt %q", newest.Prompt, l.at(newest, "a.txt"), l.at(newest, "b.txt"))
	}
	// What the restore wrote over is in its safety checkpoint.
	l.do(func(ctx context.Context, p *project.Project) error {
		_, err := engine.UndoRestore(ctx, p, engine.RestoreOptions{Force: true})
		return err
	})
	for _, name := range []string{"a.txt", "b.txt"} {
		if got, err := os.ReadFile(filepath.Join(l.root, name)); err != nil || string(got) != "two" {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
}
