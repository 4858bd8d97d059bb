package hookio

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorded is what is understood of the payloads in testdata, which real clients sent.
func recorded() map[Agent][]string {
	return map[Agent][]string{
		Codex: {
			"session-start startup", "prompt first", "stop", "session-end",
			"session-start resume", "prompt second", "pre-tool shell sed -i s/one/two/ a.txt", "post-tool shell sed -i s/one/two/ a.txt", "stop", "session-end",
			"session-start resume", "prompt third", "stop", "session-end",
		},
		Qwen: {
			"session-start startup", "notification", "prompt first",
			"pre-tool edit /srv/proj/a.txt", "post-tool edit /srv/proj/a.txt", "", "pre-tool shell echo bee > b.txt", "post-tool shell echo bee > b.txt", "", "stop",
			"session-start resume", "notification", "prompt second", "pre-tool edit /srv/proj/a.txt", "post-tool edit /srv/proj/a.txt", "", "stop",
			"session-start resume", "notification", "prompt third", "stop",
		},
		Copilot: {
			"session-start new", "prompt first",
			"pre-tool edit /srv/proj/a.txt", "post-tool edit /srv/proj/a.txt", "pre-tool shell echo bee > b.txt", "post-tool shell echo bee > b.txt", "stop", "session-end",
			"session-start resume", "prompt second", "pre-tool shell echo two > a.txt", "post-tool shell echo two > a.txt", "stop", "session-end",
			"session-start resume", "prompt third", "stop", "session-end",
		},
		Gemini: {
			"session-start startup", "prompt first", "",
			"pre-tool edit /srv/proj/a.txt", "post-tool edit /srv/proj/a.txt", "", "pre-tool shell echo bee > b.txt", "post-tool shell echo bee > b.txt", "", "stop", "session-end",
			"session-start resume", "prompt second", "", "pre-tool edit /srv/proj/a.txt", "post-tool edit /srv/proj/a.txt", "", "stop", "session-end",
			"session-start resume", "prompt third", "", "stop", "session-end",
		},
	}
}

func TestRecordedPayloads(t *testing.T) {
	for agent, want := range recorded() {
		data, err := os.ReadFile(filepath.Join("testdata", string(agent)+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(data)) {
			// Registered with another agent's name: whose it is the payload says.
			for _, named := range []Agent{agent, Claude} {
				e := decodeAs(strings.NewReader(line), named, "", func(name string) string {
					switch {
					case agent == Copilot && name == "COPILOT_CLI":
						return "1"
					case name == "HOME":
						return "/home/dev"
					}
					return ""
				})
				if agent == Copilot && e.TranscriptPath != "/home/dev/.copilot/session-state/"+e.SessionID+"/events.jsonl" {
					t.Errorf("transcript %q", e.TranscriptPath)
				}
				if e.Agent != agent && (e.TranscriptPath != "" || named == agent) {
					t.Errorf("%s is taken for %s: %s", agent, e.Agent, line)
				}
				if e.Damaged != nil || e.SessionID == "" || e.Cwd != "/srv/proj" {
					t.Errorf("%s: %+v", agent, e)
				}
				if named == agent {
					got = append(got, understood(&e))
				}
				if resumed := agent == Gemini && e.Kind == SessionStart && e.Source == "resume"; resumed == (e.TranscriptPath != "") && named == agent {
					t.Errorf("%s: transcript %q at %s %s", agent, e.TranscriptPath, e.Name, e.Source)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", agent, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func understood(e *Event) string {
	prompt, _, _ := strings.Cut(e.Prompt, " %%")
	switch e.Kind {
	case SessionStart:
		return fmt.Sprintf("%s %s", e.Kind, e.Source)
	case Prompt:
		return fmt.Sprintf("%s %s", e.Kind, prompt)
	case PreTool, PostTool:
		return strings.TrimSpace(fmt.Sprintf("%s %s %s%s", e.Kind, e.Tool.Class, strings.Join(e.Tool.Files, " "), e.Tool.Command))
	}
	return string(e.Kind)
}

// The id of a call is that of the transcript.
func TestCallIDs(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "qwen.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		e := decodeAs(strings.NewReader(s.Text()), Qwen, "", func(string) string { return "" })
		if e.Kind == PreTool && !strings.HasPrefix(e.ToolUseID, "call_") {
			t.Errorf("%q", e.ToolUseID)
		}
	}
}
