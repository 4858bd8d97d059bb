package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Of what the real clients wrote, each says something: the person's prompts, the model's words, and of
// each tool call what it was given and what it answered.
func TestSpeechOfClients(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "fork-") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			agent, _, _ := strings.Cut(filepath.Base(file), "-")
			x, err := Read(Agent(agent), bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			calls, answers := map[string]string{}, map[string]bool{}
			words := 0
			for i := range x.Lines {
				l := &x.Lines[i]
				parts := Speech(x.Agent, data[l.Offset:l.Offset+l.Length])
				if l.Prompt && l.Text != "" {
					found := false
					for _, p := range parts {
						found = found || p.Kind == Words && p.Role == User && strings.Contains(p.Text, strings.TrimSpace(l.Text))
					}
					if !found {
						t.Errorf("line %d: the prompt %q is not said: %+v", i+1, l.Text, parts)
					}
				}
				for _, p := range parts {
					switch p.Kind {
					case Words:
						words++
					case ToolCall:
						if p.Tool == "" || p.Text == "" {
							t.Errorf("line %d: a call says too little: %+v", i+1, p)
						}
						calls[p.Call] = p.Tool
					case ToolAnswer:
						if p.Text == "" {
							t.Errorf("line %d: an answer says nothing: %+v", i+1, p)
						}
						answers[p.Call] = true
					}
				}
			}
			for id := range x.tool {
				if calls[id] == "" {
					t.Errorf("call %s is not said", id)
				}
				if len(x.done[id]) > 0 && !answers[id] {
					t.Errorf("the answer to %s is not said", id)
				}
			}
			if words == 0 {
				t.Errorf("%d words, %d calls", words, len(calls))
			}
		})
	}
}

// Who said what in the recorded sessions of all agents: each prompt of the person once, and each answer once.
func TestSpeakersOfClients(t *testing.T) {
	for file, want := range map[string]struct{ prompts, answers int }{
		"claude-2.0.30.jsonl": {5, 8}, "claude-2.1.50.jsonl": {5, 8}, "claude-2.1.329.jsonl": {5, 8},
		"codex-0.169.jsonl": {3, 3}, "codex-0.169-forked.jsonl": {1, 1},
		"copilot-1.0.jsonl": {3, 3}, "droid-0.215.jsonl": {4, 4}, "gemini-0.61.jsonl": {3, 3},
		"pi-0.73.jsonl": {3, 3}, "pi-0.87.jsonl": {3, 3}, "qwen-0.24.jsonl": {3, 3},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		agent, _, _ := strings.Cut(file, "-")
		x, err := Read(Agent(agent), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		prompts, answers := 0, 0
		typed := map[string]int{} // the texts of the person's, in lines that are no prompts too
		for i := range x.Lines {
			l := &x.Lines[i]
			for _, p := range Speech(x.Agent, data[l.Offset:l.Offset+l.Length]) {
				switch {
				case p.Kind != Words:
				case p.Role == Assistant:
					answers++
				case l.Prompt:
					prompts++
				}
				if p.Kind == Words && p.Role == User {
					typed[p.Text]++
				}
			}
		}
		if prompts != want.prompts || answers != want.answers {
			t.Errorf("%s: %d prompts and %d answers, want %+v", file, prompts, answers, want)
		}
		for text, n := range typed {
			if n > 1 {
				t.Errorf("%s: %d times: %.60q", file, n, text)
			}
		}
	}
}

func TestSpeech(t *testing.T) {
	for line, want := range map[string][]Part{
		`{"type":"user","isMeta":true,"message":{"role":"user","content":"x"}}`: nil,
		`{"type":"system","content":"x"}`:                                       nil,
		`no json`:                                                               nil,
		`{"message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":" a"}]}}`: {
			{Kind: Thought, Role: Assistant, Text: "hm"}, {Kind: Words, Role: Assistant, Text: " a"}},
		`{"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"no"},{"type":"text","text":"way"}]}]}}`: {
			{Kind: ToolAnswer, Text: "no\nway", Call: "t", Failed: true}},
		`{"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]},"toolUseResult":{"status":"completed","agentId":"a1"}}`: {
			{Kind: ToolAnswer, Text: "done", Call: "t", Subagent: "a1"}},
		`{"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]},"toolUseResult":"\"agentId\": none"}`: {
			{Kind: ToolAnswer, Text: "done", Call: "t"}},
		`{"message":{"role":"assistant","content":"plain"}}`: {{Kind: Words, Role: Assistant, Text: "plain"}},
		`{"message":[1,2]}`: nil,
		`{"type":"event_msg","payload":{"type":"user_message","message":"older"}}`:                                                       {{Kind: Words, Role: User, Text: "older"}},
		`{"type":"event_msg","payload":{"type":"agent_message","message":"twice"}}`:                                                      nil,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"older"}]}}`:           nil,
		`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","content":[{"type":"Text","text":"x"}]}}}`: nil,
	} {
		got := Speech("", []byte(line))
		if len(got) != len(want) {
			t.Errorf("%s: %+v", line, got)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %+v, want %+v", line, got[i], want[i])
			}
		}
	}
}

func FuzzSpeech(f *testing.F) {
	f.Add([]byte(`{"message":{"role":"user","content":[{"functionResponse":{"response":{"output":{}}}}]}}`))
	f.Fuzz(func(t *testing.T, line []byte) { Speech(Claude, line) })
}

// What a client writes in the person's place is the client's, and what the person types into a running turn, or to
// the client itself, is the person's.
func TestWhoWrote(t *testing.T) {
	you := func(text string) []Part { return []Part{{Kind: Words, Role: User, Text: text}} }
	client := func(text string) []Part { return []Part{{Kind: Client, Text: text}} }
	claude := func(more, text string) string {
		return `{"type":"user","uuid":"u"` + more + `,"message":{"role":"user","content":` + js(text) + `}}`
	}
	queued := func(more string) string {
		return `{"type":"attachment","uuid":"u","attachment":{"type":"queued_command","prompt":"and this",` + more + `}}`
	}
	droid := func(more string) string {
		return `{"type":"message","id":"u","message":{"role":"user","content":[{"type":"text","text":"x"}]` + more + `}}`
	}
	qwen := func(more string) string {
		return `{"uuid":"u","type":"user"` + more + `,"message":{"role":"user","parts":[{"text":"\n[User message received during tool execution]: x"}]}}`
	}
	for _, c := range []struct {
		agent Agent
		line  string
		want  []Part
	}{
		{Claude, claude("", "<task-notification>x"), client("<task-notification>x")},
		{Claude, claude("", "[Request interrupted by user]"), client("[Request interrupted by user]")},
		{Claude, claude(`,"isCompactSummary":true`, "a summary"), client("a summary")},
		{Claude, claude(`,"origin":{"kind":"scheduled-trigger"}`, "go on"), client("go on")},
		{Claude, claude(`,"promptSource":"typed"`, "<task-notification> is what?"), you("<task-notification> is what?")},
		{Claude, claude("", "<bash-input>ls</bash-input>"), you("!ls")},
		{Claude, claude("", "<bash-stdout>a</bash-stdout>"), client("<bash-stdout>a</bash-stdout>")},
		{Claude, claude("", "<command-name>/model</command-name><command-args> x</command-args>"), you("/model x")},
		{Claude, claude("", "<div> is not closed"), you("<div> is not closed")},
		{Claude, `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>a"},{"type":"text","text":"b"}]}}`,
			append(client("<system-reminder>a"), you("b")...)},
		{Claude, queued(`"commandMode":"prompt","origin":{"kind":"human"}`), you("and this")},
		{Claude, queued(`"commandMode":"prompt"`), you("and this")},
		{Claude, queued(`"commandMode":"prompt","origin":{"kind":"peer"}`), client("and this")},
		{Claude, queued(`"commandMode":"task-notification"`), client("and this")},
		{Claude, `{"type":"attachment","attachment":{"type":"date","prompt":"x"}}`, nil},
		{Droid, droid(""), you("x")},
		{Droid, droid(`,"visibility":"llm_only"`), client("x")},
		{Droid, droid(`,"hookEventName":"Stop"`), client("x")},
		{Gemini, `{"id":"u","type":"user","content":[{"text":"<session_context>x"}]}`, client("<session_context>x")},
		{Qwen, qwen(`,"provenance":"real_user","subtype":"mid_turn_user_message","systemPayload":{"displayText":"x"}`), you("x")},
		{Qwen, qwen(`,"provenance":"system","subtype":"cron"`), client("\n[User message received during tool execution]: x")},
		{Codex, `{"type":"event_msg","payload":{"type":"user_message","message":"<task-notification>"}}`, you("<task-notification>")},
		{Copilot, `{"type":"user.message","data":{"content":"x"}}`, you("x")},
		{Pi, `{"type":"message","message":{"role":"user","content":[{"type":"text","text":"x"}]}}`, you("x")},
	} {
		if got := Speech(c.agent, []byte(c.line)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s\nsays %+v, want %+v", c.agent, c.line, got, c.want)
		}
	}
}
