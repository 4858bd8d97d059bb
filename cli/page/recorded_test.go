package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/register"
)

// recordings are the sessions of the clients as each wrote them down, and where.
var recordings = map[string]string{
	"claude-2.0.30":            ".claude/projects/p/61933d95-0000-4000-8000-000000000001.jsonl",
	"claude-2.1.50":            ".claude/projects/p/61933d95-0000-4000-8000-000000000001.jsonl",
	"claude-2.1.329":           ".claude/projects/p/61933d95-0000-4000-8000-000000000001.jsonl",
	"claude-2.1.332-compacted": ".claude/projects/p/fc801458-2268-4aa0-8895-29233e8915bb.jsonl",
	"codex-0.169":              ".codex/sessions/2026/11/22/rollout-2026-11-22T02-36-58-01234567-0000-4000-8000-000000000001.jsonl",
	"copilot-1.0":              ".copilot/session-state/01234567-0000-4000-8000-000000000001/events.jsonl",
	"droid-0.215":              ".factory/sessions/p/61933d95-0000-4000-8000-000000000001.jsonl",
	"gemini-0.61":              ".gemini/tmp/proj/chats/session-2026-11-22T02-46-01234567.jsonl",
	"pi-0.73":                  ".pi/agent/sessions/--srv-proj--/2026-11-22T02-30-55-937Z_01a20117-0000-7000-8000-000000000003.jsonl",
	"pi-0.87":                  ".pi/agent/sessions/--srv-proj--/2026-11-22T02-30-55-937Z_01a20117-0000-7000-8000-000000000003.jsonl",
	"qwen-0.24":                ".qwen/projects/-srv-proj/chats/02468ace-0000-4000-8000-000000000002.jsonl",
}

// Every prompt that list has is in the conversation that the page shows of its row, where it begins, and in the session as a
// file: for the recorded sessions of all agents, which are played again with their hooks.
func TestRecordedPromptsOnThePage(t *testing.T) {
	files, err := filepath.Glob("../../engine/transcript/testdata/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		if strings.HasPrefix(name, "fork-") || strings.HasSuffix(name, "-forked") {
			continue // of another one
		}
		t.Run(name, func(t *testing.T) {
			into, ok := recordings[name]
			if !ok {
				t.Fatal("it is not known where the client writes this session down")
			}
			l := newLab(t)
			prompts := l.playRecorded(file, name, filepath.Join(l.env.Home, into))
			var listed struct {
				Checkpoints []struct {
					ID, Kind, Prompt, Session_ID string
				}
			}
			if err := json.Unmarshal([]byte(l.run(l.env, "list", "--json", "--limit", "0")), &listed); err != nil {
				t.Fatal(err)
			}
			place := l.logIn(l.ui(l.env).URL)
			export := filepath.Join(l.env.Home, "session.html")
			l.run(l.env, "ui", "--export-html", export, "-q")
			page, err := os.ReadFile(export)
			if err != nil {
				t.Fatal(err)
			}
			shared := promptsIn(t, unpacked(t, string(page)))
			n := 0
			for _, c := range listed.Checkpoints {
				if c.Kind != "prompt" {
					continue
				}
				n++
				var talk talkView
				l.get("/api/v1"+place+"/talk?id="+c.ID, &talk)
				here := ""
				for _, m := range talk.Messages {
					if m.Here && m.Prompt {
						here += spoken(m)
					}
				}
				if !strings.Contains(here, strings.TrimSpace(c.Prompt)) {
					t.Errorf("%q is not where its row begins: %q", c.Prompt, here)
				}
				if !strings.Contains(shared, strings.ReplaceAll(strings.TrimSpace(c.Prompt), l.env.Dir+"/", "")) {
					t.Errorf("%q is not in the file: %s", c.Prompt, shared)
				}
			}
			if n != prompts || n < 3 {
				t.Errorf("%d prompts are listed of %d: %+v", n, prompts, listed)
			}
		})
	}
}

// spoken is what the person says in a message.
func spoken(m messageView) (text string) {
	for _, p := range m.Parts {
		if p.Person && p.Kind == "words" {
			text += p.Text + "\n"
		}
	}
	return text
}

// promptsIn are the prompts in what a file has.
func promptsIn(t *testing.T, unpacked string) (text string) {
	t.Helper()
	for block := range strings.Lines(unpacked) {
		var all map[string]json.RawMessage
		if err := json.Unmarshal([]byte(block), &all); err != nil {
			var list []messageView
			if json.Unmarshal([]byte(block), &list) == nil {
				for _, m := range list {
					text += spoken(m)
				}
			}
			continue
		}
		for _, v := range all {
			var m messageView
			if json.Unmarshal(v, &m) == nil && m.Prompt {
				text += spoken(m)
			}
		}
	}
	return text
}

// playRecorded lets a recorded session happen in the lab's project: before each prompt its hook runs, and what the client wrote
// down until the next one comes behind it.
func (l *lab) playRecorded(file, name, into string) (prompts int) {
	l.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, dir := range []string{"/srv/proj", "/srv/a.b_c d+e"} {
		data = bytes.ReplaceAll(data, []byte(dir), []byte(l.env.Dir))
	}
	agent, _, _ := strings.Cut(name, "-")
	x, err := transcript.Read(transcript.Agent(agent), bytes.NewReader(data))
	if err != nil {
		l.t.Fatal(err)
	}
	write := func(until int64) { l.write(into, string(data[:until])) }
	hook := func(kind string, line *transcript.Line) {
		l.t.Helper()
		event := map[string]any{"hook_event_name": kind, "session_id": x.Session, "transcript_path": into, "cwd": l.env.Dir}
		if line != nil {
			event["prompt"] = line.Text
			if line.PromptID != "" {
				event["prompt_id"], event["turn_id"] = line.PromptID, line.PromptID
			}
		}
		switch {
		case agent == "gemini":
			event["hook_event_name"] = map[string]string{"UserPromptSubmit": "BeforeAgent", "Stop": "AfterAgent"}[kind]
		case agent == "pi":
			event = map[string]any{"extension": register.PiVersion, "kind": map[string]hookio.PiKind{"UserPromptSubmit": hookio.PiPrompt, "Stop": hookio.PiAgentEnd}[kind], "cwd": l.env.Dir, "session": x.Session, "file": into, "ui": true}
			if line != nil {
				event["prompt"] = line.Text
			}
		}
		payload, err := json.Marshal(event)
		if err != nil {
			l.t.Fatal(err)
		}
		l.hook(agent, payload)
	}
	for i := range x.Lines {
		line := &x.Lines[i]
		if !line.Prompt || line.Text == "" {
			continue
		}
		prompts++
		write(line.Offset)
		if prompts > 1 {
			hook("Stop", nil)
		}
		hook("UserPromptSubmit", line)
		l.write(filepath.Join(l.env.Dir, "a.txt"), fmt.Sprintln("made for prompt", prompts))
	}
	write(int64(len(data)))
	hook("Stop", nil)
	return prompts
}
