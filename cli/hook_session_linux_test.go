package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// say appends a line to the session's transcript.
func (l *hookLab) say(parent, id, role, text, more string) {
	l.t.Helper()
	if err := os.MkdirAll(filepath.Dir(l.transcript()), 0o700); err != nil {
		l.t.Fatal(err)
	}
	f, err := os.OpenFile(l.transcript(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	before := "null"
	if parent != "" {
		before = `"` + parent + `"`
	}
	fmt.Fprintf(f, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"content":%q},"uuid":%q,"timestamp":"2026-11-20T20:29:18.362Z","sessionId":%q,"version":"2.1.329"%s}`+"\n",
		before, role, role, text, id, l.session, more)
}

type shownCheckpoint struct {
	listedCheckpoint
	SessionID  string `json:"session_id"`
	Agent      string
	GitBranch  string `json:"git_branch"`
	Transcript *struct {
		Offset  int64
		EventID string `json:"event_id"`
	}
}

func (l *hookLab) show(ckpt string) shownCheckpoint {
	l.t.Helper()
	var v shownCheckpoint
	if err := json.Unmarshal([]byte(l.rewind("show", ckpt, "--json")), &v); err != nil {
		l.t.Fatal(err)
	}
	return v
}

// A fresh session of Claude Code, from the warning to the end: in the order in
// which the client fires, with a transcript that is missing at first and lags.
func TestHookClaudeSession(t *testing.T) {
	l := newHookLab(t)
	l.write("a.txt", "one")
	envFile := filepath.Join(l.home, "env.sh")
	l.env = append(l.env, "CLAUDE_ENV_FILE="+envFile, "CLAUDE_PID=77")
	silent := func(what string, a answer) {
		t.Helper()
		if !a.silent() {
			t.Errorf("%s: %+v", what, a)
		}
	}
	warning := `{"systemMessage":"[rewind] Warning: No .agent/rewind/ found. Run 'rewind init' first."}` + "\n"
	if got := l.fire("SessionStart", "source", "startup"); got != (answer{stdout: warning}) {
		t.Errorf("not initialised: %+v", got)
	}
	silent("told before", l.fire("UserPromptSubmit", "prompt", "hi"))
	l.rewind("init")
	silent("start", l.fire("SessionStart", "source", "startup"))
	silent("start again", l.fire("SessionStart", "source", "compact"))
	exports, err := os.ReadFile(envFile)
	want := fmt.Sprintf("export REWIND_PROJECT_ROOT='%s'\nexport REWIND_SESSION_ID='%s'\nexport REWIND_TRANSCRIPT_PATH='%s'\nexport REWIND_AGENT='claude'\n", l.root, l.session, l.transcript())
	if got := strings.ReplaceAll(string(exports), "'", ""); err != nil || !strings.HasPrefix(got, strings.ReplaceAll(want, "'", "")) || strings.Count(got, "REWIND_AGENT") != 1 {
		t.Errorf("exports %q, %v", exports, err)
	}
	silent("prompt", l.fire("UserPromptSubmit", "prompt", "make a b\nand more", "prompt_id", "p1"))
	l.say("", "u1", "user", "make a b", `,"promptId":"p1"`)
	silent("the same again", l.fire("UserPromptSubmit", "prompt", "make a b\nand more", "prompt_id", "p1"))
	l.write("b.txt", "made by nobody's hook")
	l.say("u1", "u2", "assistant", "I will", "")
	silent("before a tool", l.fire("PreToolUse", "tool_name", "Bash", "tool_use_id", "t1", "tool_input", shellInput("rm a.txt"), "prompt_id", "p1"))
	silent("the same again", l.fire("PreToolUse", "tool_name", "Bash", "tool_use_id", "t1", "tool_input", shellInput("rm a.txt"), "prompt_id", "p1"))
	if err := os.Remove(filepath.Join(l.root, "a.txt")); err != nil {
		t.Fatal(err)
	}
	silent("a retry after the change", l.fire("PreToolUse", "tool_name", "Bash", "tool_use_id", "t1", "tool_input", shellInput("rm a.txt"), "prompt_id", "p1"))
	silent("after a tool", l.fire("PostToolUse", "tool_name", "Bash", "tool_use_id", "t1", "tool_input", shellInput("rm a.txt")))
	silent("a helper's stop", l.fire("SubagentStop", "agent_id", "x", "agent_type", ""))
	silent("stop", l.fire("Stop"))
	silent("stop without a change", l.fire("Stop"))
	silent("a question", l.fire("UserPromptSubmit", "prompt", "what?", "prompt_id", "p2"))
	silent("typed meanwhile", l.fire("UserPromptSubmit", "prompt", "and that?", "prompt_id", "p2"))
	silent("end", l.fire("SessionEnd", "reason", "other"))
	if got := l.kinds(); got != "prompt prompt stop pre-tool prompt session-start manual" {
		t.Fatalf("%s", got)
	}
	first := l.show("5")
	if first.Prompt != "make a b\nand more" || first.PromptID != "p1" || first.SessionID != l.session || first.Agent != "claude" ||
		first.Transcript == nil || first.Transcript.Offset != 0 {
		t.Errorf("%+v", first)
	}
	toolUse := l.show("4")
	info, err := os.Stat(l.transcript())
	if err != nil {
		t.Fatal(err)
	}
	if toolUse.Tool != "Bash" || toolUse.Added != 1 || toolUse.Transcript == nil || toolUse.Transcript.Offset != info.Size() || toolUse.Transcript.EventID != "u2" {
		t.Errorf("%+v", toolUse)
	}
	if out := l.rewind("list"); !strings.Contains(out, "make a b") || strings.Contains(out, "and more") {
		t.Errorf("list shows more than the first line of a prompt, or less:\n%s", out)
	}
	if out := l.rewind("show", "5"); !strings.Contains(out, "and more") {
		t.Errorf("show does not show the whole prompt:\n%s", out)
	}
	var current struct {
		Session string `json:"session_id"`
		Root    string
	}
	data, err := os.ReadFile(filepath.Join(l.root, ".agent/rewind/session.json"))
	if err != nil || json.Unmarshal(data, &current) != nil || current.Session != l.session || current.Root != l.root {
		t.Errorf("session.json: %s, %v", data, err)
	}
	// Commands inside the session cost no turn.
	got := l.fire("UserPromptSubmit", "prompt", "/rewind:list")
	var reply struct{ Decision, Reason string }
	if got.code != 0 || json.Unmarshal([]byte(got.stdout), &reply) != nil || reply.Decision != "block" || !strings.Contains(reply.Reason, "make a b") {
		t.Errorf("%+v", got)
	}
	if got := l.fire("UserPromptSubmit", "prompt", "say /rewind:list", "prompt_id", "p3"); !got.silent() {
		t.Errorf("a prompt that only mentions a command: %+v", got)
	}
	for _, mode := range []string{".agent/rewind", ".agent/rewind/objects", ".agent/rewind/tmp"} {
		if info, err := os.Stat(filepath.Join(l.root, mode)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", mode, info.Mode(), err)
		}
	}
	for _, pattern := range []string{"hook-state.json", "session.json"} {
		if info, err := os.Stat(filepath.Join(l.root, ".agent/rewind", pattern)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", pattern, info.Mode(), err)
		}
	}
}

// The guard is the one thing that blocks, and only before a tool call.
func TestHookGuard(t *testing.T) {
	l := newHookLab(t)
	l.write("a.txt", "one")
	l.rewind("init")
	blocked := func(command string) bool {
		t.Helper()
		got := l.fire("PreToolUse", "tool_name", "Bash", "tool_use_id", command, "tool_input", shellInput(command))
		if got.code != 0 && (got.code != 2 || got.stdout != "" || !strings.HasPrefix(got.stderr, "rewind: ")) {
			t.Errorf("%s: %+v", command, got)
		}
		return got.code == 2
	}
	for command, want := range map[string]bool{
		"rewind restore 1": true, "rm -rf .agent/rewind": true, "echo x > .agent/rewind/head": true, "rm -rf ~/.rewind": true,
		"rewind list": false, "rewind save now": false, "cat .agent/rewind/config.json": false, "rm a.txt": false,
		"rm -rf .agent": false, // the mirror survives it
	} {
		if got := blocked(command); got != want {
			t.Errorf("%s is blocked: %v, want %v", command, got, want)
		}
	}
	if err := os.RemoveAll(filepath.Join(l.home, ".rewind/vault")); err != nil {
		t.Fatal(err)
	}
	if !blocked("rm -rf .agent/") {
		t.Error("rm -rf .agent is not blocked where there is no mirror")
	}
	if got := l.fire("PostToolUse", "tool_name", "Bash", "tool_input", shellInput("rewind restore 1")); !got.silent() {
		t.Errorf("after the call: %+v", got)
	}
	l.rewind("config", "guard", "false")
	if blocked("rewind restore 1 ") {
		t.Error("blocked although the guard is off")
	}
}

// Tiers decide at run time, by setting and by variable; what must not be held
// back is not.
func TestHookTiers(t *testing.T) {
	l := newHookLab(t)
	l.write("a.txt", "one")
	l.rewind("init")
	l.rewind("config", "antiSpam.minIntervalSeconds", "3600") // too soon is too soon on a slow machine, too
	n := 0
	taken := func(event string, fields ...any) bool {
		t.Helper()
		before := len(l.list())
		n++
		l.write("n.txt", fmt.Sprint(n))
		if got := l.fire(event, append(fields, "tool_use_id", fmt.Sprint(n), "prompt_id", fmt.Sprint(n))...); !got.silent() {
			t.Errorf("%s: %+v", event, got)
		}
		return len(l.list()) > before
	}
	edit := func(name, text string) []any {
		return []any{"tool_name", "Edit", "tool_input", map[string]any{"file_path": filepath.Join(l.root, name), "old_string": "x", "new_string": text}}
	}
	shell := func(command string) []any { return []any{"tool_name", "Bash", "tool_input", shellInput(command)} }
	long := strings.Repeat("y", 60)
	for _, c := range []struct {
		tier, event string
		fields      []any
		want        bool
	}{
		{"balanced", "PreToolUse", edit("a.txt", "tiny"), false},       // too small
		{"balanced", "PreToolUse", edit("package.json", "tiny"), true}, // critical
		{"balanced", "PreToolUse", edit("a.txt", long), false},         // too soon
		{"balanced", "PreToolUse", shell("make"), false},               // too soon
		{"balanced", "PreToolUse", shell("git checkout ."), true},      // destructive
		{"balanced", "PostToolUse", shell("make"), false},              // not at this tier
		{"balanced", "UserPromptSubmit", []any{"prompt", "x"}, true},
		{"balanced", "Stop", nil, true},
		{"balanced", "SubagentStop", []any{"agent_type", "explore", "agent_id", "s"}, false},
		{"balanced", "SessionEnd", nil, false},
		{"minimal", "UserPromptSubmit", []any{"prompt", "x"}, false},
		{"minimal", "Stop", nil, false},
		{"minimal", "SessionStart", []any{"source", "resume"}, true},
		{"aggressive", "PostToolUse", shell("make"), true}, // always: else nobody could tell what it changed
		{"aggressive", "SubagentStop", []any{"agent_type", "explore", "agent_id", "s"}, true},
		{"aggressive", "SessionEnd", []any{"reason", "other"}, true},
	} {
		l.rewind("config", "--tier", c.tier)
		if got := taken(c.event, c.fields...); got != c.want {
			t.Errorf("%s %s %v: taken %v, want %v", c.tier, c.event, c.fields, got, c.want)
		}
	}
	l.rewind("config", "--tier", "balanced")
	l.env = append(l.env, "REWIND_TIER=minimal")
	if taken("Stop") {
		t.Error("the variable does not beat the setting")
	}
	l.env = l.env[:len(l.env)-1]
	// The first change after a restore is never held back.
	l.rewind("restore", "2", "--code-only", "--yes")
	if !taken("PreToolUse", edit("a.txt", "tiny")...) {
		t.Error("held back after a restore")
	}
}

// A session's project is fixed at its first hook; where nothing is initialised
// auto-init makes a store at a session's start, and not in a refused root.
func TestHookRoots(t *testing.T) {
	l := newHookLab(t)
	l.env = l.env[:2] // no CLAUDE_PROJECT_DIR
	l.write("a.txt", "one")
	l.write("nested/.git/HEAD", "ref: refs/heads/main\n")
	l.write("nested/b.txt", "two")
	l.rewind("init")
	if got := l.fire("UserPromptSubmit", "prompt", "x", "prompt_id", "1"); !got.silent() {
		t.Errorf("%+v", got)
	}
	if got := l.fire("UserPromptSubmit", "prompt", "y", "prompt_id", "2", "cwd", filepath.Join(l.root, "nested")); !got.silent() {
		t.Errorf("%+v", got)
	}
	if got := l.kinds(); got != "prompt prompt manual" {
		t.Errorf("%s", got)
	}
	other := *l
	other.root, other.session = filepath.Join(l.home, "other"), "22222222-2222-4333-8444-555555555555"
	other.write("x.txt", "x")
	other.write(".git/HEAD", "ref: refs/heads/main\n")
	l.rewind("config", "--global", "warnUninitialised", "session")
	if got := other.fire("Stop"); !strings.Contains(got.stdout, "Run 'rewind init' first.") {
		t.Errorf("at the first event that fires: %+v", got)
	}
	l.rewind("config", "--global", "autoInit", "true")
	other.session = "33333333-2222-4333-8444-555555555555"
	if got := other.fire("UserPromptSubmit", "prompt", "x"); !strings.Contains(got.stdout, "Run 'rewind init' first.") {
		t.Errorf("auto-init is for a session's start: %+v", got)
	}
	if got := other.fire("SessionStart", "source", "startup"); !got.silent() {
		t.Errorf("%+v", got)
	}
	if got := other.kinds(); got != "session-start" {
		t.Errorf("%s", got)
	}
	other.settle()
	home := *l
	home.root, home.session = l.home, "44444444-2222-4333-8444-555555555555"
	if got := home.fire("SessionStart", "source", "startup"); got.code != 0 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(l.home, ".agent")); !os.IsNotExist(err) {
		t.Errorf("a store was made in the home directory: %v", err)
	}
}

// Clear begins a session that came from the one before; Droid says so itself.
func TestHookLineage(t *testing.T) {
	l := newHookLab(t)
	l.write("a.txt", "one")
	l.env = append(l.env, "CLAUDE_PID=4711")
	l.rewind("init")
	l.fire("SessionStart", "source", "startup")
	l.fire("SessionEnd", "reason", "clear")
	old := l.session
	l.session = "22222222-2222-4333-8444-555555555555"
	l.fire("SessionStart", "source", "clear")
	l.fire("UserPromptSubmit", "prompt", "x", "prompt_id", "1")
	out := l.rewind("sessions", "--json")
	var v struct {
		Sessions []struct {
			ID     string `json:"session_id"`
			Parent string
		}
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	parent := "not there"
	for _, s := range v.Sessions {
		if s.ID == l.session {
			parent = s.Parent
		}
	}
	if parent != old {
		t.Errorf("the new session came from %q, want %q:\n%s", parent, old, out)
	}
}

// Droid tells its model the names of all variables that its env file exports.
func TestHookDroidExportsNothing(t *testing.T) {
	l := newHookLab(t)
	l.rewind("init")
	l.env = append(l.env, "FACTORY_PROJECT_DIR="+l.root)
	file := filepath.Join(l.home, "env.sh")
	transcript := filepath.Join(l.home, ".factory/sessions/-proj", l.session+".jsonl")
	start := l.payload("SessionStart", "source", "startup", "transcript_path", transcript, "CLAUDE_ENV_FILE", file)
	if got := l.run(l.command("hook", "droid"), strings.NewReader(start)); !got.silent() {
		t.Errorf("%+v", got)
	}
	if exports, err := os.ReadFile(file); !os.IsNotExist(err) {
		t.Errorf("%q, %v", exports, err)
	}
	if v := l.rewind("sessions", "--json"); !strings.Contains(v, `"agent":"droid"`) {
		t.Errorf("the session is not known: %s", v)
	}
}

// In every tier the end of a session keeps what was said since the last
// checkpoint, once.
func TestHookSessionEndKeepsTheLastAnswer(t *testing.T) {
	l := newHookLab(t)
	l.rewind("init")
	l.fire("SessionStart", "source", "startup")
	l.fire("UserPromptSubmit", "prompt", "what is it?", "prompt_id", "p1")
	l.say("", "u1", "user", "what is it?", `,"promptId":"p1"`)
	l.say("u1", "u2", "assistant", "a tree", "")
	l.fire("Stop")
	if got := l.kinds(); got != "stop prompt session-start manual" {
		t.Errorf("before the end: %s", got)
	}
	l.say("u2", "u3", "assistant", "an oak", "")
	for range 2 {
		if got := l.fire("SessionEnd", "reason", "other"); !got.silent() {
			t.Errorf("%+v", got)
		}
	}
	if got := l.kinds(); got != "session-end stop prompt session-start manual" {
		t.Errorf("after the end: %s", got)
	}
	if out := l.rewind("cat", "last", "--transcript"); !strings.Contains(out, "an oak") {
		t.Errorf("%s", out)
	}
}

// A client may write its answer to the transcript a moment after it reports the turn's end: the checkpoint of the end has it.
func TestHookStopWaitsForTheAnswer(t *testing.T) {
	for name, before := range map[string]string{
		"prompt": `"what is it?"`,
		"call":   `[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]`,
		"result": `[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]`,
	} {
		l := newHookLab(t)
		l.rewind("init")
		l.fire("SessionStart", "source", "startup")
		l.fire("UserPromptSubmit", "prompt", "what is it?", "prompt_id", "p1")
		l.say("", "u1", "user", "what is it?", `,"promptId":"p1"`)
		role := map[bool]string{true: "assistant", false: "user"}[name == "call"]
		lag := fmt.Sprintf(`{"parentUuid":"u1","isSidechain":false,"type":%q,"message":{"role":%q,"content":%s},"uuid":"u2","timestamp":"2026-11-20T20:29:18.362Z","sessionId":%q}`+"\n", role, role, before, l.session)
		f, err := os.OpenFile(l.transcript(), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(lag)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		written := make(chan struct{})
		go func() {
			defer close(written)
			time.Sleep(100 * time.Millisecond)
			l.say("u2", "u3", "assistant", "a tree", "")
		}()
		l.fire("Stop")
		<-written
		if got := l.kinds(); got != "stop prompt session-start manual" {
			t.Errorf("%s: %s", name, got)
		}
		if out := l.rewind("cat", "last", "--transcript"); !strings.Contains(out, "a tree") {
			t.Errorf("%s: %s", name, out)
		}
	}
}
