package register

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The extension's version is that of the program, and its line for the program is there to be replaced.
func TestPiExtensionVersion(t *testing.T) {
	m := regexp.MustCompile(`(?m)^const VERSION = (\d+);$`).FindStringSubmatch(piText)
	if len(m) != 2 || m[1] != "3" || PiVersion != 3 {
		t.Errorf("the extension says %q, the program %d", m, PiVersion)
	}
	if n := strings.Count(piText, extensionProgram+";"); n != 1 {
		t.Errorf("%d lines that name the program", n)
	}
	text := string(pi.wholeText(Program{Path: "/home/o'brien/\"bin\"/rewind"}))
	if !strings.Contains(text, `const PROGRAM = "/home/o'brien/\"bin\"/rewind";`) {
		t.Error("a path with quotes is not quoted")
	}
}

// The extension that pi users had before is found where pi would load it.
func TestOlderPi(t *testing.T) {
	const store = `const STORE_REF = "refs/pi-rewind/store";`
	for name, tt := range map[string]struct {
		file, text string
		want       bool
	}{
		"nothing":             {"agent/settings.json", `{"packages":["npm:pi-subagents"]}`, false},
		"a package":           {"agent/settings.json", `{"packages":["npm:pi-rewind-hook"]}`, true},
		"a package's version": {"agent/settings.json", `{"packages":["npm:pi-rewind-hook@1.8.5"]}`, true},
		"with filters":        {"agent/settings.json", `{"packages":[{"source":"git:github.com/nicobailon/pi-rewind-hook","extensions":[]}]}`, true},
		"a path":              {"agent/settings.json", `{"extensions":["/src/pi-rewind-hook/index.ts"]}`, true},
		"no JSON":             {"agent/settings.json", `{"packages":["npm:pi-rewind-hook"`, false},
		"a directory":         {"agent/extensions/rewind/index.ts", store, true},
		"its oldest form":     {"agent/extensions/rewind.js", `"refs/pi-checkpoints/"`, true},
		"ours":                {"agent/extensions/rewind.ts", `// rewind {"program":"/bin/rewind","version":"1"}` + "\n" + store, false},
		"somebody else's":     {"agent/extensions/other.ts", `export default () => {}`, false},
		"the project's":       {"project/.pi/extensions/rewind/index.ts", store, true},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			file := filepath.Join(base, filepath.FromSlash(tt.file))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			w := Where{Home: base, Root: filepath.Join(base, "project"), Getenv: func(name string) string {
				if name == "PI_CODING_AGENT_DIR" {
					return filepath.Join(base, "agent")
				}
				return ""
			}}
			if got := OlderPi(w); (got != "") != tt.want {
				t.Errorf("found %q", got)
			}
			findings := pi.Check(w, []FoundEntry{{}})
			if (len(findings) == 1) != tt.want {
				t.Errorf("validate finds %+v", findings)
			}
		})
	}
}

// Our package is found where pi has it, whether by name or by its directory.
func TestPiPackaged(t *testing.T) {
	base := t.TempDir()
	ours := filepath.Join(base, "src", "pi")
	for file, text := range map[string]string{
		filepath.Join(ours, "package.json"):                 `{"name":"pi-rewind-checkpoints"}`,
		filepath.Join(base, "src", "other", "package.json"): `{"name":"other"}`,
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for packages, want := range map[string]bool{
		`"npm:pi-rewind-checkpoints"`:                                         true,
		`"npm:other", "npm:pi-rewind-checkpoints@1.0.0"`:                      true,
		`7, {"source":"npm:pi-rewind-checkpoints"}`:                           true,
		`{"source":"npm:pi-rewind-checkpoints","extensions":["./rewind.ts"]}`: true,
		`"git:github.com/somebody/pi-rewind-checkpoints@v1"`:                  true,
		`"https://host/somebody/pi-rewind-checkpoints.git"`:                   true,
		`"` + filepath.ToSlash(ours) + `"`:                                    true,
		`"../src/pi"`:                                                         true,
		`"~/src/pi"`:                                                          true,
		`"../src/other"`:                                                      false,
		`"../src/gone"`:                                                       false,
		`"npm:pi-rewind-checkpoints-more"`:                                    false,
		`"npm:pi-rewind-hook"`:                                                false,
		`{"source":"npm:pi-rewind-checkpoints","extensions":[]}`:              false,
		`"git:github.com/somebody/pi-rewind-checkpoints-more"`:                false,
	} {
		for _, dir := range []string{"agent", ".pi"} {
			file := filepath.Join(base, dir, "settings.json")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(`{"packages":[`+packages+`]}`), 0o600); err != nil {
				t.Fatal(err)
			}
			w := Where{Home: base, Root: base, Getenv: func(string) string { return filepath.Join(base, "agent") }}
			if got := pi.Packaged(w); (got != "") != want {
				t.Errorf("%s in %s: found %q", packages, dir, got)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// nodeFor finds a node that runs TypeScript; REWIND_NODE names one.
func nodeFor(t *testing.T) string {
	for _, name := range []string{os.Getenv("REWIND_NODE"), "node"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if exec.Command(path, "--experimental-strip-types", "-e", "").Run() == nil {
			return path
		}
	}
	t.Skip("no node of version 22.6 or later: REWIND_NODE names one")
	return ""
}

// driver plays pi to the extension: it loads it as often as its first argument says, fires all events,
// and prints what came of each and what the person was told.
const driver = `
import { pathToFileURL } from "node:url";
const { default: load } = await import(pathToFileURL(process.argv[2]).href);
const copies = Number(process.argv[3]);
const handlers = {}, commands = {}, out = { results: {}, told: [], asked: [], status: [] };
for (let i = 0; i < copies; i++) load({
	on: (event, handler) => (handlers[event] ??= []).push(handler),
	registerCommand: (name, command) => (commands[name] = command),
});
const branch = [{ id: "m1", type: "model_change" }];
const ctx = {
	cwd: process.cwd(), hasUI: true,
	ui: {
		notify: (text, level) => out.told.push(level + ": " + text),
		setStatus: (key, text) => out.status.push(text ?? null),
		select: async (title, options) => (out.asked.push(title), options[options.length - 1]),
	},
	sessionManager: {
		getSessionId: () => "s1", getSessionFile: () => undefined, getHeader: () => null,
		getBranch: () => branch, getEntries: () => branch, getLeafId: () => branch[branch.length - 1].id,
	},
};
async function fire(name, event) {
	for (const handler of handlers[name] ?? []) {
		try {
			const result = await handler(event, ctx);
			if (result !== undefined) out.results[name] = result;
		} catch (error) {
			out.results[name] = "threw " + error;
		}
	}
}
await fire("session_start", { reason: "startup" });
await fire("before_agent_start", { prompt: "hello" });
branch.push({ id: "u1", type: "message", message: { role: "user", content: "do it" } }, { id: "a1", type: "message", message: { role: "assistant", content: [{ type: "toolCall", name: "bash" }] } });
await fire("tool_call", { toolName: "bash", input: { command: "rm -rf .agent" } });
await fire("tool_call", { toolName: "odd" });
await fire("turn_end", {});
await fire("agent_end", {});
await fire("session_compact", {});
await fire("session_tree", {});
await fire("session_before_fork", { entryId: "u1", position: "before" });
await fire("session_before_tree", { preparation: { targetId: "u1" } });
ctx.hasUI = false;
await fire("session_before_fork", { entryId: "u1", position: "before" });
ctx.hasUI = true;
await commands.rewind.handler("", ctx);
await fire("session_shutdown", { reason: "quit" });
console.log(JSON.stringify(out));
process.exit(0);
`

type driven struct {
	Results map[string]any
	Told    []string
	Asked   []string
	Status  []any
}

// drive loads the extension with a shell script as its program.
func drive(t *testing.T, script string, copies string) (d driven, requests []map[string]any) {
	t.Helper()
	return play(t, driver, script, copies)
}

// play is drive with another driver.
func play(t *testing.T, driver, script, copies string) (d driven, requests []map[string]any) {
	t.Helper()
	node, dir := nodeFor(t), t.TempDir()
	program, log := filepath.Join(dir, "rewind"), filepath.Join(dir, "requests")
	if script != "" {
		text := "#!/bin/sh\nread -r line\nprintf '%s\\n' \"$line\" >>" + log + "\n" + script + "\n"
		if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"rewind.ts": string(pi.wholeText(Program{Path: program})), "driver.mjs": driver} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(node, "--experimental-strip-types", "--no-warnings", "driver.mjs", filepath.Join(dir, "rewind.ts"), copies)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for event, result := range d.Results {
		if text, ok := result.(string); ok {
			t.Errorf("%s: %s", event, text)
		}
	}
	data, _ := os.ReadFile(log) // none where nothing was asked
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		var q map[string]any
		if json.Unmarshal([]byte(line), &q) == nil {
			requests = append(requests, q)
		}
	}
	return d, requests
}

// A program that is missing, fails, is older, or says nonsense: told once, and pi goes on.
func TestPiSurvivesItsProgram(t *testing.T) {
	programs := map[string]string{
		"missing": "", "fails": "exit 1", "older": "exit 0", "nonsense": "echo '[1]'", "killed": "kill -9 $$", "half": `printf '{"state":'`,
	}
	if !testing.Short() {
		programs["hangs"] = "exec sleep 100" // for as long as an event waits, once
	}
	for name, script := range programs {
		t.Run(name, func(t *testing.T) {
			d, _ := drive(t, script, "1")
			if n := len(d.Told); n != 1 || !strings.HasPrefix(d.Told[0], "warning: rewind: ") {
				if name != "hangs" {
					t.Errorf("told %q", d.Told)
				}
			}
			if len(d.Asked) > 0 || len(d.Results) > 0 {
				t.Errorf("asked %q, results %v", d.Asked, d.Results)
			}
		})
	}
}

func TestPiAsksAndObeys(t *testing.T) {
	answer := `case "$line" in
*'"kind":"options"'*) echo '{"options":["stay","go"],"title":"What now"}' ;;
*'"kind":"apply"'*) echo '{"cancel":true,"notices":[{"text":"done"}]}' ;;
*'"kind":"points"'*) echo '{"points":[{"entry":"u1","label":"one"}],"title":"Points"}' ;;
*'"kind":"tool"'*) echo '{"block":"no"}' ;;
*'"kind":"prompt"'*) echo '{"state":"kkkkkkkkkkkkkkkk","notices":[{"text":"x","once":"x"}]}' ;;
*) echo '{"footer":"points","notices":[{"text":"x","once":"x"}]}' ;;
esac`
	d, requests := drive(t, answer, "1")
	for _, event := range []string{"session_before_fork", "session_before_tree"} {
		if result, _ := d.Results[event].(map[string]any); result["cancel"] != true {
			t.Errorf("%s: %v", event, d.Results[event])
		}
	}
	if result, _ := d.Results["tool_call"].(map[string]any); result["block"] != true || result["reason"] != "no" {
		t.Errorf("tool_call: %v", d.Results["tool_call"])
	}
	if want := "What now|What now|Points|What now"; strings.Join(d.Asked, "|") != want {
		t.Errorf("asked %q", d.Asked)
	}
	var kinds []string
	for _, q := range requests {
		kinds = append(kinds, q["kind"].(string))
		if q["kind"] == "turn_end" {
			entries, _ := json.Marshal(q["entries"])
			if want := `[{"id":"u1","role":"user","type":"message"},{"id":"a1","role":"assistant","type":"message"}]`; string(entries) != want || q["state"] != "kkkkkkkkkkkkkkkk" {
				t.Errorf("turn_end of %s, state %v", entries, q["state"])
			}
		}
		if q["kind"] == "points" {
			entries, _ := json.Marshal(q["entries"])
			for _, want := range []string{`"id":"u1","role":"user","text":"do it"`, `"id":"a1","role":"assistant","text":"bash"`} {
				if !strings.Contains(string(entries), want) {
					t.Errorf("points of %s, want %s", entries, want)
				}
			}
		}
		if q["kind"] == "apply" && q["choice"] != "go" {
			t.Errorf("chose %v", q["choice"])
		}
	}
	want := "session_start prompt tool turn_end agent_end options apply options apply points options apply shutdown"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("asked for %s\nwant %s", got, want)
	}
	told := strings.Join(d.Told, "|")
	if strings.Count(told, "info: x") != 1 || strings.Count(told, "info: done") != 3 {
		t.Errorf("told %q", d.Told)
	}
}

// Loaded twice, as a file and as a package, it asks once.
func TestPiLoadedTwice(t *testing.T) {
	_, requests := drive(t, `echo '{}'`, "2")
	seen := map[string]int{}
	for _, q := range requests {
		seen[q["kind"].(string)]++
	}
	for _, kind := range []string{"session_start", "prompt", "turn_end", "shutdown"} {
		if seen[kind] != 1 {
			t.Errorf("%s: %d times", kind, seen[kind])
		}
	}
}

// queued plays pi 0.73: the events of the agent wait in a queue, an answer is in the session only once the queue has come to
// it, and neither the next prompt nor the end of pi waits for the queue.
var queued = strings.Replace(driver, driver[strings.Index(driver, "await fire(\"before_agent_start\""):strings.Index(driver, "console.log(")], `
let queue = Promise.resolve();
const say = (id, role) => (queue = queue.then(() => branch.push({ id, type: "message", message: { role } })));
const later = (name) => (queue = queue.then(() => fire(name, {})));
for (const n of [1, 2]) {
	await fire("before_agent_start", { prompt: "hello " + n });
	later("agent_start"), say("u" + n, "user"), say("t" + n, "assistant"), later("turn_end"), say("a" + n, "assistant"), later("turn_end"), later("agent_end");
}
await fire("session_shutdown", { reason: "quit" });
await fire("before_agent_start", { prompt: "hello 3" });
await queue;
ctx.isIdle = () => false;
const began = Date.now();
await fire("session_shutdown", { reason: "killed" });
if (Date.now() - began > 1500) out.results.killed = "the end of pi waited for an agent at work";
`, 1)

// What pi has yet to report of the agent comes before the next prompt, and before the session's end.
func TestPiWaitsForItsQueue(t *testing.T) {
	_, requests := play(t, queued, "sleep 0.1; echo '{}'", "1")
	var got []string
	for _, q := range requests {
		kind := q["kind"].(string)
		entries, _ := q["entries"].([]any)
		for _, e := range entries {
			kind += ":" + e.(map[string]any)["id"].(string)
		}
		got = append(got, kind)
	}
	want := "session_start prompt turn_end:u1:t1 turn_end:a1 agent_end prompt turn_end:u2:t2 turn_end:a2 agent_end shutdown prompt shutdown"
	if got := strings.Join(got, " "); got != want {
		t.Errorf("asked for %s\nwant %s", got, want)
	}
}
