package page

import (
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// A prompt without an id has the row with its text and its time, and none where several could be it.
func TestBarePrompt(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	taken := func(id byte, text string, after time.Duration) *project.Listed {
		return &project.Listed{Checkpoint: manifest.Checkpoint{ID: manifest.CheckpointID{id}, Kind: manifest.Prompt, Prompt: text, Time: begin.Add(after)}}
	}
	bare := []*project.Listed{taken(1, "go on", 0), taken(2, "go on", time.Hour), taken(3, "twice", 0), taken(4, "twice", time.Second)}
	for _, c := range []struct {
		text, id string
		after    time.Duration
		want     byte
	}{
		{"go on", "", time.Second, 1},
		{"go on", "", time.Hour - time.Second, 2},
		{"go on", "", time.Hour / 2, 0},
		{"go on", "an id", time.Second, 0},
		{"twice", "", 0, 0},
		{"other", "", 0, 0},
	} {
		m := &conversation.Message{Prompt: true, PromptID: c.id, Time: begin.Add(c.after), Parts: []transcript.Part{{Kind: transcript.Words, Role: transcript.User, Text: c.text}}}
		want := ""
		if c.want > 0 {
			want = manifest.CheckpointID{c.want}.String()
		}
		if got := barePrompt(bare, m); got != want {
			t.Errorf("%q %q after %v: %q, want %q", c.text, c.id, c.after, got, want)
		}
	}
	if got := barePrompt(bare[:1], &conversation.Message{Parts: []transcript.Part{{Kind: transcript.Words, Role: transcript.User, Text: "go on"}}}); got != "" {
		t.Errorf("of no known time: %q", got)
	}
}
