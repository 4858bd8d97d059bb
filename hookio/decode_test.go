package hookio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/hookio/jsonscan"
	"github.com/rewind-cli/rewind/hookio/shell"
)

func noEnv(string) string { return "" }

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(k string) string { return m[k] }
}

const (
	claudeFile = "/h/.claude/projects/-srv-p/e115439b-0c4e-4b52-8b4a-0b7f3a5a9d10.jsonl"
	droidFile  = "/h/.factory/sessions/-srv-p/083a7c0b-0c4e-4b52-8b4a-0b7f3a5a9d10.jsonl"
)

// decodeAs decodes a payload for a hook whose line names an agent and an action, and nothing else.
func decodeAs(r io.Reader, named Agent, action string, getenv func(string) string) Event {
	return decode(r, named, action, given{}, getenv)
}

// One payload per event and client, in the shapes that the clients send.
func TestDecode(t *testing.T) {
	a, bb := "a", "bb"
	for _, c := range []struct {
		name    string
		payload string
		want    Event
	}{
		{"claude session start", `{"session_id":"s1","transcript_path":"` + claudeFile + `","cwd":"/srv/p","hook_event_name":"SessionStart","source":"startup","model":"m"}`,
			Event{Agent: Claude, Kind: SessionStart, Name: "SessionStart", SessionID: "s1", TranscriptPath: claudeFile, Cwd: "/srv/p", Source: "startup"}},
		{"claude prompt", `{"session_id":"s1","transcript_path":"` + claudeFile + `","cwd":"/srv/p","prompt_id":"00a4","permission_mode":"default","hook_event_name":"UserPromptSubmit","prompt":"refactor\nauth \u00e9\ud83d\ude00","session_title":"t"}`,
			Event{Agent: Claude, Kind: Prompt, Name: "UserPromptSubmit", SessionID: "s1", TranscriptPath: claudeFile, Cwd: "/srv/p", PromptID: "00a4", PermissionMode: "default", Prompt: "refactor\nauth é😀", Title: "t"}},
		{"claude write", `{"session_id":"s1","transcript_path":"` + claudeFile + `","cwd":"/srv/p","prompt_id":"00a4","permission_mode":"bypassPermissions","effort":{"level":"medium"},"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/srv/p/c.txt","content":"bée\n"},"tool_use_id":"toolu_6956"}`,
			Event{Agent: Claude, Kind: PreTool, Name: "PreToolUse", SessionID: "s1", TranscriptPath: claudeFile, Cwd: "/srv/p", PromptID: "00a4", PermissionMode: "bypassPermissions",
				Tool: Tool{Name: "Write", Class: Edit, Files: []string{"/srv/p/c.txt"}, ChangedChars: 4, WholeFile: true}, ToolUseID: "toolu_6956"}},
		{"claude edit in a subagent", `{"hook_event_name":"PreToolUse","agent_id":"a1","agent_type":"Explore","cwd":"/srv/p","tool_name":"Edit","tool_input":{"file_path":"/srv/p/a","old_string":"12345","new_string":"12","replace_all":false}}`,
			Event{Agent: Claude, Kind: PreTool, Name: "PreToolUse", Cwd: "/srv/p", AgentID: "a1", AgentType: "Explore", Tool: Tool{Name: "Edit", Class: Edit, Files: []string{"/srv/p/a"}, ChangedChars: 5}}},
		{"claude several edits", `{"hook_event_name":"PreToolUse","tool_name":"MultiEdit","tool_input":{"file_path":"/a","edits":[{"old_string":"123","new_string":"1"},{"old_string":"1","new_string":"1234","replace_all":true},3]}}`,
			Event{Agent: Claude, Kind: PreTool, Name: "PreToolUse", Tool: Tool{Name: "MultiEdit", Class: Edit, Files: []string{"/a"}, ChangedChars: 7}}},
		{"claude notebook", `{"hook_event_name":"PreToolUse","cwd":"/p","tool_name":"NotebookEdit","tool_input":{"notebook_path":"n.ipynb","new_source":"x=1"}}`,
			Event{Agent: Claude, Kind: PreTool, Name: "PreToolUse", Cwd: "/p", Tool: Tool{Name: "NotebookEdit", Class: Edit, Files: []string{"/p/n.ipynb"}, ChangedChars: 3}}},
		{"claude shell, after", `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf x","description":"d"},"tool_response":{"stdout":"` + strings.Repeat("x", 100000) + `"},"tool_use_id":"t"}`,
			Event{Agent: Claude, Kind: PostTool, Name: "PostToolUse", Tool: Tool{Name: "Bash", Class: Shell, Command: "rm -rf x", Succeeded: true}, ToolUseID: "t"}},
		{"claude failed shell", `{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"false"},"error":"e","is_interrupt":false}`,
			Event{Agent: Claude, Kind: PostTool, Name: "PostToolUseFailure", Tool: Tool{Name: "Bash", Class: Shell, Command: "false", Failed: true}}},
		{"an edit that failed", `{"event":"post-tool","tool_name":"Edit","tool_response":{"error":null,"success":false}}`,
			Event{Agent: Claude, Kind: PostTool, Name: "post-tool", Tool: Tool{Name: "Edit", Class: Edit, Failed: true}}},
		{"an edit with an error", `{"event":"post-tool","tool_name":"Edit","tool_response":{"error":"old_string not found"}}`,
			Event{Agent: Claude, Kind: PostTool, Name: "post-tool", Tool: Tool{Name: "Edit", Class: Edit, Failed: true}}},
		{"an edit that was done", `{"event":"post-tool","tool_name":"Edit","tool_response":{"success":true,"error":"","is_error":false,"isError":null}}`,
			Event{Agent: Claude, Kind: PostTool, Name: "post-tool", Tool: Tool{Name: "Edit", Class: Edit}}},
		{"claude mcp", `{"hook_event_name":"PreToolUse","cwd":"/p","tool_name":"mcp__fs__move_file","tool_input":{"source":"/p/a","destination":"b","n":1}}`,
			Event{Agent: Claude, Kind: PreTool, Name: "PreToolUse", Cwd: "/p", Tool: Tool{Name: "mcp__fs__move_file", Class: MCP, Files: []string{"/p/a", "/p/b"}}}},
		{"claude stop", `{"hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"done","background_tasks":[{}]}`, Event{Agent: Claude, Kind: Stop, Name: "Stop"}},
		{"claude stop after a failure", `{"hook_event_name":"StopFailure","error":"e"}`, Event{Agent: Claude, Kind: Stop, Name: "StopFailure"}},
		{"claude subagent stop", `{"hook_event_name":"SubagentStop","agent_id":"a1","agent_type":"Explore","agent_transcript_path":"/x/agent-a1.jsonl"}`,
			Event{Agent: Claude, Kind: SubagentStop, Name: "SubagentStop", AgentID: "a1", AgentType: "Explore", AgentTranscriptPath: "/x/agent-a1.jsonl"}},
		{"claude's own helper", `{"hook_event_name":"SubagentStop","agent_id":"a1","agent_type":""}`, Event{Agent: Claude, Kind: Ignored, Name: "SubagentStop", AgentID: "a1"}},
		{"claude 2.0 subagent stop", `{"hook_event_name":"SubagentStop","stop_hook_active":false}`, Event{Agent: Claude, Kind: SubagentStop, Name: "SubagentStop"}},
		{"claude compaction", `{"hook_event_name":"PreCompact","trigger":"auto","custom_instructions":null}`, Event{Agent: Claude, Kind: PreCompact, Name: "PreCompact", Source: "auto"}},
		{"claude notification", `{"hook_event_name":"Notification","message":"m","notification_type":"idle"}`, Event{Agent: Claude, Kind: Notification, Name: "Notification"}},
		{"claude session end", `{"hook_event_name":"SessionEnd","reason":"clear"}`, Event{Agent: Claude, Kind: SessionEnd, Name: "SessionEnd", Reason: "clear"}},
		{"claude, an event of the future", `{"hook_event_name":"CoffeeMade","session_id":"s"}`, Event{Agent: Claude, Kind: Ignored, Name: "CoffeeMade", SessionID: "s"}},
		{"droid session start", `{"session_id":"s","transcript_path":"` + droidFile + `","cwd":"/p","permission_mode":"off","hook_event_name":"SessionStart","source":"clear","previous_session_id":"s0","CLAUDE_ENV_FILE":"/h/e.sh"}`,
			Event{Agent: Droid, Kind: SessionStart, Name: "SessionStart", SessionID: "s", PreviousSessionID: "s0", TranscriptPath: droidFile, Cwd: "/p", PermissionMode: "off", Source: "clear", EnvFile: "/h/e.sh"}},
		{"droid edit", `{"transcript_path":"` + droidFile + `","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"/p/a","old_str":"a","new_str":"bcd"}}`,
			Event{Agent: Droid, Kind: PreTool, Name: "PreToolUse", TranscriptPath: droidFile, Cwd: "/p", Tool: Tool{Name: "Edit", Class: Edit, Files: []string{"/p/a"}, ChangedChars: 3}}},
		{"droid patch", `{"transcript_path":"` + droidFile + `","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"ApplyPatch","tool_input":{"input":"*** Begin Patch\n*** Update File: src/a.go\n@@\n-old\n+newer\n*** Add File: b.go\n+x\n*** Delete File: c.go\n*** Update File: d.go\n*** Move to: e.go\n*** End Patch"}}`,
			Event{Agent: Droid, Kind: PreTool, Name: "PreToolUse", TranscriptPath: droidFile, Cwd: "/p", Tool: Tool{Name: "ApplyPatch", Class: Edit, Files: []string{"/p/src/a.go", "/p/b.go", "/p/c.go", "/p/d.go", "/p/e.go"}, ChangedChars: 1027}}},
		{"droid shell", `{"transcript_path":"` + droidFile + `","hook_event_name":"PostToolUse","tool_name":"Execute","tool_input":{"command":"ls","riskLevel":"low"},"tool_response":"text"}`,
			Event{Agent: Droid, Kind: PostTool, Name: "PostToolUse", TranscriptPath: droidFile, Tool: Tool{Name: "Execute", Class: Shell, Command: "ls"}}},
		{"codex patch", `{"transcript_path":"/h/.codex/sessions/2026/11/20/rollout-x.jsonl","turn_id":"t1","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: /p/x\n+hi\n*** End Patch"}}`,
			Event{Agent: Codex, Kind: PreTool, Name: "PreToolUse", TranscriptPath: "/h/.codex/sessions/2026/11/20/rollout-x.jsonl", PromptID: "t1", Cwd: "/p", Tool: Tool{Name: "apply_patch", Class: Edit, Files: []string{"/p/x"}, ChangedChars: 2}}},
		{"codex shell as a list", `{"hook_event_name":"PreToolUse","tool_name":"shell","tool_input":{"command":["bash","-lc","rm 'a b'"]}}`,
			Event{Agent: Claude, Kind: PreTool, Name: "PreToolUse", Tool: Tool{Name: "shell", Class: Shell, Command: `'bash' '-lc' 'rm '\''a b'\'''`}}},
		{"gemini tool", `{"session_id":"s","transcript_path":"/h/.gemini/tmp/x/chats/session-1.jsonl","cwd":"/p","hook_event_name":"BeforeTool","timestamp":"t","tool_name":"replace","tool_input":{"file_path":"/p/a","old_string":"x","new_string":"yy"}}`,
			Event{Agent: Gemini, Kind: PreTool, Name: "BeforeTool", SessionID: "s", TranscriptPath: "/h/.gemini/tmp/x/chats/session-1.jsonl", Cwd: "/p", Tool: Tool{Name: "replace", Class: Edit, Files: []string{"/p/a"}, ChangedChars: 2}}},
		{"gemini prompt", `{"hook_event_name":"BeforeAgent","prompt":"p"}`, Event{Agent: Claude, Kind: Prompt, Name: "BeforeAgent", Prompt: "p"}},
		{"qwen prompt", `{"transcript_path":"/h/.qwen/projects/-p/chats/s.jsonl","hook_event_name":"UserPromptSubmit","prompt":"p","prompt_id":"s########1"}`,
			Event{Agent: Qwen, Kind: Prompt, Name: "UserPromptSubmit", TranscriptPath: "/h/.qwen/projects/-p/chats/s.jsonl", Prompt: "p", PromptID: "s########1"}},
		{"qwen continuation", `{"transcript_path":"/h/.qwen/projects/-p/chats/s.jsonl","hook_event_name":"UserPromptSubmit","prompt":""}`,
			Event{Agent: Qwen, Kind: Ignored, Name: "UserPromptSubmit", TranscriptPath: "/h/.qwen/projects/-p/chats/s.jsonl"}},
		{"copilot camel case", `{"sessionId":"s","cwd":"/p","hookEventName":"preToolUse","toolName":"bash","toolArgs":"{\"command\":\"rm a\"}"}`,
			Event{Agent: Claude, Kind: PreTool, Name: "preToolUse", SessionID: "s", Cwd: "/p", Tool: Tool{Name: "bash", Class: Shell, Command: "rm a"}}},
		{"cursor shell", `{"conversation_id":"c","generation_id":"g","hook_event_name":"beforeShellExecution","workspace_roots":["/p",3,"/q"],"command":"rm a","cwd":""}`,
			Event{Agent: Claude, Kind: PreTool, Name: "beforeShellExecution", SessionID: "c", PromptID: "g", Workspace: "/p", Cwd: "/p", Tool: Tool{Class: Shell, Command: "rm a"}}},
		{"cursor edit", `{"conversation_id":"c","hook_event_name":"afterFileEdit","workspace_roots":["/p"],"file_path":"/p/a","edits":[{"old_string":"a","new_string":"bb"}]}`,
			Event{Agent: Claude, Kind: PostTool, Name: "afterFileEdit", SessionID: "c", Workspace: "/p", Cwd: "/p", Tool: Tool{Class: Edit, Files: []string{"/p/a"}, ChangedChars: 2, Rewrite: &Rewrite{swaps: []swap{{old: &a, new: &bb}}, size: 3}}}},
		{"generic", `{"cwd":"/p","event":"pre-tool","session_id":"s","tool_name":"weld","tool_input":{"path":"x"}}`,
			Event{Agent: Claude, Kind: PreTool, Name: "pre-tool", Cwd: "/p", SessionID: "s", Tool: Tool{Name: "weld", Class: OtherTool, Files: []string{"/p/x"}}}},
		{"windows", `{"hook_event_name":"PreToolUse","cwd":"C:\\p","tool_name":"Edit","tool_input":{"file_path":"C:\\p\\a.txt","old_string":"","new_string":"x"}}`,
			Event{Agent: Claude, Kind: PreTool, Name: "PreToolUse", Cwd: `C:\p`, Tool: Tool{Name: "Edit", Class: Edit, Files: []string{`C:\p\a.txt`}, ChangedChars: 1}}},
		{"wrong types", `{"session_id":7,"cwd":null,"prompt":["x"],"tool_input":"*** nothing","tool_name":{"a":1},"hook_event_name":"Stop","agent_id":false,"transcript_path":{}}`,
			Event{Agent: Claude, Kind: Stop, Name: "Stop"}},
		{"wrong types in the input", `{"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":["/a",1,{"x":"y"}],"old_string":null,"new_string":12,"edits":{"a":1},"content":[]}}`,
			Event{Agent: Claude, Kind: PreTool, Name: "PreToolUse", Tool: Tool{Name: "Edit", Class: Edit, Files: []string{"/a"}, WholeFile: true}}},
		{"names repeated", `{"hook_event_name":"Stop","hook_event_name":"SessionEnd"}`, Event{Agent: Claude, Kind: SessionEnd, Name: "SessionEnd"}},
		{"no object", `[1]`, Event{Agent: Claude, Damaged: jsonscan.ErrSyntax}},
		{"empty object", `{}`, Event{Agent: Claude}},
		{"nothing", ``, Event{Agent: Claude}},
		{"blank", " \n", Event{Agent: Claude}},
		{"a lone surrogate, an odd escape", `{"hook_event_name":"UserPromptSubmit","prompt":"\ud800\q\u00Zz"}`, Event{Agent: Claude, Name: "UserPromptSubmit", Kind: Prompt, Damaged: jsonscan.ErrSyntax}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := decodeAs(strings.NewReader(c.payload), Claude, "", noEnv)
			defer func(whole Event) { // byte by byte it is the same event
				if slow := decodeAs(&trickle{s: c.payload}, Claude, "", noEnv); !reflect.DeepEqual(slow, whole) {
					t.Errorf("byte by byte\n got %+v\nwant %+v", slow, whole)
				}
			}(got)
			if got.Kind == PreTool { // what an edit makes of a file: TestRewrite, TestGuardSettings
				got.Tool.Rewrite, got.Tool.Patch = nil, ""
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// trickle reads one byte at a time.
type trickle struct{ s string }

func (r *trickle) Read(p []byte) (int, error) {
	if r.s == "" {
		return 0, io.EOF
	}
	p[0] = r.s[0]
	r.s = r.s[1:]
	return 1, nil
}

func TestDecodeTruncated(t *testing.T) {
	payload := `{"session_id":"s1","cwd":"/srv/p","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/srv/p/c.txt","content":"bee"}}`
	for n := 1; n < len(payload); n++ {
		e := decodeAs(strings.NewReader(payload[:n]), Claude, "", noEnv)
		if !errors.Is(e.Damaged, io.ErrUnexpectedEOF) && e.Damaged != jsonscan.ErrSyntax {
			t.Fatalf("%q: damaged %v", payload[:n], e.Damaged)
		}
		for _, s := range []struct{ got, want string }{{e.SessionID, "s1"}, {e.Cwd, "/srv/p"}, {e.Name, "PreToolUse"}, {e.Tool.Name, "Write"}} {
			if s.got != "" && s.got != s.want {
				t.Fatalf("%q: half a value %q", payload[:n], s.got)
			}
		}
		for _, f := range e.Tool.Files {
			if f != "/srv/p/c.txt" {
				t.Fatalf("%q: half a path %q", payload[:n], f)
			}
		}
	}
	if e := decodeAs(strings.NewReader(payload), Claude, "", noEnv); e.Damaged != nil {
		t.Error(e.Damaged)
	}
}

// 50 MB in any field cost a bounded amount of memory, and stdin is read to its
// end.
func TestDecodeHuge(t *testing.T) {
	const whole = 50 << 20
	// Many small tokens take long under the race detector: a quarter of them shows as much.
	many := map[string]bool{"response": true, "files": true, "escapes": true}
	for name, parts := range map[string][3]string{
		"content":  {`{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a","content":"`, "x", `"},"session_id":"s"}`},
		"prompt":   {`{"hook_event_name":"UserPromptSubmit","prompt":"`, "é", `","session_id":"s"}`},
		"response": {`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":[`, "[],", `0],"session_id":"s"}`},
		"command":  {`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"`, "rm a;", `"},"session_id":"s"}`},
		"files":    {`{"hook_event_name":"PreToolUse","tool_name":"mcp__x","tool_input":{"paths":[`, `"a",`, `"b"]},"session_id":"s"}`},
		"name":     {`{"hook_event_name":"Stop","`, "k", `":1,"session_id":"s"}`},
		"depth":    {`{"hook_event_name":"Stop","x":`, "[", ``},
		"escapes":  {`{"hook_event_name":"UserPromptSubmit","prompt":"`, `\n`, `","session_id":"s"}`},
	} {
		t.Run(name, func(t *testing.T) {
			size := whole
			if many[name] {
				size /= 4
			}
			r := &repeater{head: parts[0], body: parts[1], tail: parts[2], left: size}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			e := decodeAs(r, Claude, "", noEnv)
			runtime.ReadMemStats(&after)
			if e.Kind == Ignored || name != "depth" && (e.SessionID != "s" || e.Damaged != nil) {
				t.Errorf("%+.200v", e)
			}
			if !r.done {
				t.Error("not read to the end")
			}
			if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 8<<20 {
				t.Errorf("allocated %d bytes for %d", grown, size)
			}
		})
	}
}

type repeater struct {
	head, body, tail string
	left             int
	done             bool
	whole, chunk     []byte
}

func (r *repeater) Read(p []byte) (int, error) {
	if r.head != "" {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	if r.left > 0 || len(r.chunk) > 0 {
		if r.whole == nil {
			r.whole = bytes.Repeat([]byte(r.body), 1+30000/len(r.body))
		}
		if len(r.chunk) == 0 {
			r.chunk = r.whole
			r.left -= len(r.chunk)
		}
		n := copy(p, r.chunk)
		r.chunk = r.chunk[n:]
		return n, nil
	}
	if r.tail != "" {
		n := copy(p, r.tail)
		r.tail = r.tail[n:]
		return n, nil
	}
	r.done = true
	return 0, io.EOF
}

func TestArgs(t *testing.T) {
	for _, c := range []struct {
		args   string
		named  Agent
		action string
	}{
		{"", "", ""}, {"claude", Claude, ""}, {"droid", Droid, ""}, {"generic stop", Generic, "stop"}, {"claude-code", Claude, ""},
		{"session-start", "", "session-start"}, {"pre-tool-use", "", "pre-tool-use"}, {"post-bash", "", "post-bash"}, {"pre-modify", "", "pre-modify"}, {"analyze-prompt", "", "analyze-prompt"},
		{"session-start abc-123", "", "session-start"}, {"windsurf", Generic, ""}, {"windsurf pre-tool", Generic, "pre-tool"}, {"--debug claude", Generic, ""}, {"claude PreToolUse", Claude, "PreToolUse"},
	} {
		args := strings.Fields(c.args)
		if c.args == "--debug claude" {
			c.named = "" // an option first: the agent's name is looked for in the first place only
		}
		if named, action := Args(args); named != c.named || action != c.action {
			t.Errorf("%q: %q, %q", c.args, named, action)
		}
	}
	for action, want := range map[string]Event{
		"session-start":  {Kind: SessionStart},
		"pre-tool-use":   {Kind: PreTool, Tool: Tool{Name: "Bash", Class: Shell, Command: "ls"}},
		"post-tool-use":  {Kind: PostTool, Tool: Tool{Name: "Bash", Class: Shell, Command: "ls"}},
		"post-bash":      {Kind: PostTool, Tool: Tool{Name: "Bash", Class: Shell, Command: "ls"}},
		"pre-modify":     {Kind: PreTool, Tool: Tool{Name: "Bash", Class: Edit}},
		"stop":           {Kind: Stop},
		"analyze-prompt": {Kind: Prompt},
	} {
		e := decodeAs(strings.NewReader(`{"tool_name":"Bash","tool_input":{"command":"ls"}}`), "", action, noEnv)
		if e.Kind != want.Kind || !reflect.DeepEqual(e.Tool, want.Tool) {
			t.Errorf("%s: %+v", action, e)
		}
	}
	if e := decodeAs(strings.NewReader(`{"hook_event_name":"Stop"}`), "", "pre-tool-use", noEnv); e.Kind != Stop {
		t.Errorf("the payload's own event counts: %v", e.Kind)
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		path  string
		named Agent
		env   func(string) string
		want  Agent
	}{
		{claudeFile, Droid, noEnv, Claude},
		{droidFile, Claude, noEnv, Droid},
		{`C:\Users\a\.claude\projects\C--p\e115439b-0c4e-4b52-8b4a-0b7f3a5a9d10.jsonl`, "", noEnv, Claude},
		{"/elsewhere/projects/-p/e115439b-0c4e-4b52-8b4a-0b7f3a5a9d10.jsonl", Generic, noEnv, Claude},
		{"/elsewhere/projects/-p/agent-12.jsonl", "", noEnv, Generic},
		{"/h/.codex/sessions/2026/01/02/rollout-a.jsonl", Claude, noEnv, Codex},
		{"/h/.gemini/tmp/x/chats/session-1.jsonl", Claude, noEnv, Gemini},
		{"/h/.qwen/projects/-p/chats/e115439b-0c4e-4b52-8b4a-0b7f3a5a9d10.jsonl", Claude, env("GEMINI_PROJECT_DIR", "/p"), Qwen},
		{"/h/.copilot/session-state/s/events.jsonl", Claude, noEnv, Copilot},
		{"/h/.pi/agent/sessions/--p--/x.jsonl", "", noEnv, Pi},
		{"", Claude, env("COPILOT_CLI", "1"), Copilot},
		{"", Claude, env("CURSOR_VERSION", "2"), Cursor},
		{claudeFile, "", env("COPILOT_CLI", "1"), Claude},
		{"", Droid, env("CLAUDECODE", "1"), Droid},
		{"", Generic, env("CLAUDECODE", "1"), Generic},
		{"", "", env("FACTORY_PROJECT_DIR", "/p", "CLAUDECODE", "1", "CLAUDE_PROJECT_DIR", "/p"), Droid},
		{"", "", env("QWEN_CODE_SESSION_ID", "q", "GEMINI_SESSION_ID", "g"), Qwen},
		{"", "", env("GEMINI_SESSION_ID", "g", "CLAUDECODE", "1"), Gemini},
		{"", "", env("CLAUDECODE", "1"), Claude},
		{"", "", env("CLAUDE_PROJECT_DIR", "/p"), Generic},
		{"", "", noEnv, Generic},
	} {
		if got := detect(c.path, c.named, c.env); got != c.want {
			t.Errorf("Detect(%q, %q) = %q, want %q", c.path, c.named, got, c.want)
		}
	}
}

func TestRoot(t *testing.T) {
	for _, c := range []struct {
		e       Event
		env     func(string) string
		dir, by string
	}{
		{Event{Agent: Claude, Cwd: "/p/sub"}, env("CLAUDE_PROJECT_DIR", "/p", "FACTORY_PROJECT_DIR", "/f"), "/p", "CLAUDE_PROJECT_DIR"},
		{Event{Agent: Claude, Cwd: "/p/sub", SessionID: "s"}, env("CLAUDE_PROJECT_DIR", "/p", "REWIND_PROJECT_ROOT", "/r", "REWIND_SESSION_ID", "s"), "/r", "REWIND_PROJECT_ROOT"},
		{Event{Agent: Claude, Cwd: "/p/sub", SessionID: "other"}, env("CLAUDE_PROJECT_DIR", "/p", "REWIND_PROJECT_ROOT", "/r", "REWIND_SESSION_ID", "s"), "/p", "CLAUDE_PROJECT_DIR"},
		{Event{Agent: Claude, Cwd: "/p/sub", SessionID: "other"}, env("REWIND_PROJECT_ROOT", "/r"), "/p/sub", "cwd"},
		{Event{Agent: Droid, Cwd: "/p"}, env("CLAUDE_PROJECT_DIR", "/outer"), "/p", "cwd"},
		{Event{Agent: Droid, Cwd: "/p"}, env("CLAUDE_PROJECT_DIR", "/outer", "FACTORY_PROJECT_DIR", "/f"), "/f", "FACTORY_PROJECT_DIR"},
		{Event{Agent: Codex, Cwd: "/p"}, env("CLAUDE_PROJECT_DIR", "/outer"), "/p", "cwd"},
		{Event{Agent: Cursor, Cwd: "/p/sub", Workspace: "/p"}, noEnv, "/p", "workspace_roots"},
		{Event{Agent: Claude, Cwd: "relative"}, env("CLAUDE_PROJECT_DIR", "also/relative"), "", ""},
		{Event{Agent: Claude, Cwd: `C:\p`}, noEnv, `C:\p`, "cwd"},
	} {
		if dir, by := Root(&c.e, c.env); dir != c.dir || by != c.by {
			t.Errorf("%+v: %q by %q, want %q by %q", c.e, dir, by, c.dir, c.by)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"session_id":"s1","transcript_path":"` + claudeFile + `","cwd":"/srv/p","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/srv/p/c.txt","content":"b\u00e9e\n"},"tool_use_id":"t"}`,
		`{"hook_event_name":"PreToolUse","tool_name":"MultiEdit","tool_input":{"file_path":"a","edits":[{"old_string":"123","new_string":"1"},3]}}`,
		`{"hook_event_name":"preToolUse","toolName":"bash","toolArgs":"{\"command\":[\"sh\",\"-c\",\"rm x\"]}"}`,
		`{"workspace_roots":["/p"],"command":"x","event":"stop"`, `{"a":[{"b":[]}],}`, "{\"prompt\":\"\xff\\ud800\"}", "", "{}", "nul", `"`,
	} {
		f.Add([]byte(s), "")
	}
	f.Fuzz(func(t *testing.T, payload []byte, action string) {
		e := decodeAs(bytes.NewReader(payload), "", action, noEnv)
		slow := decodeAs(&trickle{s: string(payload)}, "", action, noEnv)
		if !reflect.DeepEqual(e, slow) {
			t.Fatalf("%+v\n%+v", e, slow)
		}
		if len(e.Prompt) > maxPromptBytes*3 || len(e.Tool.Files) > 3*maxFiles {
			t.Fatal("unbounded")
		}
		_ = shell.Destructive(e.Tool.Command, "", nil)
		for _, file := range e.Tool.Files {
			_ = MatchFile("*.{js,ts}", file) || MatchFile("a/**/b", file)
		}
		if r := Guard(&e, testGuarded); r != nil && e.Kind != PreTool {
			t.Fatalf("refused %+v", e)
		}
	})
}

// A message of the person's moves a command of Copilot CLI to the background, and its end is told as a prompt.
func TestCopilotBackground(t *testing.T) {
	decode := func(payload string) Event {
		return decodeAs(strings.NewReader(payload), Copilot, "", func(string) string { return "" })
	}
	const call = `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/p","tool_name":"Bash","tool_input":{"command":"sleep 4; echo 4 > f"},"tool_result":{"result_type":"success","text_result_for_llm":%q}}`
	for result, want := range map[string]bool{
		"<command with shellId: 2 moved to background by the user. You will be automatically notified when it completes.>": true,
		"\n<shellId: 3 completed with exit code 0>":                                                         false,
		"it printed <command with shellId: 2 moved to background>\n<shellId: 3 completed with exit code 0>": false,
	} {
		if e := decode(fmt.Sprintf(call, result)); e.Kind != PostTool || e.Tool.Background != want {
			t.Errorf("%q: a command that goes on: %v, want %v", result, e.Tool.Background, want)
		}
	}
	const prompt = `{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/p","prompt":%q}`
	if e := decode(fmt.Sprintf(prompt, "<system_notification>\nShell command \"x\" (shellId: 2) has completed successfully.\n</system_notification>")); e.Kind != Ignored {
		t.Errorf("a notice of the client's is a %s", e.Kind)
	}
	if e := decode(fmt.Sprintf(prompt, "what is a <system_notification>?")); e.Kind != Prompt {
		t.Errorf("a prompt is a %s", e.Kind)
	}
}
