package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

func TestRestoreForksTheConversation(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	c.Turn("two", "2")
	third := c.Turn("three", "3")
	before := c.Transcript.Bytes()

	done := c.Restore(restore.Options{Checkpoint: third})
	c.Content("2")
	fork := done.Conversation
	if fork == nil || fork.From != testlab.Session || fork.Session == testlab.Session || !strings.Contains(fork.Resume, "claude --resume "+fork.Session) {
		t.Fatalf("the fork is %+v", fork)
	}
	if got := c.Prompts(fork.File); got != "one, two" {
		t.Errorf("the fork has %q", got)
	}
	if len(fork.Prompts) != 1 || fork.Prompts[0] != "three" {
		t.Errorf("taken back: %q", fork.Prompts)
	}
	if c.Transcript.Bytes() != before {
		t.Error("the old transcript was touched")
	}
	if ops := c.Operations(); ops[0].Fork != fork.File {
		t.Errorf("the operation says %+v", ops[0])
	}

	// Undo and redo take both.
	back := c.TakeBack(restore.UndoRestore, restore.Options{})
	c.Content("3")
	if len(c.SessionFiles()) != 1 || !back.Conversation.Removed {
		t.Errorf("after the undo: %v, %+v", c.SessionFiles(), back.Conversation)
	}
	again := c.TakeBack(restore.RedoRestore, restore.Options{})
	c.Content("2")
	if again.Conversation.File != fork.File || c.Prompts(fork.File) != "one, two" {
		t.Errorf("after the redo: %+v", again.Conversation)
	}

	// A fork that was used is not taken away.
	used := &testlab.TranscriptFile{T: t, File: fork.File}
	used.Add("{\"type\":\"user\"}\n")
	back = c.TakeBack(restore.UndoRestore, restore.Options{})
	c.Content("3")
	if len(c.SessionFiles()) != 2 || back.Conversation.Removed || len(back.Conversation.Notes) == 0 {
		t.Errorf("a used fork: %v, %+v", c.SessionFiles(), back.Conversation)
	}
	c.Verify()
}

func TestRestoreHalves(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	second := c.Turn("two", "2")
	if done := c.Restore(restore.Options{Checkpoint: second, Half: conversation.CodeOnly}); done.Conversation != nil || len(c.SessionFiles()) != 1 {
		t.Errorf("code only: %+v", done.Conversation)
	}
	c.Content("1")
	c.Write("file", "2")
	done := c.Restore(restore.Options{Checkpoint: second, Half: conversation.ConversationOnly})
	c.Content("2")
	if done.Safety != nil || c.Prompts(done.Conversation.File) != "one" {
		t.Errorf("the conversation only: %+v", done)
	}
	// It is an operation like any other.
	c.TakeBack(restore.UndoRestore, restore.Options{})
	c.Content("2")
	if len(c.SessionFiles()) != 1 {
		t.Errorf("after the undo: %v", c.SessionFiles())
	}
}

// Before the first prompt there is nothing to resume: the code goes back all
// the same, and the answer says why.
func TestRestoreBeforeTheFirstPrompt(t *testing.T) {
	c := testlab.NewChat(t)
	first := c.Turn("one", "1")
	var none *conversation.NoConversationError
	if _, err := c.Run(restore.Restore, restore.Options{Checkpoint: first, Half: conversation.ConversationOnly}); !errors.As(err, &none) || !none.Before {
		t.Errorf("%v", err)
	}
	c.Content("1")
	done := c.Restore(restore.Options{Checkpoint: first})
	c.Content("0")
	if done.Without == nil || !done.Without.Before || done.Conversation != nil {
		t.Errorf("%+v", done)
	}
}

// A restore that is cancelled moves neither half.
func TestCancelledRestore(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	second := c.Turn("two", "2")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c.Do(func(_ context.Context, p *project.Project) error {
		if _, err := restore.Restore(ctx, p, restore.Options{Checkpoint: second}); err == nil {
			t.Error("a cancelled restore succeeded")
		}
		return nil
	})
	c.Content("2")
	if len(c.SessionFiles()) != 1 {
		t.Errorf("a fork is left: %v", c.SessionFiles())
	}
}

func TestRestoreInPlace(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	second := c.Turn("two", "2")
	before := c.Transcript.Bytes()
	done := c.Restore(restore.Options{Checkpoint: second, InPlace: true})
	c.Content("1")
	if got := c.Prompts(c.Transcript.File); got != "one" || len(c.SessionFiles()) != 1 {
		t.Errorf("in place there is %q in %v", got, c.SessionFiles())
	}
	backup, err := os.ReadFile(done.Conversation.Backup)
	if err != nil || string(backup) != before {
		t.Errorf("the backup is not what was there (%v)", err)
	}
	if !strings.HasPrefix(done.Conversation.Backup, filepath.Join(c.Root, ".agent", "rewind", "transcript-backup")) {
		t.Errorf("the backup is %s", done.Conversation.Backup)
	}
	rewritten := c.Transcript.Bytes()
	c.TakeBack(restore.UndoRestore, restore.Options{})
	c.Content("2")
	if c.Transcript.Bytes() != before {
		t.Error("the undo did not put the transcript back")
	}
	c.TakeBack(restore.RedoRestore, restore.Options{})
	if c.Transcript.Bytes() != rewritten {
		t.Error("the redo gives something else")
	}
	// What was said since is not thrown away unasked.
	c.Transcript.Last = "00000000-0000-4000-8000-000000000002"
	c.Transcript.Say("three", "yes")
	more := c.Transcript.Bytes()
	var refused *project.RefusedError
	if _, err := c.Run(restore.UndoRestore, restore.Options{}); !errors.As(err, &refused) || !refused.Forcible {
		t.Errorf("%v", err)
	}
	c.Content("1")
	forced := c.TakeBack(restore.UndoRestore, restore.Options{Force: true})
	if kept, err := os.ReadFile(forced.Conversation.Backup); err != nil || string(kept) != more || c.Transcript.Bytes() != before {
		t.Errorf("forced: %v, %+v", err, forced.Conversation)
	}
	c.Verify()
}

func TestInPlaceIsRefusedWhileTheAgentRuns(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	second := c.Turn("two", "2")
	before := c.Transcript.Bytes()
	live := filepath.Join(c.Home, ".claude", "sessions", "1.json")
	if err := os.MkdirAll(filepath.Dir(live), 0o700); err != nil {
		t.Fatal(err)
	}
	entry := fmt.Sprintf(`{"pid":%d,"sessionId":%q}`, os.Getppid(), testlab.Session)
	if err := os.WriteFile(live, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	var running *conversation.AgentRunningError
	if _, err := c.Run(restore.Restore, restore.Options{Checkpoint: second, InPlace: true}); !errors.As(err, &running) {
		t.Fatalf("%v", err)
	}
	c.Content("2")
	if c.Transcript.Bytes() != before {
		t.Error("the transcript of a running agent was rewritten")
	}
	if _, err := c.Run(restore.Restore, restore.Options{Checkpoint: second, InPlace: true, Force: true}); err != nil {
		t.Fatal(err)
	}
	c.Content("1")
}

// The agent deletes transcripts after 30 days, with their directory: the store
// has them.
func TestRestoreAPurgedConversation(t *testing.T) {
	for _, place := range []bool{false, true} {
		c := testlab.NewChat(t)
		c.Turn("one", "1")
		second := c.Turn("two", "2")
		by := c.Transcript.Trigger()
		last := c.SaveBy(by).Checkpoint // the hook after it captures what was said
		if err := os.RemoveAll(filepath.Join(c.Home, ".claude")); err != nil {
			t.Fatal(err)
		}
		done := c.Restore(restore.Options{Checkpoint: second, Half: conversation.ConversationOnly, InPlace: place})
		c.Content("2")
		if got := c.Prompts(done.Conversation.File); got != "one" {
			t.Errorf("in place %v: the fork has %q", place, got)
		}
		c.TakeBack(restore.UndoRestore, restore.Options{})
		if len(c.SessionFiles()) != 0 {
			t.Errorf("in place %v: after the undo there is %v", place, c.SessionFiles())
		}
		last.Kind = manifest.Stop
		if done := c.Restore(restore.Options{Checkpoint: last, Half: conversation.ConversationOnly}); c.Prompts(done.Conversation.File) != "one, two" {
			t.Errorf("all of it: %+v", done.Conversation)
		}
		c.Verify()
	}
}
