package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// A rewind of the agent's own writes nothing: the next prompt hangs on an
// earlier event, and the branch that was given up stays in the file.
func TestRestoreAfterANativeRewind(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	tip := c.Transcript.Last
	abandoned := c.Turn("two", "2")
	c.Transcript.Last = tip
	third := c.Turn("three", "3")
	fourth := c.Turn("four", "4")
	for want, at := range map[string]manifest.Checkpoint{"one": third, "one, three": fourth} {
		done := c.Restore(restore.Options{Checkpoint: at, Half: conversation.ConversationOnly})
		if got := c.Prompts(done.Conversation.File); got != want {
			t.Errorf("the fork has %q, want %q", got, want)
		}
	}
	done := c.Restore(restore.Options{Checkpoint: abandoned, Half: conversation.ConversationOnly})
	if got := c.Prompts(done.Conversation.File); got != "one" {
		t.Errorf("before the abandoned prompt: %q", got)
	}
}

// The way to a prompt leads through a compaction: what was before it stays.
func TestRestoreThroughACompaction(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	c.Transcript.Add(fmt.Sprintf(`{"parentUuid":null,"logicalParentUuid":%q,"isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","uuid":"boundary","timestamp":"2026-11-20T20:29:18.362Z","sessionId":%q}`+"\n", c.Transcript.Last, testlab.Session))
	c.Transcript.Add(fmt.Sprintf(`{"parentUuid":"boundary","isSidechain":false,"type":"user","message":{"role":"user","content":"This session is being continued from a previous conversation"},"isCompactSummary":true,"uuid":"summary","timestamp":"2026-11-20T20:29:18.362Z","sessionId":%q}`+"\n", testlab.Session))
	c.Transcript.Last = "summary"
	c.Turn("two", "2")
	third := c.Turn("three", "3")
	done := c.Restore(restore.Options{Checkpoint: third})
	if got := c.Prompts(done.Conversation.File); got != "one, two" {
		t.Errorf("the fork has %q", got)
	}
	data, err := os.ReadFile(done.Conversation.File)
	if err != nil || !strings.Contains(string(data), "compact_boundary") || !strings.Contains(string(data), "being continued") {
		t.Errorf("the fork lost the compaction (%v)", err)
	}
}

// A checkpoint before a tool call cuts before the message that makes the call,
// although the file lagged behind the hook.
func TestRestoreBeforeAToolCall(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	c.Turn("two", "2")
	by := c.Transcript.Trigger()
	by.PromptID, by.Tool, by.ToolUseID = "p3", "Bash", "toolu_x"
	var at manifest.Checkpoint
	c.Do(func(ctx context.Context, p *project.Project) error {
		saved, err := save.Save(ctx, p, checkpoint.Options{Kind: manifest.PreTool, By: by})
		if err == nil {
			at = saved.Checkpoint
		}
		return err
	})
	prompt := c.Transcript.Last
	for i, line := range []string{
		`"type":"assistant","message":{"role":"assistant","id":"m1","content":[{"type":"text","text":"I call"}]}`,
		`"type":"assistant","message":{"role":"assistant","id":"m1","content":[{"type":"tool_use","id":"toolu_x","name":"Bash","input":{}}]}`,
		`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_x","content":"ok"}]},"toolUseResult":{}`,
	} {
		id := fmt.Sprintf("tool-%d", i)
		c.Transcript.Add(fmt.Sprintf(`{"parentUuid":%q,"isSidechain":false,%s,"uuid":%q,"timestamp":"2026-11-20T20:29:18.362Z","sessionId":%q}`+"\n", c.Transcript.Last, line, id, testlab.Session))
		c.Transcript.Last = id
	}
	c.Transcript.Say("three", "yes")
	c.Write("file", "3")
	done := c.Restore(restore.Options{Checkpoint: at})
	c.Content("2")
	f, err := os.Open(done.Conversation.File)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := transcript.Read(transcript.Claude, f)
	if err != nil {
		t.Fatal(err)
	}
	if x.Leaf() != prompt {
		t.Errorf("the fork stands at %s, want %s", x.Leaf(), prompt)
	}
}

// Each session has its own transcript, and only its own is ever written.
func TestTwoSessions(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	second := c.Turn("two", "2")
	const other = "99999999-2222-4333-8444-555555555555"
	k := &testlab.TranscriptFile{T: t, File: filepath.Join(filepath.Dir(c.Transcript.File), other+".jsonl")}
	k.Say("elsewhere", "yes")
	theirs := k.Bytes()
	done := c.Restore(restore.Options{Checkpoint: second, InPlace: true})
	if done.Conversation.File != c.Transcript.File || k.Bytes() != theirs {
		t.Error("another session was written to")
	}
	// A checkpoint whose session's file carries another name is not written over.
	strange := second
	moved := *second.Transcript
	moved.Path = k.File
	strange.Transcript = &moved
	var refused *project.RefusedError
	if _, err := c.Run(restore.Restore, restore.Options{Checkpoint: strange, InPlace: true, Half: conversation.ConversationOnly}); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	if k.Bytes() != theirs {
		t.Error("one session's transcript was written over another")
	}
}

// A torn last line is not part of the conversation, and stops nothing.
func TestRestoreWithATornLastLine(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	second := c.Turn("two", "2")
	c.Transcript.Add(`{"type":"assistant","mess`)
	done := c.Restore(restore.Options{Checkpoint: second})
	if got := c.Prompts(done.Conversation.File); got != "one" {
		t.Errorf("the fork has %q", got)
	}
}

// A transcript of an unknown kind leaves the code.
func TestRestoreAnUnknownFormat(t *testing.T) {
	c := testlab.NewChat(t)
	c.Transcript.Add("{\"what\":\"is this\"}\n")
	c.Write("file", "1")
	saved := c.SaveBy(c.Transcript.Trigger()).Checkpoint
	c.Write("file", "2")
	done := c.Restore(restore.Options{Checkpoint: saved})
	c.Content("1")
	var format *transcript.FormatError
	if done.Without == nil || !errors.As(done.Without, &format) {
		t.Errorf("%+v", done)
	}
	var none *conversation.NoConversationError
	if _, err := c.Run(restore.Restore, restore.Options{Checkpoint: saved, Half: conversation.ConversationOnly}); !errors.As(err, &none) {
		t.Errorf("%v", err)
	}
}

func TestBackAndPromptNames(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	second := c.Turn("two", "2")
	c.Turn("three", "3")
	c.Do(func(ctx context.Context, p *project.Project) error {
		l, err := inspect.Resolve(ctx, p, "prompt~2")
		if err != nil || l.ID != second.ID {
			t.Errorf("prompt~2 is %s (%v), want %s", l.ID, err, second.ID)
		}
		l, err = inspect.Resolve(ctx, p, testlab.Session+":"+second.PromptID)
		if err != nil || l.ID != second.ID {
			t.Errorf("by event: %s (%v)", l.ID, err)
		}
		var no *project.NoCheckpointError
		if _, err := inspect.Resolve(ctx, p, "prompt~9"); !errors.As(err, &no) {
			t.Errorf("prompt~9: %v", err)
		}
		s, err := session.Choose(ctx, p, "")
		if err != nil {
			return err
		}
		done, err := restore.Back(ctx, p, restore.BackOptions{Session: s, N: 2})
		if err != nil {
			return err
		}
		c.Content("3")
		if got := c.Prompts(done.Conversation.File); got != "one" || strings.Join(done.Prompts, ", ") != "three, two" {
			t.Errorf("back 2 gives %q and takes back %q", got, done.Prompts)
		}
		// The fork that nobody has opened does not make the choice unclear.
		if s, err = session.Choose(ctx, p, ""); err != nil || s.ID != testlab.Session {
			t.Fatalf("%v, %v", s, err)
		}
		done, err = restore.Back(ctx, p, restore.BackOptions{Session: s, N: 2, Both: true})
		if err != nil {
			return err
		}
		c.Content("1")
		if done.Checkpoint.ID != second.ID || c.Prompts(done.Conversation.File) != "one" {
			t.Errorf("back 2 --both: %+v", done)
		}
		var few *transcript.FewPromptsError
		if _, err := restore.Back(ctx, p, restore.BackOptions{Session: s, N: 4}); !errors.As(err, &few) || few.Have != 3 {
			t.Errorf("back 4: %v", err)
		}
		return nil
	})
}

func TestSessions(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	second := c.Turn("two", "2")
	fork := c.Restore(restore.Options{Checkpoint: second}).Conversation.Session
	c.Do(func(ctx context.Context, p *project.Project) error {
		all, err := session.List(ctx, p)
		if err != nil {
			return err
		}
		found := map[string]session.Info{}
		for _, s := range all {
			found[s.ID] = s
		}
		if s := found[testlab.Session]; len(s.Checkpoints) != 2 || !s.OnDisk || s.Last != "two" || len(s.Forks) != 1 || s.Forks[0] != fork {
			t.Errorf("the session: %+v", s)
		}
		if s := found[fork]; s.Parent != testlab.Session || len(s.Ancestors) != 1 || s.Title != "[Fork] before two" || s.Last != "one" {
			t.Errorf("the fork: %+v", s)
		}
		var no *session.UnclearError
		if _, err := session.Choose(ctx, p, "nothing"); !errors.As(err, &no) {
			t.Errorf("%v", err)
		}
		if s, err := session.Choose(ctx, p, testlab.Session[:6]); err != nil || s.ID != testlab.Session {
			t.Errorf("%v %v", s, err)
		}
		return nil
	})
	c.Env.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	c.Do(func(ctx context.Context, p *project.Project) error {
		var no *session.UnclearError
		if _, err := session.Choose(ctx, p, ""); !errors.As(err, &no) || len(no.Choices) != 0 {
			t.Errorf("after an hour: %v", err)
		}
		return nil
	})
}
