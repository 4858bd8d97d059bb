package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// npmClient is a client that npm offers, and how it is driven. It is looked for where
// "npm install --prefix <clients>/<agent>" puts it; opencode needs what it would fetch too:
// @opencode-ai/plugin in <clients>/opencode-plugin.
type npmClient struct {
	agent    string
	program  string // a pattern below the directory of clients
	settings map[string]string
	variable func(url string) []string // of its environment
	// words ask in a session, "" for a new one.
	words func(session, prompt string) []string
	// transcripts is a pattern below home; id is a session's in one of them.
	transcripts string
	id          func(file string, first map[string]any) string
	write, run  func(b *bench, text string) string // a tool call: make a.txt hold text; run a shell command
	forks       bool                               // conversations are understood
	informed    bool                               // a hook can tell its model something
}

func npmClients() []npmClient {
	byName := func(file string, _ map[string]any) string {
		return strings.TrimSuffix(file[len(file)-42:], ".jsonl")
	}
	return []npmClient{{
		agent: "codex", program: "codex/node_modules/.bin/codex", forks: true, informed: true,
		settings: map[string]string{".codex/config.toml": `model = "fake-1"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "MODEL/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
`},
		variable: func(string) []string { return []string{"MOCK_KEY=x"} },
		words: func(session, prompt string) []string {
			words := []string{"exec"}
			if session != "" {
				words = append(words, "resume")
			}
			words = append(words, "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--skip-git-repo-check")
			if session != "" {
				words = append(words, session)
			}
			return append(words, prompt)
		},
		transcripts: ".codex/sessions/*/*/*/rollout-*.jsonl", id: byName,
		write: func(_ *bench, text string) string {
			return tool("exec_command", map[string]any{"cmd": "printf '" + text + "' > a.txt"})
		},
		run: func(_ *bench, line string) string { return tool("exec_command", map[string]any{"cmd": line}) },
	}, {
		agent: "qwen", program: "qwen/node_modules/.bin/qwen", forks: true, informed: true,
		settings: map[string]string{".qwen/settings.json": `{"security": {"auth": {"selectedType": "openai"}}}`},
		variable: func(url string) []string {
			return []string{"OPENAI_API_KEY=x", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=fake-1"}
		},
		words: func(session, prompt string) []string {
			if session != "" {
				return []string{"--yolo", "--resume", session, "-p", prompt}
			}
			return []string{"--yolo", "-p", prompt}
		},
		transcripts: ".qwen/projects/*/chats/*.jsonl", id: byName,
		write: func(b *bench, text string) string {
			return tool("write_file", map[string]any{"file_path": filepath.Join(b.dir, "a.txt"), "content": text})
		},
		run: func(_ *bench, line string) string {
			return tool("run_shell_command", map[string]any{"command": line, "is_background": false})
		},
	}, {
		agent: "gemini", program: "gemini/node_modules/.bin/gemini", forks: true, informed: true,
		settings: map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`},
		variable: func(url string) []string {
			return []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true"}
		},
		words: func(session, prompt string) []string {
			if session != "" {
				return []string{"--yolo", "-m", "gemini-2.5-pro", "--resume", session, "-p", prompt}
			}
			return []string{"--yolo", "-m", "gemini-2.5-pro", "-p", prompt}
		},
		transcripts: ".gemini/tmp/*/chats/session-*.jsonl",
		id: func(_ string, first map[string]any) string {
			id, _ := first["sessionId"].(string)
			return id
		},
		write: func(b *bench, text string) string {
			return tool("write_file", map[string]any{"file_path": filepath.Join(b.dir, "a.txt"), "content": text})
		},
		run: func(_ *bench, line string) string {
			return tool("run_shell_command", map[string]any{"command": line})
		},
	}, {
		agent: "copilot", program: "copilot/node_modules/.bin/copilot", forks: true,
		variable: func(url string) []string {
			return []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_MODEL=fake-1", "COPILOT_PROVIDER_API_KEY=x"}
		},
		words: func(session, prompt string) []string {
			if session != "" {
				return []string{"--allow-all-tools", "--resume=" + session, "-p", prompt}
			}
			return []string{"--allow-all-tools", "-p", prompt}
		},
		transcripts: ".copilot/session-state/*/events.jsonl",
		id:          func(file string, _ map[string]any) string { return filepath.Base(filepath.Dir(file)) },
		write: func(b *bench, text string) string {
			return tool("create", map[string]any{"path": filepath.Join(b.dir, "a.txt"), "file_text": text})
		},
		run: func(_ *bench, line string) string {
			return tool("bash", map[string]any{"command": line, "description": "x"})
		},
	}, {
		agent: "opencode", program: "opencode/node_modules/.bin/opencode",
		settings: map[string]string{".config/opencode/opencode.json": `{"model": "mock/fake-1", "small_model": "mock/fake-1", "autoupdate": false, "permission": {"*": "allow"},
			"provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "MODEL/v1", "apiKey": "x"}, "models": {"fake-1": {"tool_call": true}}}}}`},
		variable: func(string) []string {
			return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
		},
		words: func(session, prompt string) []string {
			// As an argument a prompt would be put into quotes.
			words := []string{"sh", "-c", `prompt=$1; shift; printf %s "$prompt" | "$0" "$@"`, "", prompt, "run"}
			if session != "" {
				return append(words, "--session", session)
			}
			return words
		},
		write: func(b *bench, text string) string {
			return tool("write", map[string]any{"filePath": filepath.Join(b.dir, "a.txt"), "content": text})
		},
		run: func(_ *bench, line string) string {
			return tool("bash", map[string]any{"command": line, "description": "x"})
		},
	}}
}

// sessions are the client's, by the files that tell of them.
func (c *npmClient) sessions(b *bench) map[string][]string {
	b.t.Helper()
	files, err := filepath.Glob(filepath.Join(b.home, c.transcripts))
	if err != nil {
		b.t.Fatal(err)
	}
	ids := map[string][]string{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.t.Fatal(err)
		}
		line, _, _ := bytes.Cut(data, []byte("\n"))
		var first map[string]any
		_ = json.Unmarshal(line, &first) // of a file without a line there is none
		id := c.id(f, first)
		ids[id] = append(ids[id], f)
	}
	return ids
}

// ask runs one turn, and gives the first request of it.
func (c *npmClient) ask(b *bench, session, prompt string) request {
	b.t.Helper()
	n := b.model.count()
	words := c.words(session, prompt)
	if words[0] == "sh" {
		words[3] = b.client[0]
	} else {
		words = append(slices.Clone(b.client), words...)
	}
	b.run(words...)
	for _, r := range b.model.since(n) {
		if strings.Contains(fmt.Sprint(r.messages), prompt) { // some clients ask for other ends too
			return r
		}
	}
	b.t.Fatalf("no request for %q", prompt)
	return request{}
}

// bench is a home in which the client is set up, and calls our hooks.
func (c *npmClient) bench(t *testing.T, rewind, clients string) *bench {
	b := newBench(t, rewind, []string{filepath.Join(clients, c.program)})
	b.environment = append(b.environment, c.variable(b.model.URL)...)
	for name, text := range c.settings {
		file := filepath.Join(b.home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "MODEL", b.model.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if c.agent == "opencode" {
		b.installOpencode(filepath.Join(clients, "opencode-plugin", "node_modules"))
	}
	b.installRewind()
	b.run(b.rewind, "config", "--register-hooks", "--agent", c.agent)
	return b
}

// driveNPM has a client change files over four prompts. Code is restored to before
// each of the last three byte for byte, and in the fork the client sends exactly what it
// had sent before that prompt.
func driveNPM(t *testing.T, rewind, clients string, c *npmClient) {
	b := c.bench(t, rewind, clients)
	if err := os.WriteFile(filepath.Join(b.dir, "kept.txt"), []byte("kept\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.run(b.rewind, "init", "-q")
	turn := func(prompt string) {
		t.Helper()
		b.beforePrompt = append(b.beforePrompt, b.tree())
		b.firstRequest = append(b.firstRequest, c.ask(b, b.session, prompt))
		if b.session == "" && !c.forks {
			b.session = b.onlySession()
		} else if b.session == "" {
			ids := slices.Collect(maps.Keys(c.sessions(b)))
			if len(ids) != 1 {
				t.Fatalf("sessions: %v", ids)
			}
			b.session = ids[0]
		}
	}
	turn("first " + c.write(b, "one\n") + c.run(b, "echo bee > b.txt"))
	turn("second " + c.run(b, "echo two > a.txt"))
	turn("third " + c.run(b, "rm b.txt && mkdir d && echo new > d/new.txt && chmod 755 kept.txt") + c.run(b, "echo last > d/last.txt"))
	turn("fourth " + c.run(b, "rm -r d a.txt"))
	for i, want := range []string{"", "one", "two", "two"} {
		if got := b.beforePrompt[i]["/a.txt"]; !strings.Contains(got, want) || want == "" && got != "" {
			t.Fatalf("before prompt %d the tree is %v", i+1, b.beforePrompt[i])
		}
	}
	if reflect.DeepEqual(b.tree(), b.beforePrompt[3]) {
		t.Fatal("the fourth prompt changed nothing")
	}
	var old []byte
	if c.forks {
		old = c.transcript(b)
	}
	for n := 1; n <= 3; n++ {
		i := 4 - n
		done := b.restore("restore", fmt.Sprintf("prompt~%d", n), "--session", b.session)
		if got := b.tree(); !maps.Equal(got, b.beforePrompt[i]) {
			t.Errorf("before prompt %d the tree was\n%v\nand is restored as\n%v", i+1, b.beforePrompt[i], got)
		}
		if !c.forks {
			continue
		}
		if done.Transcript == nil || done.Transcript.SessionID == "" {
			t.Fatalf("before prompt %d: no fork", i+1)
		}
		if !strings.Contains(done.Transcript.Resume, done.Transcript.SessionID) {
			t.Errorf("the fork is opened by %q", done.Transcript.Resume)
		}
		got, want := c.ask(b, done.Transcript.SessionID, "go on from here").messages, b.firstRequest[i].messages
		if !reflect.DeepEqual(got[:len(got)-1], want[:len(want)-1]) {
			t.Errorf("before prompt %d the client had sent\n%v\nand sends in the fork\n%v", i+1, want[:len(want)-1], got[:len(got)-1])
		}
	}
	if !c.forks {
		c.mentions(b)
		c.refused(b)
		b.run(b.rewind, "verify")
		return
	}
	if now := c.transcript(b); old != nil && now != nil && !bytes.Equal(now, old) {
		t.Error("the old session's transcript changed")
	}
	c.back(b)
	c.mentions(b)
	c.refused(b)
	b.run(b.rewind, "verify")
}

// refused: the agent cannot take back the person's work behind their back.
func (c *npmClient) refused(b *bench) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, "mine.txt"), []byte("mine\n"), 0o644); err != nil {
		b.t.Fatal(err)
	}
	before, n := b.tree(), b.model.count()
	c.ask(b, "", "behind "+c.run(b, b.rewind+" restore prompt~1"))
	if got := b.tree(); !maps.Equal(got, before) {
		b.t.Errorf("the agent restored: %v", got)
	}
	said := b.model.since(n)
	if last := fmt.Sprint(said[len(said)-1].messages); !strings.Contains(last, "is for the user, not for tools") {
		b.t.Errorf("no reason in what the model got: %.600s", last)
	}
}

// onlySession is the one that checkpoints name.
func (b *bench) onlySession() string {
	b.t.Helper()
	var list struct {
		Checkpoints []struct {
			Session string `json:"session_id"`
		} `json:"checkpoints"`
	}
	if err := json.Unmarshal([]byte(b.run(b.rewind, "list", "--json")), &list); err != nil {
		b.t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, c := range list.Checkpoints {
		if c.Session != "" {
			ids[c.Session] = true
		}
	}
	if len(ids) != 1 {
		b.t.Fatalf("sessions: %v", ids)
	}
	return slices.Collect(maps.Keys(ids))[0]
}

// transcript is the session's own file; nil where the client removed it.
func (c *npmClient) transcript(b *bench) []byte {
	b.t.Helper()
	var longest []byte
	for _, f := range c.sessions(b)[b.session] {
		data, err := os.ReadFile(f)
		if err != nil {
			b.t.Fatal(err)
		}
		if len(data) > len(longest) {
			longest = data
		}
	}
	return longest
}

// back goes back inside the session, whose own file has to come back where the
// client has removed it.
func (c *npmClient) back(b *bench) {
	b.t.Helper()
	done := b.restore("back", "2", "--in-place", "--session", b.session)
	if done.Transcript == nil || done.Transcript.SessionID != b.session {
		b.t.Fatalf("in place: %+v", done.Transcript)
	}
	const prompt = "once more"
	got, want := c.ask(b, b.session, prompt).messages, b.firstRequest[2].messages
	// The files are not those of that prompt: the notice of it comes with the prompt, or behind it.
	for i, m := range got {
		if strings.Contains(fmt.Sprint(m), prompt) {
			got = got[:i]
			break
		}
	}
	if !reflect.DeepEqual(got, want[:len(want)-1]) {
		b.t.Errorf("in place the client sends\n%v\nand not\n%v", got, want[:len(want)-1])
	}
}

// mentions looks for anything of ours in what the model was told.
func (c *npmClient) mentions(b *bench) {
	b.t.Helper()
	for _, r := range b.model.since(0) {
		for _, ours := range []string{b.rewind, "REWIND", ".agent/rewind", "[rewind]"} {
			if strings.Contains(r.raw, ours) {
				b.t.Fatalf("%q is in a request", ours)
			}
		}
	}
}

// installOpencode gives opencode what it would fetch at its start.
func (b *bench) installOpencode(modules string) {
	b.t.Helper()
	config := filepath.Join(b.home, ".config", "opencode")
	if err := os.MkdirAll(config, 0o700); err != nil {
		b.t.Fatal(err)
	}
	dir := filepath.Dir(modules)
	b.run("cp", "-a", modules, filepath.Join(dir, "package.json"), filepath.Join(dir, "package-lock.json"), config)
}

// installRewind puts the program where it stays.
func (b *bench) installRewind() {
	b.t.Helper()
	bin := filepath.Join(b.home, ".local", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		b.t.Fatal(err)
	}
	data, err := os.ReadFile(b.rewind)
	if err != nil {
		b.t.Fatal(err)
	}
	b.rewind = filepath.Join(bin, "rewind")
	if err := os.WriteFile(b.rewind, data, 0o755); err != nil {
		b.t.Fatal(err)
	}
}
