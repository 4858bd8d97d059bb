package session

import (
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// A session is named by its newest prompt, wherever that is known from.
func TestNewestPrompt(t *testing.T) {
	var asked []project.Listed // newest first
	for _, c := range []manifest.Checkpoint{
		{Kind: manifest.Stop}, {Kind: manifest.Prompt, Prompt: "<task-notification>x</task-notification>"},
		{Kind: manifest.Prompt, Prompt: "newest\nand more"}, {Kind: manifest.Prompt, Prompt: "oldest"},
	} {
		c.Agent = "claude"
		asked = append(asked, project.Listed{Checkpoint: c})
	}
	early := []transcript.PromptLine{{Text: "early"}}
	for name, c := range map[string]struct {
		found       *transcript.Session // nil: gone
		checkpoints []project.Listed
		want        string
	}{
		"near the end of the transcript":   {&transcript.Session{Last: "late", Prompts: append(early, transcript.PromptLine{Text: "late"})}, asked, "late"},
		"far from it":                      {&transcript.Session{Prompts: early}, asked, "newest"},
		"far from it, without checkpoints": {&transcript.Session{Prompts: early}, nil, "early"},
		"gone":                             {nil, asked, "newest"},
		"gone, without a checkpoint":       {nil, nil, ""},
	} {
		s := &Info{Agent: "claude", Checkpoints: c.checkpoints}
		if c.found != nil {
			s.describe(*c.found)
		}
		s.sayNewest()
		if s.Label() != c.want || strings.Contains(s.Last, "\n") {
			t.Errorf("%s: %q, want %q", name, s.Label(), c.want)
		}
	}
}
