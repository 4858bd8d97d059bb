package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/hookio"
)

// TestE2EPi drives the real pi in its RPC mode, as TestE2E does with others. In the directory of
// REWIND_E2E it is what npm makes of a directory: pi*/node_modules, with node beside it where pi
// wants another one than is in PATH (npm i @earendil-works/pi-coding-agent node@22).
func TestE2EPi(t *testing.T) {
	clients := os.Getenv("REWIND_E2E")
	if clients == "" {
		t.Skip("set REWIND_E2E to a directory of unpacked clients, or run make e2e")
	}
	scripts, _ := filepath.Glob(filepath.Join(clients, "pi*", "node_modules", "@*", "pi-coding-agent", "dist", "cli.js"))
	if len(scripts) == 0 {
		t.Skipf("no pi in %s", clients)
	}
	onlyLoopback(t)
	for _, script := range scripts {
		modules := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(script))))
		node := filepath.Join(modules, ".bin", "node")
		if _, err := os.Stat(node); err != nil {
			node = "node"
		}
		name := filepath.Base(filepath.Dir(modules))
		t.Run(name, func(t *testing.T) { drivePi(t, []string{node, script}) })
		t.Run("notice/"+name, func(t *testing.T) { noticePi(t, []string{node, script}) })
	}
}

// piRun is a running pi and its project.
type piRun struct {
	*bench
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    chan map[string]any
	calls  int
	footer string
	told   []string
	asked  []string                              // titles of dialogs
	answer func(options []string) (string, bool) // to a dialog; false dismisses it
}

func newPiRun(t *testing.T, client []string) *piRun {
	t.Helper()
	b := newBench(t, "", client)
	// Installed as a person would: in a place that stays.
	b.rewind = filepath.Join(b.home, ".local", "bin", "rewind")
	if out, err := exec.Command("go", "build", "-o", b.rewind, "./rewind").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	models := map[string]any{"providers": map[string]any{"fake": map[string]any{
		"baseUrl": b.model.URL, "api": "anthropic-messages", "apiKey": "x",
		"models": []any{map[string]any{"id": "fake-1", "contextWindow": 128000, "maxTokens": 4096}},
	}}}
	data, err := json.Marshal(models)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(b.home, ".pi", "agent", "models.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	b.environment = append(b.environment, "PI_OFFLINE=1")
	b.run(b.rewind, "config", "--register-hooks", "--agent", "pi")
	return &piRun{bench: b}
}

// start runs pi; words are added to its command line.
func (p *piRun) start(words ...string) {
	p.t.Helper()
	all := append(slices.Clone(p.client), "--mode", "rpc", "--model", "fake/fake-1")
	p.cmd = exec.Command(all[0], append(all[1:], words...)...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = p.dir, p.environment, os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.in, p.out = in, make(chan map[string]any, 1024)
	go func(lines chan<- map[string]any) {
		defer close(lines)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			var m map[string]any
			if json.Unmarshal(scanner.Bytes(), &m) == nil {
				lines <- m
			}
		}
		_ = scanner.Err() // the caller misses the line that it waits for
	}(p.out)
}

func (p *piRun) stop() {
	p.t.Helper()
	p.in.Close()
	for range p.out {
	}
	_ = p.cmd.Wait() // it may end with a signal's code
}

func (p *piRun) send(m map[string]any) {
	p.t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.in.Write(append(data, '\n')); err != nil {
		p.t.Fatal(err)
	}
}

// call sends a command and waits for its response, and for settled also for the agent's end. Dialogs
// on the way are answered.
func (p *piRun) call(command string, settled bool, fields map[string]any) map[string]any {
	p.t.Helper()
	p.calls++
	id := fmt.Sprint(p.calls)
	m := map[string]any{"id": id, "type": command}
	maps.Copy(m, fields)
	p.send(m)
	var response map[string]any
	timeout := time.After(90 * time.Second)
	for {
		select {
		case m, ok := <-p.out:
			if !ok {
				p.t.Fatalf("pi ended at %s %v", command, fields)
			}
			switch {
			case m["type"] == "extension_ui_request":
				p.dialog(m)
			case m["type"] == "response" && m["id"] == id:
				if m["success"] != true {
					p.t.Fatalf("%s %v: %v", command, fields, m["error"])
				}
				if response, _ = m["data"].(map[string]any); response == nil {
					response = map[string]any{}
				}
			}
			if response != nil && (!settled || m["type"] == "agent_end") {
				return response
			}
		case <-timeout:
			p.t.Fatalf("%s %v: no answer", command, fields)
		}
	}
}

func (p *piRun) dialog(m map[string]any) {
	text := func(name string) string { s, _ := m[name].(string); return s }
	switch m["method"] {
	case "setStatus":
		p.footer = text("statusText")
	case "notify":
		p.told = append(p.told, text("notifyType")+": "+text("message"))
	case "select":
		p.asked = append(p.asked, text("title"))
		var options []string
		list, _ := m["options"].([]any)
		for _, o := range list {
			options = append(options, fmt.Sprint(o))
		}
		reply := map[string]any{"type": "extension_ui_response", "id": m["id"], "cancelled": true}
		if p.answer != nil {
			if choice, ok := p.answer(options); ok {
				delete(reply, "cancelled")
				reply["value"] = choice
			}
		}
		p.send(reply)
	}
}

// settle reads what pi says after the agent's end, until it is quiet.
func (p *piRun) settle() { p.call("get_state", false, nil) }

func (p *piRun) prompt(text string) {
	p.t.Helper()
	p.call("prompt", true, map[string]any{"message": text})
	p.settle()
}

// choose is a dialog's answer, which must be among its options.
func (p *piRun) choose(choice string) {
	p.answer = func(options []string) (string, bool) {
		if !slices.Contains(options, choice) {
			p.t.Errorf("%q is not among %q", choice, options)
		}
		return choice, true
	}
}

// goTo goes to an entry of the tree, by the test's own command: old versions answer before it is done.
func (p *piRun) goTo(words string) {
	p.t.Helper()
	went := func() (n int) {
		for _, told := range p.told {
			if strings.Contains(told, ": went") {
				n++
			}
		}
		return n
	}
	before := went()
	p.call("prompt", false, map[string]any{"message": "/go " + words})
	for end := time.Now().Add(30 * time.Second); went() == before; {
		if time.Now().After(end) {
			p.t.Fatalf("/go %s does not end", words)
		}
		time.Sleep(50 * time.Millisecond)
		p.settle()
	}
}

// wantRows looks at the list of /rewind, and dismisses it.
func (p *piRun) wantRows(want []string) {
	p.t.Helper()
	var rows []string
	p.answer = func(options []string) (string, bool) { rows = options; return "", false }
	p.call("prompt", false, map[string]any{"message": "/rewind"})
	for end := time.Now().Add(30 * time.Second); rows == nil && time.Now().Before(end); p.settle() {
		time.Sleep(50 * time.Millisecond)
	}
	if len(rows) != len(want) {
		p.t.Errorf("/rewind lists %q", rows)
	}
	for i, row := range rows[:min(len(rows), len(want))] {
		if !strings.Contains(row, " ago  "+want[i]) {
			p.t.Errorf("row %q is not of %s", row, want[i])
		}
	}
}

func (p *piRun) fork(entry string) (cancelled bool) {
	p.t.Helper()
	cancelled, _ = p.call("fork", false, map[string]any{"entryId": entry})["cancelled"].(bool)
	p.settle()
	return cancelled
}

// prompts are the entries of the session's prompts.
func (p *piRun) prompts() (entries []string) {
	list, _ := p.call("get_fork_messages", false, nil)["messages"].([]any)
	for _, m := range list {
		entries = append(entries, fmt.Sprint(m.(map[string]any)["entryId"]))
	}
	return entries
}

func (p *piRun) state(name string) string { return fmt.Sprint(p.call("get_state", false, nil)[name]) }

// entries are those of the session's file, by type and role.
func (p *piRun) entries(what string) (ids []string) {
	p.t.Helper()
	data, err := os.ReadFile(p.state("sessionFile"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		var e struct {
			ID, Type string
			Message  struct{ Role string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.t.Fatal(err)
		}
		if e.Type == what || e.Type == "message" && e.Message.Role == what {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

func (p *piRun) want(when, files string) {
	p.t.Helper()
	var got []string
	for _, name := range slices.Sorted(maps.Keys(p.tree())) {
		data, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			continue // a directory
		}
		got = append(got, strings.TrimPrefix(name, "/")+"="+strings.TrimSpace(string(data)))
	}
	if text := strings.Join(got, " "); text != files {
		p.t.Errorf("%s: the files are %q, want %q", when, text, files)
	}
}

func bash(command string) string { return tool("bash", map[string]any{"command": command}) }

// noticePi looks at what pi's model is told of a restore of the code alone.
func noticePi(t *testing.T, client []string) {
	p := newPiRun(t, client)
	p.start()
	asks := func(prompt string) []int {
		t.Helper()
		return p.bench.told(prompt, func() { p.prompt(prompt) })
	}
	asks("first " + tool("write", map[string]any{"path": "a", "content": "1"}))
	if times := asks("second " + tool("write", map[string]any{"path": "a", "content": "2"})); !all(times, 0) {
		t.Fatalf("before any restore: %v", times)
	}
	if out := p.run(p.rewind, "blame", "a", "--json"); !strings.Contains(out, `"class":"declared"`) || strings.Contains(out, `"also_outside":true`) {
		t.Errorf("an edit that was looked at before it and behind it: %s", out)
	}
	p.restore("restore", "prompt~1", "--session", p.state("sessionId"), "--code-only")
	p.want("restored", "a=1")
	n := p.model.count()
	if times := asks("third " + bash("cat a")); !all(times, 1) || len(times) < 2 {
		t.Errorf("the model is told %v times in the requests of the next turn", times)
	}
	if text := p.noticeIn(p.model.since(n)[0].raw); !strings.Contains(text, `before your turn on the prompt "second `) || !strings.Contains(text, `changed "a".`) {
		t.Errorf("the model is told %q", text)
	}
	if times := asks("fourth"); !all(times, 1) { // as a part of what was said
		t.Errorf("the model is told again: %v", times)
	}
	p.wantRows([]string{"answer", "prompt  fourth", "answer", "answer", "prompt  third", "answer", "answer", "prompt  second", "answer", "answer", "prompt  first"})
	// Where the conversation goes back too, nothing is said.
	p.choose(hookio.PiRestoreAll)
	if said := p.prompts(); p.fork(said[1]) {
		t.Error("restore all was cancelled")
	}
	if times := asks("in the fork"); !all(times, 0) {
		t.Errorf("the fork is told: %v", times)
	}
	p.stop()
}

func drivePi(t *testing.T, client []string) {
	p := newPiRun(t, client)
	// A command of the test's own, for what the RPC mode has no command for: /tree.
	helper := filepath.Join(p.home, "tree.ts")
	if err := os.WriteFile(helper, []byte(`export default (pi: any) => pi.registerCommand("go", { description: "", handler: async (args: string, ctx: any) => {
	const [entry, summarize] = args.split(" ");
	const done = await ctx.navigateTree(entry, { summarize: summarize === "summarize" });
	ctx.ui.notify("went " + !done.cancelled);
} });`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "base"), []byte("0"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.start("-e", helper)
	p.prompt("one " + tool("write", map[string]any{"path": "a", "content": "1"}))
	p.want("one", "a=1 base=0")
	p.prompt("two " + bash("echo 2 >a; echo 2 >b") + bash("rm base"))
	p.want("two", "a=2 b=2")
	if !strings.HasPrefix(p.footer, "◆ 7 points / 4 snapshots") {
		t.Errorf("footer %q", p.footer)
	}
	first := p.state("sessionFile")
	said := p.prompts()

	p.answer = nil
	if !p.fork(said[1]) {
		t.Error("a dismissed dialog goes on")
	}
	p.want("dismissed", "a=2 b=2")
	p.wantRows([]string{"answer", "answer", "answer", "prompt  two", "answer", "answer", "prompt  one"})
	p.choose(hookio.PiCodeOnly)
	if !p.fork(said[1]) || p.state("sessionFile") != first {
		t.Error("code only leaves the conversation")
	}
	p.want("code only", "a=1 base=0")
	p.choose(hookio.PiUndo)
	if !p.fork(said[1]) {
		t.Error("undo in /fork leaves the conversation")
	}
	p.want("undo", "a=2 b=2")

	// The tree, by a turn in the middle of the second prompt's work.
	answers := p.entries("assistant")
	p.choose(hookio.PiRestoreFiles)
	p.goTo(answers[2])
	p.want("restore in the tree", "a=2 b=2 base=0")
	p.choose(hookio.PiKeepFiles)
	p.goTo(said[0] + " summarize")
	p.want("keep in the tree", "a=2 b=2 base=0")
	summaries := p.entries("branch_summary")
	p.choose(hookio.PiUndo)
	p.goTo(answers[3])
	p.want("undo in the tree", "a=2 b=2")
	if len(summaries) == 1 {
		p.choose(hookio.PiRestoreFiles)
		p.goTo(summaries[0])
		p.want("restore at a summary", "a=2 b=2 base=0")
		p.choose(hookio.PiUndo)
		p.goTo(answers[3])
		p.want("undo in the tree", "a=2 b=2")
	} else {
		t.Errorf("summaries %q", summaries)
	}

	p.choose(hookio.PiRestoreAll)
	if p.fork(said[1]) {
		t.Error("restore all was cancelled")
	}
	p.want("restore all", "a=1 base=0")
	if p.state("sessionFile") == first {
		t.Error("restore all stays in the session")
	}
	p.choose(hookio.PiUndo)
	p.goTo(p.entries("assistant")[0])
	p.want("undo of what was restored before the fork", "a=2 b=2")
	p.prompt("three " + bash("echo 3 >c") + strings.Repeat("words ", 20000))
	p.call("compact", false, nil)
	p.settle()
	p.prompt("four " + bash("rm c"))
	p.want("four", "a=2 b=2")
	p.choose(hookio.PiRestoreFiles)
	p.goTo(p.entries("compaction")[0])
	p.want("restore at a compaction", "a=2 b=2 c=3")
	second := p.state("sessionFile")
	p.stop()

	// The session is opened again, and forked again: what its ancestors have can be restored.
	p.start("-e", helper, "--session", second)
	p.settle()
	if p.footer == "" || strings.HasPrefix(p.footer, "◆ 0") {
		t.Errorf("footer of the session that was opened again: %q", p.footer)
	}
	p.choose(hookio.PiRestoreFiles)
	p.goTo(said[0])
	p.want("the ancestor's first prompt", "base=0")
	p.choose(hookio.PiUndo)
	p.goTo(p.entries("assistant")[0])
	p.want("undo in the session that was opened again", "a=2 b=2 c=3")
	id := p.state("sessionId")
	p.stop()
	if out := p.run(p.rewind, "show", id+":"+said[0], "--json"); !strings.Contains(out, `"kind":"prompt"`) && !strings.Contains(out, `"kind": "prompt"`) {
		t.Errorf("show by session and entry: %s", out)
	}
	// From outside: a fork of the conversation that pi opens, by its own id.
	var back struct {
		Transcript struct {
			Session string `json:"session_id"`
			Path    string
		}
		Prompts []string
	}
	if err := json.Unmarshal([]byte(p.run(p.rewind, "back", "--session", id, "--json")), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Prompts) != 1 || !strings.HasPrefix(back.Prompts[0], "four") {
		t.Errorf("back took %q", back.Prompts)
	}
	p.start("--session", back.Transcript.Session)
	if got := p.state("sessionFile"); got != back.Transcript.Path {
		t.Errorf("pi opened %s, not %s", got, back.Transcript.Path)
	}
	n := p.model.count()
	p.prompt("in the fork")
	if said := p.model.since(n); len(said) != 1 || len(said[0].messages) == 0 || strings.Contains(said[0].raw, "four %%") {
		t.Errorf("the model was sent something else than the fork")
	}
	p.stop()
	for _, told := range p.told {
		if strings.HasPrefix(told, "error") || strings.HasPrefix(told, "warning") {
			t.Errorf("pi was told: %s", told)
		}
	}
	if text := p.run(p.rewind, "status"); !strings.Contains(text, "pi") {
		t.Errorf("status: %s", text)
	}
}
