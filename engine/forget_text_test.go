//go:build unix

package engine

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
	"github.com/rewind-cli/rewind/manifest"
)

func (l *lab) forgetText(pattern string, isRegexp bool) *maintain.Forgotten {
	l.t.Helper()
	var done *maintain.Forgotten
	l.do(func(ctx context.Context, p *project.Project) (err error) {
		done, err = maintain.ForgetText(ctx, p, []string{pattern}, isRegexp, false)
		return err
	})
	return done
}

// heldConversation is the transcript as a checkpoint holds it.
func (l *lab) heldConversation(c manifest.Checkpoint) (text string) {
	l.t.Helper()
	l.do(func(ctx context.Context, p *project.Project) error {
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
	c := newChat(t)
	c.turn("the password is "+secret, "1")
	second := c.turn("and now?", "2")
	c.turn("third", "3")
	l := c.lab
	before := c.k.bytes()
	whole := l.heldConversation(second)
	done := l.forgetText(secret, false)
	if done.Pending != "" || done.Texts == 0 || done.Checkpoints == 0 {
		t.Errorf("%+v", done)
	}
	if len(done.Still) != 1 || done.Still[0] != c.k.file {
		t.Errorf("still in %v, want the agent's file", done.Still)
	}
	if c.k.bytes() != before {
		t.Error("the agent's file was changed")
	}
	l.nowhere(secret, "after forget")
	marked := l.heldConversation(second)
	if len(marked) != len(whole) || strings.Contains(marked, secret) || !strings.Contains(marked, "[forgotten]") {
		t.Errorf("marked: %q", marked)
	}
	for line := range strings.Lines(marked) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %q", line)
		}
	}
	l.verify()
	// The agent goes on in its file, which still has the text: only what is new is captured.
	fourth := c.turn("fourth", "4")
	c.turn("fifth", "5")
	if got := l.heldConversation(fourth); strings.Contains(got, secret) || !strings.Contains(got, "third") {
		t.Errorf("the next capture: %q", got)
	}
	l.nowhere(secret, "after the next captures")
	// What is held can be put back and read.
	if err := os.Remove(c.k.file); err != nil {
		t.Fatal(err)
	}
	got := c.restore(restore.Options{Checkpoint: fourth, Half: conversation.ConversationOnly})
	data, err := os.ReadFile(got.Conversation.File)
	if err != nil || strings.Contains(string(data), secret) || !strings.Contains(string(data), "and now?") {
		t.Errorf("the fork: %v %q", err, data)
	}
}

// What a tool was called with is a part of what was said.
func TestForgetTextOfATool(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.init()
	l.write("a", "2")
	l.saveBy(conversation.Trigger{Agent: "generic", Session: "s", Tool: "Bash", Command: "curl -u me:" + secret + " example.org"})
	if c := l.newest(1)[0]; !strings.Contains(c.ToolSummary, secret) {
		t.Fatalf("the summary is %q", c.ToolSummary)
	}
	if done := l.forgetText(secret, false); done.Texts != 1 || done.Checkpoints != 1 {
		t.Errorf("%+v", done)
	}
	if c := l.newest(1)[0]; strings.Contains(c.ToolSummary, secret) || !strings.HasPrefix(c.ToolSummary, "curl -u me:") {
		t.Errorf("the summary is %q", c.ToolSummary)
	}
	l.nowhere(secret, "after forget")
}
