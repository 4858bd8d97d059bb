package register

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The plugin tells rewind what happens, refuses what rewind refuses, and is quiet and
// out of the way when there is no rewind, or one that fails.
func TestOpencodePlugin(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node here to run it")
	}
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	program := func(name, script string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	script := `
import { Rewind } from "./plugin.mjs"
const hooks = await Rewind({ directory: process.cwd() })
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s1" } } } })
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s2", parentID: "s1" } } } })
await hooks.event({ event: { type: "session.updated", properties: {} } })
await hooks.event({ event: { type: "unheard.of" } })
await hooks["chat.message"]({ sessionID: "s1" }, { message: { id: "m1" }, parts: [{ type: "text", text: "typed" }, { type: "text", text: "added", synthetic: true }, { type: "file" }] })
await hooks["chat.message"]({ sessionID: "s2" }, { message: { id: "m2" }, parts: [{ type: "text", text: "for the subagent" }] })
try {
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s2", callID: "c1" }, { args: { command: "rewind undo" } })
  console.log("went on")
} catch (e) {
  console.log("refused: " + e.message)
}
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s1", callID: "c2", args: {} })
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s2" } } })
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } })
`
	for _, c := range []struct{ name, program, want string }{
		{"refusing", program("refuses", "cat >> "+told+"; echo >> "+told+"; echo no, not that >&2; exit 2\n"), "refused: no, not that\n"},
		{"missing", filepath.Join(dir, "nowhere"), "went on\n"},
		{"failing", program("fails", "exit 1\n"), "went on\n"},
		{"loud", program("shouts", "cat > /dev/null; echo loud\n"), "went on\n"},
		{"deaf", program("deaf", "exec <&-; exit 0\n"), "went on\n"},
	} {
		for name, text := range map[string]string{"plugin.mjs": string(opencode.wholeText(Program{Path: c.program, Version: "1"})), "run.mjs": script} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(node, "run.mjs")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
	got, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(got), dir, "DIR")
	want := strings.Join([]string{
		`{"cwd":"DIR","event":"session-start","session_id":"s1","source":"startup"}`,
		`{"cwd":"DIR","event":"prompt","session_id":"s1","prompt_id":"m1","prompt":"typed"}`,
		`{"cwd":"DIR","event":"pre-tool","session_id":"s2","agent_id":"s2","tool_name":"bash","tool_use_id":"c1","tool_input":{"command":"rewind undo"}}`,
		`{"cwd":"DIR","event":"post-tool","session_id":"s1","tool_name":"bash","tool_use_id":"c2","tool_input":{}}`,
		`{"cwd":"DIR","event":"stop","session_id":"s1"}`,
	}, "\n") + "\n"
	if text != want {
		t.Errorf("told\n%swant\n%s", text, want)
	}
}
