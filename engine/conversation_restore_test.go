package engine

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
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// chat is a project in which an agent works: before each prompt a checkpoint is
// taken as its hook does, then the agent answers and changes a file.
type chat struct {
	*lab
	k *transcriptFile
}

func newChat(t *testing.T) *chat {
	l := newLab(t)
	l.write("file", "0")
	l.init()
	return &chat{l, l.transcriptFile()}
}

// turn is one prompt: text, and what the agent then writes.
func (c *chat) turn(prompt, content string) manifest.Checkpoint {
	c.t.Helper()
	by := c.k.trigger()
	by.Prompt, by.PromptID = prompt, fmt.Sprintf("p%d", c.k.n+1)
	saved := c.saveBy(by)
	c.k.say(prompt, "answer to "+prompt)
	c.write("file", content)
	return saved.Checkpoint
}

func (c *chat) restore(o restore.Options) *restore.Restored {
	c.t.Helper()
	done, err := c.run(restore.Restore, o)
	if err != nil {
		c.t.Fatal(err)
	}
	return done
}

func (c *chat) takeBack(call restoreCall, o restore.Options) *restore.Restored {
	c.t.Helper()
	done, err := c.run(call, o)
	if err != nil {
		c.t.Fatal(err)
	}
	return done
}

// prompts reads a transcript as the agent does.
func (c *chat) prompts(file string) string {
	c.t.Helper()
	f, err := os.Open(file)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	x, err := transcript.Read(transcript.Claude, f)
	if err != nil {
		c.t.Fatal(err)
	}
	said, err := x.Prompts(x.Leaf())
	if err != nil {
		c.t.Fatal(err)
	}
	var texts []string
	for i := len(said) - 1; i >= 0; i-- {
		texts = append(texts, x.Lines[said[i]].Text)
	}
	return strings.Join(texts, ", ")
}

func (c *chat) content(want string) {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.root, "file"))
	if err != nil || string(data) != want {
		c.t.Errorf("the file holds %q (%v), want %q", data, err, want)
	}
}

// sessionFiles are the files in the agent's directory.
func (c *chat) sessionFiles() (names []string) {
	c.t.Helper()
	entries, err := os.ReadDir(filepath.Dir(c.k.file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestRestoreForksTheConversation(t *testing.T) {
	c := newChat(t)
	c.turn("one", "1")
	c.turn("two", "2")
	third := c.turn("three", "3")
	before := c.k.bytes()

	done := c.restore(restore.Options{Checkpoint: third})
	c.content("2")
	fork := done.Conversation
	if fork == nil || fork.From != testSession || fork.Session == testSession || !strings.Contains(fork.Resume, "claude --resume "+fork.Session) {
		t.Fatalf("the fork is %+v", fork)
	}
	if got := c.prompts(fork.File); got != "one, two" {
		t.Errorf("the fork has %q", got)
	}
	if len(fork.Prompts) != 1 || fork.Prompts[0] != "three" {
		t.Errorf("taken back: %q", fork.Prompts)
	}
	if c.k.bytes() != before {
		t.Error("the old transcript was touched")
	}
	if ops := c.operations(); ops[0].Fork != fork.File {
		t.Errorf("the operation says %+v", ops[0])
	}

	// Undo and redo take both.
	back := c.takeBack(restore.UndoRestore, restore.Options{})
	c.content("3")
	if len(c.sessionFiles()) != 1 || !back.Conversation.Removed {
		t.Errorf("after the undo: %v, %+v", c.sessionFiles(), back.Conversation)
	}
	again := c.takeBack(restore.RedoRestore, restore.Options{})
	c.content("2")
	if again.Conversation.File != fork.File || c.prompts(fork.File) != "one, two" {
		t.Errorf("after the redo: %+v", again.Conversation)
	}

	// A fork that was used is not taken away.
	used := &transcriptFile{t: t, file: fork.File}
	used.add("{\"type\":\"user\"}\n")
	back = c.takeBack(restore.UndoRestore, restore.Options{})
	c.content("3")
	if len(c.sessionFiles()) != 2 || back.Conversation.Removed || len(back.Conversation.Notes) == 0 {
		t.Errorf("a used fork: %v, %+v", c.sessionFiles(), back.Conversation)
	}
	c.verify()
}

func TestRestoreHalves(t *testing.T) {
	c := newChat(t)
	c.turn("one", "1")
	second := c.turn("two", "2")
	if done := c.restore(restore.Options{Checkpoint: second, Half: conversation.CodeOnly}); done.Conversation != nil || len(c.sessionFiles()) != 1 {
		t.Errorf("code only: %+v", done.Conversation)
	}
	c.content("1")
	c.write("file", "2")
	done := c.restore(restore.Options{Checkpoint: second, Half: conversation.ConversationOnly})
	c.content("2")
	if done.Safety != nil || c.prompts(done.Conversation.File) != "one" {
		t.Errorf("the conversation only: %+v", done)
	}
	// It is an operation like any other.
	c.takeBack(restore.UndoRestore, restore.Options{})
	c.content("2")
	if len(c.sessionFiles()) != 1 {
		t.Errorf("after the undo: %v", c.sessionFiles())
	}
}

// Before the first prompt there is nothing to resume: the code goes back all
// the same, and the answer says why.
func TestRestoreBeforeTheFirstPrompt(t *testing.T) {
	c := newChat(t)
	first := c.turn("one", "1")
	var none *conversation.NoConversationError
	if _, err := c.run(restore.Restore, restore.Options{Checkpoint: first, Half: conversation.ConversationOnly}); !errors.As(err, &none) || !none.Before {
		t.Errorf("%v", err)
	}
	c.content("1")
	done := c.restore(restore.Options{Checkpoint: first})
	c.content("0")
	if done.Without == nil || !done.Without.Before || done.Conversation != nil {
		t.Errorf("%+v", done)
	}
}

// A restore that is cancelled moves neither half.
func TestCancelledRestore(t *testing.T) {
	c := newChat(t)
	c.turn("one", "1")
	second := c.turn("two", "2")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c.do(func(_ context.Context, p *project.Project) error {
		if _, err := restore.Restore(ctx, p, restore.Options{Checkpoint: second}); err == nil {
			t.Error("a cancelled restore succeeded")
		}
		return nil
	})
	c.content("2")
	if len(c.sessionFiles()) != 1 {
		t.Errorf("a fork is left: %v", c.sessionFiles())
	}
}

func TestRestoreInPlace(t *testing.T) {
	c := newChat(t)
	c.turn("one", "1")
	second := c.turn("two", "2")
	before := c.k.bytes()
	done := c.restore(restore.Options{Checkpoint: second, InPlace: true})
	c.content("1")
	if got := c.prompts(c.k.file); got != "one" || len(c.sessionFiles()) != 1 {
		t.Errorf("in place there is %q in %v", got, c.sessionFiles())
	}
	backup, err := os.ReadFile(done.Conversation.Backup)
	if err != nil || string(backup) != before {
		t.Errorf("the backup is not what was there (%v)", err)
	}
	if !strings.HasPrefix(done.Conversation.Backup, filepath.Join(c.root, ".agent", "rewind", "transcript-backup")) {
		t.Errorf("the backup is %s", done.Conversation.Backup)
	}
	rewritten := c.k.bytes()
	c.takeBack(restore.UndoRestore, restore.Options{})
	c.content("2")
	if c.k.bytes() != before {
		t.Error("the undo did not put the transcript back")
	}
	c.takeBack(restore.RedoRestore, restore.Options{})
	if c.k.bytes() != rewritten {
		t.Error("the redo gives something else")
	}
	// What was said since is not thrown away unasked.
	c.k.last = "00000000-0000-4000-8000-000000000002"
	c.k.say("three", "yes")
	more := c.k.bytes()
	var refused *project.RefusedError
	if _, err := c.run(restore.UndoRestore, restore.Options{}); !errors.As(err, &refused) || !refused.Forcible {
		t.Errorf("%v", err)
	}
	c.content("1")
	forced := c.takeBack(restore.UndoRestore, restore.Options{Force: true})
	if kept, err := os.ReadFile(forced.Conversation.Backup); err != nil || string(kept) != more || c.k.bytes() != before {
		t.Errorf("forced: %v, %+v", err, forced.Conversation)
	}
	c.verify()
}

func TestInPlaceIsRefusedWhileTheAgentRuns(t *testing.T) {
	c := newChat(t)
	c.turn("one", "1")
	second := c.turn("two", "2")
	before := c.k.bytes()
	live := filepath.Join(c.home, ".claude", "sessions", "1.json")
	if err := os.MkdirAll(filepath.Dir(live), 0o700); err != nil {
		t.Fatal(err)
	}
	entry := fmt.Sprintf(`{"pid":%d,"sessionId":%q}`, os.Getppid(), testSession)
	if err := os.WriteFile(live, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	var running *conversation.AgentRunningError
	if _, err := c.run(restore.Restore, restore.Options{Checkpoint: second, InPlace: true}); !errors.As(err, &running) {
		t.Fatalf("%v", err)
	}
	c.content("2")
	if c.k.bytes() != before {
		t.Error("the transcript of a running agent was rewritten")
	}
	if _, err := c.run(restore.Restore, restore.Options{Checkpoint: second, InPlace: true, Force: true}); err != nil {
		t.Fatal(err)
	}
	c.content("1")
}

// The agent deletes transcripts after 30 days, with their directory: the store
// has them.
func TestRestoreAPurgedConversation(t *testing.T) {
	for _, place := range []bool{false, true} {
		c := newChat(t)
		c.turn("one", "1")
		second := c.turn("two", "2")
		by := c.k.trigger()
		last := c.saveBy(by).Checkpoint // the hook after it captures what was said
		if err := os.RemoveAll(filepath.Join(c.home, ".claude")); err != nil {
			t.Fatal(err)
		}
		done := c.restore(restore.Options{Checkpoint: second, Half: conversation.ConversationOnly, InPlace: place})
		c.content("2")
		if got := c.prompts(done.Conversation.File); got != "one" {
			t.Errorf("in place %v: the fork has %q", place, got)
		}
		c.takeBack(restore.UndoRestore, restore.Options{})
		if len(c.sessionFiles()) != 0 {
			t.Errorf("in place %v: after the undo there is %v", place, c.sessionFiles())
		}
		last.Kind = manifest.Stop
		if done := c.restore(restore.Options{Checkpoint: last, Half: conversation.ConversationOnly}); c.prompts(done.Conversation.File) != "one, two" {
			t.Errorf("all of it: %+v", done.Conversation)
		}
		c.verify()
	}
}
