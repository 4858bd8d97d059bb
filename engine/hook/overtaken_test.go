package hook_test

import (
	"context"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/manifest"
)

// A restore comes in the middle of a detached capture. It does not wait for the
// capture, and no checkpoint mixes what was scanned before with what is there
// after: the tree is looked at again.
func TestRestoreWhileACaptureRuns(t *testing.T) {
	l := newLab(t)
	l.Write("a.txt", "one")
	l.Write("b.txt", "one")
	first := l.Init()
	l.Write("a.txt", "two")
	l.Write("b.txt", "two")
	l.Report(hook.Event{Time: time.Unix(1, 0), Kind: manifest.Prompt, Moment: settings.Prompt, By: conversation.Trigger{Prompt: "left"}})
	scans := 0
	l.Do(func(ctx context.Context, p *project.Project) error {
		p.Progress = func(project.ProgressInfo) { // when the tree was looked at, at the latest
			if scans++; scans > 1 {
				return
			}
			done := l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
			if len(done.Replace) != 2 {
				t.Errorf("the restore: %+v", done)
			}
			l.Write("b.txt", "three")
		}
		return hook.Work(ctx, p, hook.WorkOptions{})
	})
	if scans < 2 {
		t.Error("the tree was not looked at again")
	}
	newest := l.Newest(1)[0].Checkpoint
	if newest.Prompt != "left" || l.at(newest, "a.txt") != "one" || l.at(newest, "b.txt") != "three" {
		t.Errorf("%q holds a.txt %q, b.txt %q", newest.Prompt, l.at(newest, "a.txt"), l.at(newest, "b.txt"))
	}
	// What the restore wrote over is in its safety checkpoint.
	l.Must(restore.UndoRestore, restore.Options{Force: true})
	l.Want("a.txt=two b.txt=two")
}
