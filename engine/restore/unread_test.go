package restore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// Where rules cannot be read nothing is in scope, and it is known why.
func TestRulesThatCannotBeRead(t *testing.T) {
	l := newLab(t)
	l.Write("a", "a")
	l.Init()
	l.Do(func(ctx context.Context, p *project.Project) error {
		rs, err := rules.Gather(p, nil, false)
		if err != nil {
			return err
		}
		s := &rules.Scopes{Rules: rs.Rules, Known: map[string]*ignore.Scope{}}
		s.Read = func(path string) []byte {
			if path == "bad/.gitignore" {
				s.Fail(syscall.EIO)
			} else {
				s.Fail(os.ErrNotExist)
			}
			return nil
		}
		for path, want := range map[string]bool{"a": true, "good/a": true, "bad": true, "bad/a": false, "bad/deep/a": false} {
			if got := s.Captures(path, path == "bad"); got != want {
				t.Errorf("%s is in scope: %v", path, got)
			}
		}
		if s.Failed != syscall.EIO {
			t.Errorf("failed is %v", s.Failed)
		}
		return nil
	})
}

// Prompts are not counted in an old copy while the session's file is there and cannot be read: the answer would be
// another prompt's.
func TestPromptsAreNotCountedInAnOldCopy(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("makes a link to itself")
	}
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	k := l.TranscriptFile()
	k.Say("one", "done")
	l.SaveBy(k.Trigger()) // holds the first prompt only
	k.Say("two", "done")
	l.Do(func(ctx context.Context, p *project.Project) error {
		s, err := session.Choose(ctx, p, testlab.Session)
		if err != nil {
			return err
		}
		found, err := conversation.BeforePrompt(ctx, p, s, 1)
		if err != nil || found.Prompts[0] != "two" {
			t.Fatalf("the last prompt is %+v, %v", found, err)
		}
		if err := os.Remove(k.File); err != nil {
			return err
		}
		if found, err = conversation.BeforePrompt(ctx, p, s, 1); err != nil || found.Prompts[0] != "one" {
			t.Errorf("the file is gone: the last prompt is %+v, %v", found, err)
		}
		if err := os.Symlink(k.File, k.File); err != nil {
			return err
		}
		if found, err = conversation.BeforePrompt(ctx, p, s, 1); !errors.Is(err, syscall.ELOOP) {
			t.Errorf("the file cannot be read: the last prompt is %+v, %v", found, err)
		}
		return nil
	})
}

// A restore that cannot see what is there says so: it may not be as at the checkpoint.
func TestRestoreTellsOfWhatItCannotRead(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	l := newLab(t)
	l.Write("a", "1")
	first := l.Init()
	l.Write("a", "2")
	l.Write("new/b", "came later")
	dir := filepath.Join(l.Root, "new")
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	l.Do(func(ctx context.Context, p *project.Project) error {
		done, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first.Checkpoint})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(done.Skip, func(s problem.Problem) bool { return s.Path == "new" && s.Failed }) {
			t.Errorf("skipped: %+v", done.Skip)
		}
		return nil
	})
}
