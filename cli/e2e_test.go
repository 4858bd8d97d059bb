package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestE2E drives the real clients against a scripted model on the loopback:
// REWIND_E2E is a directory of unpacked npm packages, and `make e2e` runs the
// test where there is no other network.
func TestE2E(t *testing.T) {
	clients := os.Getenv("REWIND_E2E")
	if clients == "" {
		t.Skip("set REWIND_E2E to a directory of unpacked clients, or run make e2e")
	}
	onlyLoopback(t)
	rewind := filepath.Join(t.TempDir(), "rewind")
	if out, err := exec.Command("go", "build", "-o", rewind, "./rewind").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := 0
	native, _ := filepath.Glob(filepath.Join(clients, "anthropic-ai-claude-code-*", "claude"))
	scripts, _ := filepath.Glob(filepath.Join(clients, "anthropic-ai-claude-code-*", "cli.js"))
	for _, file := range append(native, scripts...) {
		words := []string{file}
		if strings.HasSuffix(file, ".js") {
			words = []string{"node", file}
		}
		name := filepath.Base(filepath.Dir(file))
		found++
		t.Run(name, func(t *testing.T) { driveClaude(t, rewind, words) })
		t.Run(name+"/lives", func(t *testing.T) { liveClaude(t, rewind, words) })
		t.Run("notice/"+name, func(t *testing.T) { noticeClaude(t, rewind, words) })
		t.Run("revert/"+name, func(t *testing.T) { revertClaude(t, rewind, words) })
	}
	droids, _ := filepath.Glob(filepath.Join(clients, "droid*", "bin", "droid"))
	for _, file := range droids {
		if info, err := os.Stat(file); err == nil && info.Size() > 1<<20 { // not the script that installs it
			found++
			t.Run("droid", func(t *testing.T) { driveDroid(t, rewind, file) })
			t.Run("notice/droid", func(t *testing.T) { noticeDroid(t, rewind, file) })
		}
	}
	for _, c := range npmClients() {
		if _, err := os.Stat(filepath.Join(clients, c.program)); err == nil {
			found++
			t.Run(c.agent, func(t *testing.T) { driveNPM(t, rewind, clients, &c) })
			t.Run("notice/"+c.agent, func(t *testing.T) { noticeNPM(t, rewind, clients, &c) })
		}
	}
	if found == 0 {
		t.Fatalf("no client in %s", clients)
	}
}

// onlyLoopback refuses to run clients where they could reach anything.
func onlyLoopback(t *testing.T) {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			t.Fatalf("there is a network beside the loopback (%s): run make e2e", i.Name)
		}
	}
}

// bench is a home and a project in which a client works.
type bench struct {
	t            *testing.T
	model        *model
	rewind       string
	client       []string
	home, dir    string
	session      string
	environment  []string
	beforePrompt []map[string]string // the tree before each prompt
	firstRequest []request           // of each prompt
}

func newBench(t *testing.T, rewind string, client []string) *bench {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, model: newModel(t), rewind: rewind, client: client, home: filepath.Join(base, "home"), dir: filepath.Join(base, "work")}
	for _, d := range []string{filepath.Join(b.home, ".claude"), b.dir} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.environment = []string{
		"HOME=" + b.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + base, "TERM=dumb", "IS_SANDBOX=1", "ANTHROPIC_API_KEY=sk-ant-not-a-key-0123456789",
		"ANTHROPIC_BASE_URL=" + b.model.URL, "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}
	return b
}

func (b *bench) run(words ...string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = b.dir, b.environment
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		b.t.Fatalf("%q: %v\n%s%s", words, err, out.String(), errs.String())
	}
	return out.String()
}

// ask runs one turn of the client in a session.
func (b *bench) ask(flag, session, prompt string) {
	b.t.Helper()
	words := append(slices.Clone(b.client), "-p", "--dangerously-skip-permissions", flag, session, prompt)
	b.run(words...)
}

// turn is ask in the bench's own session, keeping what was before.
func (b *bench) turn(prompt string) {
	b.t.Helper()
	n := b.model.count()
	b.beforePrompt = append(b.beforePrompt, b.tree())
	flag := "--resume"
	if len(b.beforePrompt) == 1 {
		flag = "--session-id"
	}
	b.ask(flag, b.session, prompt)
	said := b.model.since(n)
	if len(said) == 0 {
		b.t.Fatalf("no request for %q", prompt)
	}
	b.firstRequest = append(b.firstRequest, said[0])
}

// tree is every file's mode and bytes, but for the store and git.
func (b *bench) tree() map[string]string {
	b.t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(b.dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == ".git" || e.Name() == ".agent") {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		m[strings.TrimPrefix(name, b.dir)] = fmt.Sprintf("%o %s", info.Mode().Perm(), data)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

type e2eRestored struct {
	Checkpoint *string `json:"checkpoint"`
	Transcript *struct {
		SessionID string `json:"session_id"`
		Path      string `json:"path"`
		Resume    string `json:"resume"`
	} `json:"transcript"`
}

func (b *bench) restore(words ...string) e2eRestored {
	b.t.Helper()
	var done e2eRestored
	out := b.run(append([]string{b.rewind, "--json"}, words...)...)
	if err := json.Unmarshal([]byte(out), &done); err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}
	return done
}

// resumed asks in a fork, and gives what the client then sent before the prompt.
func (b *bench) resumed(session string) []any {
	b.t.Helper()
	n := b.model.count()
	b.ask("--resume", session, "go on from here")
	said := b.model.since(n)
	if len(said) == 0 {
		b.t.Fatal("the client sent nothing")
	}
	history := said[0].messages
	if len(history) == 0 || !strings.Contains(fmt.Sprint(history[len(history)-1]), "go on from here") {
		b.t.Fatalf("the new prompt is not the last message: %v", history)
	}
	return history[:len(history)-1]
}

func tool(name string, input any) string {
	b, err := json.Marshal(map[string]any{"name": name, "input": input})
	if err != nil {
		panic(err)
	}
	return "%%" + string(b) + "%%"
}

func driveClaude(t *testing.T, rewind string, client []string) {
	b := newBench(t, rewind, client)
	b.session = "5db0d5f6-0000-4000-8000-00000000e2e1"
	b.register()
	for name, text := range map[string]string{"kept.txt": "kept\n", "tracked.txt": "tracked\n"} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.run("git", "init", "-q")
	b.run("git", "add", ".")
	b.run("git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x")
	b.run(rewind, "init", "-q")
	in := func(name string) string { return filepath.Join(b.dir, name) }
	shell := func(line string) string {
		return tool("Bash", map[string]any{"command": line, "description": "a shell command"})
	}
	b.turn("first " + tool("Write", map[string]any{"file_path": in("a.txt"), "content": "one\n"}) + tool("Write", map[string]any{"file_path": in("b.txt"), "content": "bee\n"}))
	b.turn("second " + shell("sed -i s/one/two/ a.txt && echo changed >> tracked.txt") + tool("Read", map[string]any{"file_path": in("b.txt")}) +
		tool("Edit", map[string]any{"file_path": in("b.txt"), "old_string": "bee", "new_string": "wasp"}))
	b.turn("third " + shell("rm b.txt && mkdir d && echo new > d/new.txt && chmod 755 kept.txt") + shell("git checkout -- tracked.txt"))
	b.turn("fourth " + shell("rm -rf d a.txt"))
	end := b.tree()
	for i, want := range []bool{false, true, true, true} {
		if _, ok := b.beforePrompt[i]["/a.txt"]; ok != want {
			t.Fatalf("before prompt %d the tree is %v", i+1, b.beforePrompt[i])
		}
	}
	if reflect.DeepEqual(end, b.beforePrompt[3]) {
		t.Fatal("the fourth prompt changed nothing")
	}
	transcripts, err := filepath.Glob(filepath.Join(b.home, ".claude", "projects", "*", b.session+".jsonl"))
	if err != nil || len(transcripts) != 1 {
		t.Fatal(transcripts, err)
	}
	old, err := os.ReadFile(transcripts[0])
	if err != nil {
		t.Fatal(err)
	}
	// To before each prompt but the first: the code byte for byte, and in the
	// fork exactly what the client had sent before that prompt.
	for n := 1; n <= 3; n++ {
		done := b.restore("restore", fmt.Sprintf("prompt~%d", n), "--session", b.session)
		i := 4 - n
		if got := b.tree(); !maps.Equal(got, b.beforePrompt[i]) {
			t.Errorf("before prompt %d the tree was\n%v\nand is restored as\n%v", i+1, b.beforePrompt[i], got)
		}
		if done.Transcript == nil || done.Transcript.SessionID == "" {
			t.Fatalf("before prompt %d: no fork", i+1)
		}
		want := b.firstRequest[i].messages
		want = want[:len(want)-1]
		got := b.resumed(done.Transcript.SessionID)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("before prompt %d the client had sent\n%v\nand sends in the fork\n%v", i+1, want, got)
		}
	}
	done := b.restore("undo-restore")
	if done.Transcript == nil || done.Transcript.SessionID == "" {
		t.Error("a fork that was used was taken away")
	}
	now, err := os.ReadFile(transcripts[0])
	if err != nil || !bytes.Equal(now, old) {
		t.Errorf("the old session's transcript changed (%v)", err)
	}
	b.cutBeforeTool()
	for _, r := range b.model.since(0) {
		for _, ours := range []string{rewind, "REWIND", ".agent/rewind", "[rewind]"} {
			if strings.Contains(r.raw, ours) {
				t.Fatalf("%q is in a request", ours)
			}
		}
	}
	b.run(rewind, "verify")
}

// cutBeforeTool restores the checkpoint that was taken between the two commands
// of the third turn: the fork has the first one, and not the second.
func (b *bench) cutBeforeTool() {
	b.t.Helper()
	var list struct {
		Checkpoints []struct {
			ID, Kind, Tool string
		} `json:"checkpoints"`
	}
	out := b.run(b.rewind, "list", "--json", "--limit", "0", "--session", b.session)
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		b.t.Fatal(err)
	}
	kinds := map[string]int{}
	var before []string // the commands, newest first: what destroys has a checkpoint even where nothing had changed since its prompt
	for _, c := range list.Checkpoints {
		kinds[c.Kind]++
		if c.Kind == "pre-tool" && c.Tool == "Bash" {
			before = append(before, c.ID)
		}
	}
	if kinds["prompt"] != 4 || kinds["stop"] == 0 || len(before) < 2 {
		b.t.Fatalf("checkpoints by kind: %v", kinds)
	}
	done := b.restore("restore", before[1])
	if done.Transcript == nil {
		b.t.Fatal("no fork")
	}
	want := maps.Clone(b.beforePrompt[3])
	want["/tracked.txt"] = "644 tracked\nchanged\n"
	if got := b.tree(); !maps.Equal(got, want) {
		b.t.Errorf("before the checkout the tree was\n%v\nand is restored as\n%v", want, got)
	}
	history := fmt.Sprint(b.resumed(done.Transcript.SessionID))
	for line, times := range map[string]int{"rm b.txt": 2, "git checkout": 1, "fourth": 0} { // in the prompt, and as a call
		if strings.Count(history, line) != times {
			b.t.Errorf("before the tool call the fork should have %q %d times: %s", line, times, history)
		}
	}
}
