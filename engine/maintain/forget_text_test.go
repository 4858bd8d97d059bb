//go:build unix

package maintain_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

func (l *lab) forgetText(pattern string, isRegexp bool) *maintain.Forgotten {
	l.T.Helper()
	var done *maintain.Forgotten
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		done, err = maintain.ForgetText(ctx, p, []string{pattern}, isRegexp, false)
		return err
	})
	return done
}

// heldConversation is the transcript as a checkpoint holds it.
func (l *lab) heldConversation(c manifest.Checkpoint) (text string) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		r, err := conversation.Open(ctx, p, c)
		if err != nil {
			return err
		}
		defer r.Close()
		data, err := io.ReadAll(r)
		text = string(data)
		return err
	})
	return text
}

// TestForgetText: what was said is marked in transcripts and prompts, the agent's file is
// named and not touched, and what is said later is captured behind the marks.
func TestForgetText(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("the password is "+testlab.Secret, "1")
	second := c.Turn("and now?", "2")
	c.Turn("third", "3")
	l := &lab{c.Lab}
	before := c.Transcript.Bytes()
	whole := l.heldConversation(second)
	done := l.forgetText(testlab.Secret, false)
	if done.Pending != "" || done.Texts == 0 || done.Checkpoints == 0 {
		t.Errorf("%+v", done)
	}
	if len(done.Still) != 1 || done.Still[0] != c.Transcript.File {
		t.Errorf("still in %v, want the agent's file", done.Still)
	}
	if c.Transcript.Bytes() != before {
		t.Error("the agent's file was changed")
	}
	l.Nowhere(testlab.Secret, "after forget")
	marked := l.heldConversation(second)
	if len(marked) != len(whole) || strings.Contains(marked, testlab.Secret) || !strings.Contains(marked, "[forgotten]") {
		t.Errorf("marked: %q", marked)
	}
	for line := range strings.Lines(marked) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %q", line)
		}
	}
	l.Verify()
	// The agent goes on in its file, which still has the text: only what is new is captured.
	fourth := c.Turn("fourth", "4")
	c.Turn("fifth", "5")
	if got := l.heldConversation(fourth); strings.Contains(got, testlab.Secret) || !strings.Contains(got, "third") {
		t.Errorf("the next capture: %q", got)
	}
	l.Nowhere(testlab.Secret, "after the next captures")
	// What is held can be put back and read.
	if err := os.Remove(c.Transcript.File); err != nil {
		t.Fatal(err)
	}
	got := c.Restore(restore.Options{Checkpoint: fourth, Half: conversation.ConversationOnly})
	data, err := os.ReadFile(got.Conversation.File)
	if err != nil || strings.Contains(string(data), testlab.Secret) || !strings.Contains(string(data), "and now?") {
		t.Errorf("the fork: %v %q", err, data)
	}
}

// What a tool was called with is a part of what was said.
func TestForgetTextOfATool(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	l.Write("a", "2")
	l.SaveBy(conversation.Trigger{Agent: "generic", Session: "s", Tool: "Bash", Command: "curl -u me:" + testlab.Secret + " example.org"})
	if c := l.Newest(1)[0]; !strings.Contains(c.ToolSummary, testlab.Secret) {
		t.Fatalf("the summary is %q", c.ToolSummary)
	}
	if done := l.forgetText(testlab.Secret, false); done.Texts != 1 || done.Checkpoints != 1 {
		t.Errorf("%+v", done)
	}
	if c := l.Newest(1)[0]; strings.Contains(c.ToolSummary, testlab.Secret) || !strings.HasPrefix(c.ToolSummary, "curl -u me:") {
		t.Errorf("the summary is %q", c.ToolSummary)
	}
	l.Nowhere(testlab.Secret, "after forget")
}
