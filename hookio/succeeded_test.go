package hookio

import (
	"fmt"
	"strings"
	"testing"
)

// A command ended with 0 where its agent says so, and in no other case.
func TestSucceededAsTheAgentsSayIt(t *testing.T) {
	const call = `"tool_name":"%s","tool_input":{"command":"go test ./..."}`
	for _, c := range []struct {
		agent, tool, event, rest string
		want                     bool
	}{
		{"claude", "Bash", "PostToolUse", `"tool_response":{"stdout":"ok","stderr":"","interrupted":false,"isImage":false}`, true},
		{"claude", "Bash", "PostToolUse", `"tool_response":{"stdout":"ok","interrupted":true}`, false},
		{"claude", "Bash", "PostToolUse", `"tool_response":{"stdout":"","backgroundTaskId":"b1"}`, false},
		{"claude", "Bash", "PostToolUse", `"tool_response":{"stdout":"","is_error":true}`, false},
		{"claude", "Bash", "PostToolUseFailure", `"error":"Exit code 1"`, false},
		{"claude", "Bash", "PreToolUse", `"x":0`, false},
		{"claude", "Edit", "PostToolUse", `"tool_response":{}`, false},
		{"qwen", "run_shell_command", "PostToolUse", `"tool_response":{"llmContent":"Output: ok\nError: (none)\nExit Code: 0\nSignal: (none)"}`, true},
		{"qwen", "run_shell_command", "PostToolUse", `"tool_response":{"llmContent":"Output: \nExit Code: 0\nExit Code: 1\nSignal: (none)"}`, false},
		{"qwen", "run_shell_command", "PostToolUse", `"tool_response":{"llmContent":"Output: ok\nExit Code: (none)\nSignal: 9"}`, false},
		{"copilot", "bash", "PostToolUse", `"tool_result":{"result_type":"success","text_result_for_llm":"ok\n<shellId: 0 completed with exit code 0>"}`, true},
		{"copilot", "bash", "PostToolUse", `"tool_result":{"result_type":"success","text_result_for_llm":"with exit code 0>\n<shellId: 0 completed with exit code 1>"}`, false},
		{"copilot", "bash", "PostToolUse", `"tool_result":{"text_result_for_llm":"<command with shellId: 0 is still running, with exit code 0>"}`, false},
		{"codex", "Bash", "PostToolUse", `"tool_response":"ok\n"`, false},
		{"gemini", "run_shell_command", "AfterTool", `"tool_response":{"llmContent":"Output: ok\nProcess Group PGID: 1"}`, false},
		{"droid", "Execute", "PostToolUse", `"tool_response":"\"ok\""`, false},
		{"opencode", "bash", "post-tool", `"exit_code":0`, true},
		{"opencode", "bash", "post-tool", `"exit_code":1`, false},
		{"opencode", "bash", "post-tool", `"x":1`, false},
		{"generic", "bash", "post-tool", `"exit_code":0`, true},
		{"generic", "bash", "post-tool", `"exit_code":"0"`, false},
		{"generic", "bash", "post-tool", `"exit_code":null`, false},
		{"kiro", "execute_bash", "postToolUse", `"tool_response":{"success":true}`, false},
	} {
		payload := fmt.Sprintf(`{"hook_event_name":%q,`+call+`,%s}`, c.event, c.tool, c.rest)
		e := Decode(strings.NewReader(payload), []string{c.agent}, func(string) string { return "" })
		if e.Damaged != nil {
			t.Fatalf("%s: %v", payload, e.Damaged)
		}
		if got := Succeeded(&e.Tool) != nil; got != c.want {
			t.Errorf("%s: %v", payload, got)
		}
	}
	for failed, want := range map[bool]bool{false: true, true: false} {
		q := PiRequest{Extension: 3, Kind: PiToolEnd, Tool: "bash", Command: "go test", Failed: failed}
		if e := q.Event(); e.Tool.Succeeded != want {
			t.Errorf("pi, failed %v: %v", failed, e.Tool.Succeeded)
		}
	}
	if e := (&PiRequest{Extension: 2, Kind: PiToolEnd, Tool: "bash", Command: "go test"}).Event(); e.Tool.Succeeded {
		t.Error("of an extension that does not say that a call failed")
	}
}
