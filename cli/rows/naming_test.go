package rows

import (
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

func TestNamed(t *testing.T) {
	now := time.Now()
	o := &app.Output{Now: func() time.Time { return now }}
	id, err := manifest.ParseCheckpointID("kkxtlzsmkkxtlzsm")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("wide 界 ", 20)
	for name, c := range map[string]struct {
		l    project.Listed
		want string
	}{
		"a prompt":     {project.Listed{N: 3, Checkpoint: manifest.Checkpoint{Prompt: "add tz\nplease"}}, `3 "add tz" (kkxtlzsm, 12s ago)`},
		"a name":       {project.Listed{N: 3, Checkpoint: manifest.Checkpoint{Name: "v1", Prompt: "add tz"}}, `3 [v1] (kkxtlzsm, 12s ago)`},
		"a tool":       {project.Listed{N: 1, Checkpoint: manifest.Checkpoint{Kind: manifest.PreTool, Tool: "Bash", ToolSummary: "make", Prompt: "x"}}, `1 "Bash make" (kkxtlzsm, 12s ago)`},
		"an old tool":  {project.Listed{N: 1, Checkpoint: manifest.Checkpoint{Kind: manifest.PreTool, Tool: "Bash"}}, `1 (kkxtlzsm, 12s ago)`},
		"nothing said": {project.Listed{N: 12}, `12 (kkxtlzsm, 12s ago)`},
		"safety":       {project.Listed{Checkpoint: manifest.Checkpoint{Kind: manifest.Safety, Description: "before undo"}}, `the state before undo (kkxtlzsm, 12s ago)`},
		"no number":    {project.Listed{Checkpoint: manifest.Checkpoint{Kind: manifest.Manual}}, `kkxtlzsm (12s ago)`},
		"hostile":      {project.Listed{N: 1, Checkpoint: manifest.Checkpoint{Prompt: "\x1b[2J\u202ex"}}, `1 "\x1b[2J\u202ex" (kkxtlzsm, 12s ago)`},
		"long":         {project.Listed{N: 1, Checkpoint: manifest.Checkpoint{Prompt: long}}, `1 "` + screen.Clip(long, maxQuoted) + `" (kkxtlzsm, 12s ago)`},
	} {
		c.l.ID, c.l.Time = id, now.Add(-12*time.Second)
		if got := Named(o, c.l); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Sessions are told apart only where there are several.
func TestSessionLabels(t *testing.T) {
	row := func(agent, session string) *timeline.Row {
		return &timeline.Row{Kind: timeline.Prompt, Agent: agent, Session: session}
	}
	for name, c := range map[string]struct {
		rows []*timeline.Row
		want []string
	}{
		"one, and a person":            {[]*timeline.Row{row("claude", "aaaa1"), row("", ""), row("claude", "aaaa1")}, []string{"", "", ""}},
		"two of one agent":             {[]*timeline.Row{row("claude", "aaaabb1"), row("claude", "aaaabb2"), row("", "")}, []string{"aaaabb1", "aaaabb2", ""}},
		"short prefixes":               {[]*timeline.Row{row("claude", "12345678-1"), row("claude", "abcdefgh-2")}, []string{"12345678", "abcdefgh"}},
		"an agent each":                {[]*timeline.Row{row("claude", "12345678"), row("codex", "12345678")}, []string{"claude", "codex"}},
		"both":                         {[]*timeline.Row{row("claude", "12345678-1"), row("claude", "a"), row("codex", "z")}, []string{"claude 12345678", "claude a", "codex"}},
		"one is the other's beginning": {[]*timeline.Row{row("x", "abcd"), row("x", "abcde")}, []string{"abcd", "abcde"}},
		"hostile":                      {[]*timeline.Row{row("x", "\x1b[2Jabcde"), row("x", "éééééé")}, []string{`\x1b[2Jabcd`, "éééé"}},
	} {
		labels := SessionLabels(c.rows)
		for i, r := range c.rows {
			if got := labels[SessionOf(r)]; got != c.want[i] {
				t.Errorf("%s: row %d is of %q, want %q", name, i, got, c.want[i])
			}
		}
	}
}
