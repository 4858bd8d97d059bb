package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Scenes with several agents say in a line what one of them does, or the person:
//
//	fresh NAME              an empty project beside the others, and we are in it
//	env TALK=none           from here on nothing that they say is in their transcripts
//	env TALK=late           the same, and hooks name the transcripts as before: the client has not written it yet
//	agent A start           the session A begins; also stop, end
//	agent A prompt p1 TEXT
//	agent A queue p1 TEXT   the same, typed while it works: its transcript has that later
//	agent A ask p1 TEXT     a prompt whose hook was killed: only the transcript has it
//	env IDS=none            prompts have no ids from here on
//	env CLOCK=45s           by so much the agents' clock differs, by which they write their transcripts
//	agent A substop ID      its subagent ID comes to its end; A:ID is that subagent in all of these
//	agent A pre TOOL CALL FILE|COMMAND    and post: a hook alone; post Edit CALL FILE OLD NEW also says what it did
//	edit A CALL FILE LINE…  a call of the tool Edit, hooks and all, makes FILE these lines
//	shell A CALL COMMAND FILE LINE…       the same with a command; FILE may be - for nothing
//	put FILE LINE…          whoever is at it makes FILE these lines; - alone: removes it
//	lines FILE LINE…        FILE has exactly these lines; - alone: it is not there
var agentCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"fresh": cmdFresh,
	"agent": cmdAgent,
	"edit":  cmdEdit,
	"shell": cmdShell,
	"put":   cmdPut,
	"lines": cmdLines,
}

// withAgents adds them to the commands of other scenes.
func withAgents(all map[string]func(ts *testscript.TestScript, neg bool, args []string)) map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	maps.Copy(all, agentCommands)
	return all
}

func cmdFresh(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fresh NAME")
	}
	dir := filepath.Join(ts.Getenv("WORK"), "projects", args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(ts.Chdir(dir))
}

// sessionOf is the id of a session that a scene calls by a letter; each project has its own.
func sessionOf(ts *testscript.TestScript, name string) string {
	sum := 0
	for _, b := range []byte(filepath.Base(ts.MkAbs("."))) {
		sum = sum*31 + int(b)
	}
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", int(name[0]), sum&0xffffffffffff)
}

func cmdAgent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: agent NAME start|prompt|pre|post|substop|stop|end …")
	}
	events := map[string]string{
		"start": "SessionStart", "prompt": "UserPromptSubmit", "queue": "UserPromptSubmit", "ask": "UserPromptSubmit", "pre": "PreToolUse", "post": "PostToolUse", "substop": "SubagentStop", "stop": "Stop", "end": "SessionEnd",
	}
	name, sub, _ := strings.Cut(args[0], ":")
	args = slices.Concat(args[1:], []string{"", "", "", "", ""})
	session := sessionOf(ts, name)
	ts.Setenv(name, session)
	payload := map[string]any{"hook_event_name": events[args[0]], "session_id": session, "cwd": ts.MkAbs(".")}
	if id := ts.Getenv("PROMPT_" + name); id != "" {
		payload["prompt_id"] = id
	}
	if args[0] == "substop" {
		sub = args[1]
	}
	if sub != "" {
		payload["agent_id"], payload["agent_type"] = sub, "general-purpose"
	}
	switch args[0] {
	case "start":
		payload["source"] = "startup"
	case "prompt", "queue", "ask":
		payload["prompt_id"], payload["prompt"] = args[1], args[2]
		ts.Setenv("PROMPT_"+name, args[1])
	case "pre", "post":
		payload["tool_name"], payload["tool_use_id"] = args[1], args[2]
		switch args[1] {
		case "Edit":
			input := map[string]any{"file_path": ts.MkAbs(args[3])}
			if args[0] == "pre" {
				input["old_string"], input["new_string"] = "old", strings.Repeat("new text ", 9)
			} else if args[4] != "" {
				input["old_string"], input["new_string"] = args[4], args[5]
			}
			payload["tool_input"] = input
		default:
			command, background := strings.CutSuffix(args[3], " &")
			payload["tool_input"] = map[string]any{"command": command, "run_in_background": background}
		}
		if args[0] == "post" {
			payload["tool_response"] = map[string]any{"success": ts.Getenv("FAILED") == ""}
		}
	}
	if ts.Getenv("IDS") == "none" { // as Claude Code before 2.1.196
		delete(payload, "prompt_id")
	}
	if ts.Getenv("TALK") != "none" {
		said := maps.Clone(payload)
		if args[0] == "queue" || ts.Getenv("TALK") == "late" {
			said["hook_event_name"] = ""
		}
		payload["transcript_path"] = say(ts, session, said)
	}
	if args[0] == "ask" {
		return
	}
	data, err := json.Marshal(payload)
	ts.Check(err)
	file := filepath.Join(ts.Getenv("WORK"), "payload.json")
	ts.Check(os.WriteFile(file, data, 0o600))
	hookOf(ts, "claude", file)
}

// say writes what an event says into the session's transcript, where its agent would, and gives the file.
func say(ts *testscript.TestScript, session string, event map[string]any) (file string) {
	file = filepath.Join(ts.Getenv("HOME"), ".claude", "projects", "p", session+".jsonl")
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	ts.Check(err)
	defer f.Close()
	old, err := os.ReadFile(file)
	ts.Check(err)
	n := bytes.Count(old, []byte("\n"))
	now := time.Now().UTC()
	if clock := ts.Getenv("CLOCK"); clock != "" {
		differs, err := time.ParseDuration(clock)
		ts.Check(err)
		now = now.Add(differs)
	}
	line := func(role string, content any) {
		var parent any
		if n > 0 {
			parent = fmt.Sprintf("%s-%d", session, n)
		}
		n++
		row := map[string]any{"parentUuid": parent, "isSidechain": false, "type": role, "uuid": fmt.Sprintf("%s-%d", session, n), "sessionId": session,
			"version": "2.1.329", "promptId": event["prompt_id"], "cwd": event["cwd"], "timestamp": now.Format(time.RFC3339Nano), "message": map[string]any{"role": role, "content": content}}
		if event["prompt_id"] == nil {
			delete(row, "promptId")
		}
		ts.Check(json.NewEncoder(f).Encode(row))
	}
	switch event["hook_event_name"] {
	case "UserPromptSubmit":
		line("user", event["prompt"])
	case "PreToolUse":
		line("assistant", []any{map[string]any{"type": "tool_use", "id": event["tool_use_id"], "name": event["tool_name"], "input": event["tool_input"]}})
	case "PostToolUse":
		line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": event["tool_use_id"], "content": "done"}})
	case "Stop":
		line("assistant", []any{map[string]any{"type": "text", "text": "Done."}})
	}
	return file
}

func cmdEdit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: edit NAME CALL FILE LINE…")
	}
	cmdAgent(ts, false, []string{args[0], "pre", "Edit", args[1], args[2]})
	cmdPut(ts, false, args[2:])
	cmdAgent(ts, false, []string{args[0], "post", "Edit", args[1], args[2]})
	edited := filepath.Join(ts.Getenv("WORK"), "edited")
	ts.Check(os.MkdirAll(edited, 0o755))
	ts.Check(os.WriteFile(filepath.Join(edited, filepath.Base(args[2])), nil, 0o644))
}

func cmdShell(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: shell NAME CALL COMMAND FILE LINE…")
	}
	cmdAgent(ts, false, []string{args[0], "pre", "Bash", args[1], args[2]})
	if args[3] != "-" {
		cmdPut(ts, false, args[3:])
	}
	cmdAgent(ts, false, []string{args[0], "post", "Bash", args[1], args[2]})
}

// cmdPut waits where an edit of the same file has just been: for a second it would be part of it, as
// a formatter is.
func cmdPut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: put FILE LINE…")
	}
	if info, err := os.Stat(filepath.Join(ts.Getenv("WORK"), "edited", filepath.Base(args[0]))); err == nil {
		time.Sleep(time.Until(info.ModTime().Add(1100 * time.Millisecond)))
	}
	time.Sleep(15 * time.Millisecond) // a tick of the file system's clock
	file := ts.MkAbs(args[0])
	if len(args) == 2 && args[1] == "-" {
		ts.Check(os.Remove(file))
		return
	}
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
	ts.Check(os.WriteFile(file, []byte(linesOf(args[1:])), 0o644))
	time.Sleep(15 * time.Millisecond)
}

func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: lines FILE LINE…")
	}
	got, err := os.ReadFile(ts.MkAbs(args[0]))
	if len(args) == 2 && args[1] == "-" {
		if !os.IsNotExist(err) {
			ts.Fatalf("%s is there: %q, %v", args[0], got, err)
		}
		return
	}
	ts.Check(err)
	if want := linesOf(args[1:]); string(got) != want {
		ts.Fatalf("%s is\n%s\nand not\n%s", args[0], got, want)
	}
}

func linesOf(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
