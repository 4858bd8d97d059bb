package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// turn lets an agent's session do a turn: a prompt, a write of a file if there is one, an answer.
func (x *tmuxScreen) turn(n int, prompt, file, content, answer string) {
	x.t.Helper()
	const session = "5ba1c0de-0000-4000-8000-000000000001"
	transcript := filepath.Join(x.dir, "..", "home", ".claude", "projects", "p", session+".jsonl")
	if err := os.MkdirAll(filepath.Dir(transcript), 0o755); err != nil {
		x.t.Fatal(err)
	}
	hook := func(event string, more map[string]any) {
		e := map[string]any{"hook_event_name": event, "session_id": session, "transcript_path": transcript, "cwd": x.dir, "prompt_id": fmt.Sprint("prompt-", n), "source": "startup"}
		for k, v := range more {
			e[k] = v
		}
		data, err := json.Marshal(e)
		if err != nil {
			x.t.Fatal(err)
		}
		cmd := exec.Command("rewind", "hook", "claude")
		cmd.Dir, cmd.Env, cmd.Stdin = x.dir, x.env, strings.NewReader(string(data))
		if out, err := cmd.CombinedOutput(); err != nil {
			x.t.Fatalf("%s: %v: %s", event, err, out)
		}
	}
	last := ""
	if n > 1 {
		last = fmt.Sprintf("e%d-answer", n-1)
	}
	say := func(id, role string, content any) {
		e := map[string]any{"parentUuid": nil, "type": role, "uuid": id, "sessionId": session, "promptId": fmt.Sprint("prompt-", n), "cwd": x.dir,
			"timestamp": time.Now().UTC().Format(time.RFC3339Nano), "message": map[string]any{"role": role, "id": "m-" + id, "content": content}}
		if last != "" {
			e["parentUuid"] = last
		}
		line, err := json.Marshal(e)
		if err != nil {
			x.t.Fatal(err)
		}
		f, err := os.OpenFile(transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			x.t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write(append(line, '\n')); err != nil {
			x.t.Fatal(err)
		}
		last = id
	}
	if n == 1 {
		hook("SessionStart", nil)
	}
	hook("UserPromptSubmit", map[string]any{"prompt": prompt})
	say(fmt.Sprintf("e%d-prompt", n), "user", prompt)
	if file != "" {
		call := map[string]any{"tool_name": "Write", "tool_use_id": fmt.Sprint("toolu_", n), "tool_input": map[string]any{"file_path": filepath.Join(x.dir, file), "content": content}}
		say(fmt.Sprintf("e%d-call", n), "assistant", []any{map[string]any{"type": "tool_use", "id": call["tool_use_id"], "name": "Write", "input": call["tool_input"]}})
		hook("PreToolUse", call)
		x.write(file, content)
		hook("PostToolUse", call)
		say(fmt.Sprintf("e%d-result", n), "user", []any{map[string]any{"type": "tool_result", "tool_use_id": call["tool_use_id"], "content": "written"}})
	}
	say(fmt.Sprintf("e%d-answer", n), "assistant", []any{map[string]any{"type": "text", "text": answer}})
	hook("Stop", nil)
}

// In the picker, a turn is taken back and what came later stays; a line that is gone is found in all checkpoints, and leads
// to the rows in which it came and went; the conversation beside a row is that of its own turn.
func TestTmuxTurns(t *testing.T) {
	x := newTmux(t, "180", "24")
	x.write("calc.go", "func Add(a, b int) int { return a + b }\n")
	x.run("init")
	x.turn(1, "make Add faster", "calc.go", "func Add(a, b int) int { return a - b }\n", "Add is fast now.")
	x.turn(2, "only think", "", "", "I thought about it.")
	x.turn(3, "write a README", "README.md", "# calc\n", "README.md is there.")
	x.keys("rewind", "Enter")
	x.shows(`@ .*now`, `conversation ─`)
	x.keys("/", "faster", "Enter")
	x.shows(`> .*make Add faster`, `what it did`, `(?m)│> make Add faster *$`, `│Add is fast now\.`)
	x.keys("Escape", "/", "think", "Enter")
	x.shows(`> .*only think`, `│> only think *`, `I thought about it\.`)

	x.keys("Escape", "/")
	x.keys("-l", "return a + b")
	x.shows(`tab searches in the files`)
	x.keys("Tab")
	x.shows(`1 line with return a \+ b`, `> calc\.go:1 .*return a \+ b`, `enter came with .*first checkpoint.* w went with .*make Add faster`)
	x.keys("w")
	x.shows(`> .*make Add faster`, `\+func Add\(a, b int\) int \{ return a - b \}`)

	x.keys("v")
	x.shows(`Revert 1 turn of claude 5ba1c0de: "make Add faster"`, `replace +calc\.go`, `y/n revert`, `u takes it back`)
	x.keys("y")
	x.shows(`Reverted: .*u takes it back`)
	x.has("calc.go", "func Add(a, b int) int { return a + b }\n")
	x.has("README.md", "# calc\n")
	x.keys("u")
	x.shows(`Undo the revert`)
	x.keys("y")
	x.shows(`(?m)^Undone: `)
	x.has("calc.go", "func Add(a, b int) int { return a - b }\n")
	x.keys("/", "think", "Enter", "v")
	x.shows(`Nothing to revert: this turn changed no file`, `nothing to do, nothing was changed`)
	x.keys("Escape", "q")
	x.shows(`Reverted 1 turn of claude`, `(?m)^\$$`)
}
