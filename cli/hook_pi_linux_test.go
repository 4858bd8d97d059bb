package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/register"
)

// As whole words: an id of a checkpoint is made of the letters k to z, so it can contain either.
var (
	stopRow = regexp.MustCompile(`\bstop\b`)
	byYou   = regexp.MustCompile(`\byou\b`)
)

// piLab is a project in which pi's extension asks: it plays a session's entries.
type piLab struct {
	*hookLab
	session, parent string
	branch          []hookio.PiEntry
	bound           int // entries of the branch that were sent
	state           string
	made            int
	footer          string
	extension       int
}

func newPiLab(t *testing.T) *piLab {
	p := &piLab{hookLab: newHookLab(t), session: "01a20117-a2c0-734a-9cf8-4c03b5521b8a", extension: register.PiVersion}
	p.env = slices.DeleteFunc(p.env, func(v string) bool { return strings.HasPrefix(v, "CLAUDE") })
	return p
}

func sessionFile(home, id string) string {
	return filepath.Join(home, ".pi/agent/sessions/--proj--/2026-11-22T02-30-55-937Z_"+id+".jsonl")
}

// ask is one call of the extension.
func (p *piLab) ask(kind hookio.PiKind, more map[string]any) hookio.PiAnswer {
	p.t.Helper()
	q := map[string]any{
		"extension": p.extension, "kind": kind, "cwd": p.root, "session": p.session, "file": sessionFile(p.home, p.session), "ui": true, "state": p.state,
	}
	if p.parent != "" {
		q["parent"] = sessionFile(p.home, p.parent)
		has := []string{}
		for _, e := range p.branch {
			has = append(has, e.ID)
		}
		q["has"] = has
	}
	maps.Copy(q, more)
	data, err := json.Marshal(q)
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := p.command("hook", "pi")
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("%s: %v", data, err)
	}
	var a hookio.PiAnswer
	if err := json.Unmarshal(out, &a); err != nil {
		p.t.Fatalf("%s: answered %q: %v", data, out, err)
	}
	if a.State != "" {
		p.state = a.State
	}
	if a.Footer != nil {
		p.footer = *a.Footer
	}
	return a
}

func (p *piLab) add(kind, role string) string {
	p.made++
	id := fmt.Sprintf("%s%04x", p.session[:4], p.made)
	p.branch = append(p.branch, hookio.PiEntry{ID: id, Type: kind, Role: role})
	return id
}

func (p *piLab) since() map[string]any {
	entries := p.branch[p.bound:]
	p.bound = len(p.branch)
	return map[string]any{"entries": entries}
}

// turn is a prompt and what the agent does for it. It gives the entries of the prompt and the answer.
func (p *piLab) turn(prompt string, work func()) (user, assistant string) {
	p.t.Helper()
	p.ask(hookio.PiPrompt, map[string]any{"prompt": prompt})
	user = p.add("message", "user")
	assistant = p.add("message", "assistant")
	work()
	p.add("message", "toolResult")
	p.ask(hookio.PiTurnEnd, p.since())
	p.ask(hookio.PiAgentEnd, p.since())
	return user, assistant
}

// fork goes on in a session of its own, with the first n entries.
func (p *piLab) fork(session string, n int) {
	p.parent, p.session = p.session, session
	p.branch, p.bound, p.state = slices.Clone(p.branch[:n]), n, ""
	p.ask(hookio.PiSessionStart, map[string]any{"reason": "fork"})
}

func (p *piLab) choose(menu, entry, choice string) hookio.PiAnswer {
	p.t.Helper()
	return p.ask(hookio.PiApply, map[string]any{"menu": menu, "entry": entry, "choice": choice})
}

// options are those of a menu, in their order.
func (p *piLab) options(menu, entry string) []string {
	p.t.Helper()
	return p.ask(hookio.PiOptions, map[string]any{"menu": menu, "entry": entry}).Options
}

// files is the tree but for the store and git's own.
func (p *piLab) files() string {
	p.t.Helper()
	var lines []string
	err := filepath.WalkDir(p.root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == ".agent" || e.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(p.root, name)
		lines = append(lines, rel+"="+string(text))
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.Join(lines, " ")
}

func (p *piLab) has(want string) {
	p.t.Helper()
	if got := p.files(); got != want {
		p.t.Errorf("the files are %q, want %q", got, want)
	}
}

func (p *piLab) remove(name string) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.root, name)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *piLab) git(args ...string) {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = p.root, append(slices.Clone(p.env), "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func TestPiForkMenu(t *testing.T) {
	p := newPiLab(t)
	if p.ask(hookio.PiSessionStart, map[string]any{"reason": "startup"}); p.footer != "◆ 0 points / 0 snapshots" {
		t.Errorf("footer before the first prompt: %q", p.footer)
	}
	if _, err := os.Stat(filepath.Join(p.root, ".agent")); err == nil {
		t.Error("a session's start made a store: only a prompt does")
	}
	p.write("base", "0")
	user1, assistant1 := p.turn("one", func() { p.write("a", "1") })
	user2, _ := p.turn("two", func() { p.write("a", "2"); p.write("b", "2"); p.remove("base") })
	if p.footer != "◆ 4 points / 3 snapshots" {
		t.Errorf("footer %q", p.footer)
	}
	conversation, all, code, undo := hookio.PiKeepConversation, hookio.PiRestoreAll, hookio.PiCodeOnly, hookio.PiUndo
	if got := p.options("fork", user2); !slices.Equal(got, []string{conversation, all, code}) {
		t.Errorf("options %q", got)
	}
	if got := p.options("fork", p.branch[2].ID); !slices.Equal(got, []string{conversation}) {
		t.Errorf("options at a tool's result: %q", got)
	}
	look := p.ask(hookio.PiOptions, map[string]any{"menu": "fork", "entry": user2})
	for _, want := range []string{"1 changed, 1 created, 1 deleted", "~ a", "+ base", "- b"} {
		if !strings.Contains(look.Title, want) {
			t.Errorf("the preview has no %q:\n%s", want, look.Title)
		}
	}
	if a := p.choose("fork", user2, conversation); a.Cancel || len(a.Notices) > 0 {
		t.Errorf("conversation only: %+v", a)
	}
	p.has("a=2 b=2")
	if a := p.choose("fork", user2, code); !a.Cancel {
		t.Errorf("code only goes on: %+v", a)
	}
	p.has("a=1 base=0")
	// The same again: nothing differs, and what undo goes back to stays.
	if a := p.choose("fork", user2, code); !a.Cancel {
		t.Errorf("code only goes on: %+v", a)
	}
	if got := p.options("fork", user2); !slices.Equal(got, []string{conversation, all, code, undo}) {
		t.Errorf("options %q", got)
	}
	if a := p.choose("fork", user2, undo); !a.Cancel {
		t.Errorf("undo in /fork leaves the conversation: %+v", a)
	}
	p.has("a=2 b=2")
	if a := p.choose("tree", assistant1, hookio.PiRestoreFiles); a.Cancel {
		t.Errorf("restore in /tree: %+v", a)
	}
	p.has("a=1 base=0")
	if a := p.choose("tree", assistant1, undo); a.Cancel {
		t.Errorf("undo in /tree navigates: %+v", a)
	}
	p.has("a=2 b=2")
	if a := p.choose("fork", user1, all); a.Cancel {
		t.Errorf("restore all: %+v", a)
	}
	p.has("base=0")
	if a := p.choose("fork", "ffffffff", all); !a.Cancel || len(a.Notices) != 1 || a.Notices[0].Level != "error" {
		t.Errorf("an entry without files: %+v", a)
	}
	p.has("base=0")
	if a := p.choose("fork", user1, "nonsense"); !a.Cancel {
		t.Errorf("an unknown choice: %+v", a)
	}
}

// call is a call of a tool, which is told only when it is over: the extension waits for no answer. What it returns is what the
// call was.
func (p *piLab) call(tool string, input map[string]any, work func()) {
	p.t.Helper()
	p.made++
	begin, end := map[string]any{"tool": tool, "call": fmt.Sprintf("call_%d", p.made)}, map[string]any{}
	maps.Copy(begin, input)
	maps.Copy(end, begin)
	begin["at"] = time.Now().UnixMilli()
	work()
	end["at"] = time.Now().UnixMilli() + 1
	p.ask(hookio.PiTool, begin)
	p.ask(hookio.PiToolEnd, end)
}

// A test command that did not fail leaves a checkpoint that is @green.
func TestPiGreen(t *testing.T) {
	p := newPiLab(t)
	p.turn("one", func() {
		p.call("bash", map[string]any{"command": "go test ./...", "failed": true}, func() { p.write("a", "1") })
		p.call("bash", map[string]any{"command": "go test ./..."}, func() { p.write("a", "2") })
		p.call("bash", map[string]any{"command": "go vet ./..."}, func() { p.write("a", "3") })
	})
	if out := p.rewind("show", "@green:a"); out != "2" {
		t.Errorf("@green has %q", out)
	}
}

// A turn that changes no file has no checkpoint behind it: the end of the session keeps what was answered last.
func TestPiEndKeepsTheLastAnswer(t *testing.T) {
	p := newPiLab(t)
	file := sessionFile(p.home, p.session)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("{\"type\":\"session\",\"version\":3,\"id\":%q}\n", p.session)
	say := func(id, role, words string) {
		text += fmt.Sprintf("{\"type\":\"message\",\"id\":%q,\"message\":{\"role\":%q,\"content\":[{\"type\":\"text\",\"text\":%q}]}}\n", id, role, words)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.turn("why", func() { say("00000001", "user", "why"); say("00000002", "assistant", "because") })
	for range 2 { // the second time nothing is new
		p.ask(hookio.PiShutdown, map[string]any{"reason": "quit"})
		var v struct {
			Checkpoints []struct {
				Kind       string
				Transcript struct{ Bytes int }
			}
		}
		if err := json.Unmarshal([]byte(p.rewind("list", "--all", "--json")), &v); err != nil {
			t.Fatal(err)
		}
		if len(v.Checkpoints) != 2 || v.Checkpoints[0].Kind != "session-end" || v.Checkpoints[0].Transcript.Bytes != len(text) {
			t.Errorf("at the end of a session whose conversation has %d bytes: %+v", len(text), v.Checkpoints)
		}
	}
}

// pi tells of the end of each answer of the model: the last of them with a change is the end of the prompt's turn.
func TestPiEndOfATurn(t *testing.T) {
	p := newPiLab(t)
	answer := func(path, text string) {
		p.call("write", map[string]any{"path": path}, func() { p.write(path, text) })
		p.ask(hookio.PiTurnEnd, nil)
	}
	ask := func(prompt string, answer func()) {
		p.ask(hookio.PiPrompt, map[string]any{"prompt": prompt})
		answer()
		p.ask(hookio.PiTurnEnd, nil)
		p.ask(hookio.PiAgentEnd, nil)
	}
	ask("one", func() { answer("a", "1"); answer("a", "2"); answer("b", "1") })
	ask("two", func() { answer("a", "3") })
	ask("three", func() { answer("a", "4"); answer("a", "5") })
	var v struct {
		Checkpoints []struct {
			N                  int
			Kind, Prompt, Ends string
		}
	}
	if err := json.Unmarshal([]byte(p.rewind("list", "--all", "--json")), &v); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range slices.Backward(v.Checkpoints) {
		got = append(got, c.Kind+" "+c.Prompt+c.Ends)
	}
	if want := []string{"prompt one", "stop ", "stop ", "stop one", "prompt two", "stop two", "prompt three", "stop ", "stop three"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if out := p.rewind("list"); !strings.Contains(out, `nothing changed since 1, the end of "three"`) || stopRow.MatchString(out) {
		t.Error(out)
	}
	p.rewind("restore", "2")
	if out := p.rewind("list"); strings.Contains(out, "the end of") {
		t.Errorf("in the midst of a turn:\n%s", out)
	}
}

// Whose work it is, in a session that edits, runs commands and makes directories, in quick turns.
func TestPiWhose(t *testing.T) {
	p := newPiLab(t)
	edit := func(tool, path, text string) {
		call := map[string]any{"tool": tool, "call": text, "path": path}
		p.ask(hookio.PiTool, call)
		p.write(path, text)
		p.ask(hookio.PiToolEnd, call)
	}
	p.turn("one", func() { edit("write", "a", "1"); edit("edit", "a", "2") })
	user, _ := p.turn("two", func() { p.call("bash", map[string]any{"command": "echo 2 >b"}, func() { p.write("b", "2") }) })
	p.turn("three", func() { edit("write", "d/sub/e", "3") })
	p.turn("four", func() { p.call("read", map[string]any{"path": "a"}, func() {}) })
	if out := p.rewind("list", "--all"); byYou.MatchString(out) {
		t.Errorf("work of pi's is the person's:\n%s", out)
	}
	for _, file := range []string{"a", "b", "d/sub/e"} {
		if out := p.rewind("blame", file); byYou.MatchString(out) {
			t.Errorf("blame %s: %s", file, out)
		}
	}
	if look := p.ask(hookio.PiOptions, map[string]any{"menu": "fork", "entry": user}); !strings.Contains(look.Title, "2 deleted") || strings.Contains(strings.ToLower(look.Title), "undoes") {
		t.Errorf("a false warning:\n%s", look.Title)
	}
	// What the person did is theirs: the session tells of its calls.
	p.turn("five", func() { p.write("mine", "by hand") })
	if out := p.rewind("blame", "mine"); !strings.Contains(out, "you") {
		t.Errorf("blame of the person's file: %s", out)
	}
	// An edit that failed did nothing.
	p.turn("six", func() {
		p.call("edit", map[string]any{"path": "mine", "failed": true}, func() { p.write("mine", "by hand again") })
	})
	if out := p.rewind("blame", "mine"); !strings.Contains(out, "you") || strings.Contains(out, "edit") {
		t.Errorf("blame of what an edit failed to write: %s", out)
	}
}

// Points and the undo go with a session into its forks, and with those into theirs.
func TestPiLineage(t *testing.T) {
	p := newPiLab(t)
	p.write("a", "0")
	user1, _ := p.turn("one", func() { p.write("a", "1") })
	p.turn("two", func() { p.write("a", "2") })
	first := p.session
	p.choose("fork", p.branch[3].ID, hookio.PiRestoreAll)
	p.has("a=1")
	p.fork("02a20117-a2c0-734a-9cf8-4c03b5521b8b", 3)
	if p.footer != "◆ 2 points / 2 snapshots" {
		t.Errorf("footer of the fork: %q", p.footer)
	}
	if a := p.choose("tree", user1, hookio.PiUndo); a.Cancel {
		t.Errorf("undo of what was restored before the fork: %+v", a)
	}
	p.has("a=2")
	user3, _ := p.turn("three", func() { p.write("a", "3") })
	p.fork("03a20117-a2c0-734a-9cf8-4c03b5521b8c", 6)
	p.turn("four", func() { p.write("a", "4") })
	for _, at := range []struct{ entry, files string }{{user1, "a=0"}, {user3, "a=2"}} {
		p.choose("tree", at.entry, hookio.PiRestoreFiles)
		p.has(at.files)
		if out := p.rewind("show", p.session+":"+at.entry); !strings.HasPrefix(out, "checkpoint ") {
			t.Errorf("show by session and entry: %s", out)
		}
	}
	// What the ancestor restores from now on is not the fork's to undo.
	p.choose("tree", user3, hookio.PiUndo)
	p.has("a=0")
	child := p.session
	p.session, p.parent = first, ""
	p.choose("tree", p.branch[1].ID, hookio.PiRestoreFiles)
	p.has("a=1")
	p.session, p.parent = child, "02a20117-a2c0-734a-9cf8-4c03b5521b8b"
	p.choose("tree", user3, hookio.PiUndo)
	p.has("a=2")
}

// A compaction and a branch's summary stand for the files at hand, and cost no checkpoint of their own.
func TestPiBindsSummaries(t *testing.T) {
	p := newPiLab(t)
	p.turn("one", func() { p.write("a", "1") })
	before := len(strings.Split(p.rewind("list", "--all", "--oneline"), "\n"))
	compaction := p.add("compaction", "")
	p.ask(hookio.PiBind, p.since())
	if after := len(strings.Split(p.rewind("list", "--all", "--oneline"), "\n")); after != before {
		t.Errorf("%d lines of list, and %d after a compaction", before, after)
	}
	p.turn("two", func() { p.write("a", "2") })
	p.choose("tree", compaction, hookio.PiRestoreFiles)
	p.has("a=1")
	// One that comes while the agent works stands for the files before the turn that it is found in.
	p.ask(hookio.PiPrompt, map[string]any{"prompt": "three"})
	between := p.add("compaction", "")
	p.add("message", "assistant")
	p.write("a", "3")
	p.ask(hookio.PiTurnEnd, p.since())
	p.choose("tree", between, hookio.PiRestoreFiles)
	p.has("a=1")
}

// What the extension that pi users had before did wrong: each file system is exact here.
func TestPiRestoresWhatGitCannot(t *testing.T) {
	p := newPiLab(t)
	p.git("init", "-q") // and no identity, which commits would need
	p.write("kept.log", "tracked")
	p.write("old", "name")
	p.git("add", "kept.log", "old")
	p.write(".gitignore", "*.log\nbuild/\n")
	p.write("build/out", "ignored")
	index, err := os.ReadFile(filepath.Join(p.root, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	user, _ := p.turn("one", func() {
		p.write("nested/file", "theirs")
		cmd := exec.Command("git", "init", "-q", "nested")
		cmd.Dir, cmd.Env = p.root, p.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		p.write("kept.log", "changed")
		p.remove("old")
		p.write("new", "name")
	})
	p.choose("fork", user, hookio.PiCodeOnly)
	if text, err := os.ReadFile(filepath.Join(p.root, "kept.log")); err != nil || string(text) != "tracked" {
		t.Errorf("a tracked file that is ignored: %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(p.root, "new")); err == nil {
		t.Error("a file was renamed, and both names are there")
	}
	if text, err := os.ReadFile(filepath.Join(p.root, "old")); err != nil || string(text) != "name" {
		t.Errorf("the renamed file: %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(p.root, "nested/.git/HEAD")); err != nil {
		t.Errorf("the nested repository that came later: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(p.root, "build/out")); err != nil || string(text) != "ignored" {
		t.Errorf("an ignored file: %q, %v", text, err)
	}
	if now, err := os.ReadFile(filepath.Join(p.root, ".git/index")); err != nil || !bytes.Equal(now, index) {
		t.Errorf("git's index has changed: %v", err)
	}
	refs, err := exec.Command("git", "-C", p.root, "for-each-ref").Output()
	if err != nil || len(refs) > 0 {
		t.Errorf("refs %q, %v", refs, err)
	}
}

// It works without a repository, in a directory of one, and is silent where that is set.
func TestPiWithoutSetUp(t *testing.T) {
	p := newPiLab(t)
	settings := filepath.Join(p.home, ".pi/agent/settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(`{"rewind":{"silentCheckpoints":true}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p.git("init", "-q")
	p.write("sub/a", "0")
	p.write("top", "0")
	top := p.root
	p.root = filepath.Join(top, "sub")
	user, _ := p.turn("one", func() {
		if err := os.WriteFile(filepath.Join(top, "top"), []byte("1"), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	if p.footer != "" {
		t.Errorf("a footer although it is to be silent: %q", p.footer)
	}
	if a := p.choose("fork", user, hookio.PiCodeOnly); len(a.Notices) > 0 {
		t.Errorf("a notice although it is to be silent: %+v", a.Notices)
	}
	p.root = top
	p.has("sub/a=0 top=0")
}

func TestPiRefusesAndSurvives(t *testing.T) {
	p := newPiLab(t)
	root := p.root
	p.root = p.home
	a := p.ask(hookio.PiPrompt, map[string]any{"prompt": "at home"})
	if !a.Off || len(a.Notices) != 1 {
		t.Errorf("in the home directory: %+v", a)
	}
	p.root, p.session = root, "04a20117-a2c0-734a-9cf8-4c03b5521b8d"
	p.extension = 9
	if a := p.ask(hookio.PiPrompt, map[string]any{"prompt": "one"}); len(a.Notices) != 1 || a.Notices[0].Once != "version" || a.State == "" {
		t.Errorf("an extension of another version: %+v", a)
	}
	p.extension = register.PiVersion
	if a := p.ask("news", nil); len(a.Notices) > 0 {
		t.Errorf("a kind that is not known: %+v", a)
	}
	if a := p.ask(hookio.PiTool, map[string]any{"tool": "bash", "command": "rm -rf .agent/rewind ~/.rewind"}); a.Block == "" {
		t.Error("the guard lets the store be removed")
	}
	if a := p.ask(hookio.PiTool, map[string]any{"tool": "bash", "command": "rm -f a"}); a.Block != "" {
		t.Errorf("the guard blocks what it need not: %s", a.Block)
	}
	for _, payload := range []string{"", "{}", "null", "[1]", `{"kind":3}`, `{"kind":"prompt"`, "\xff\xfe", `{"kind":"apply","entry":{}}`} {
		cmd := p.command("hook", "pi")
		cmd.Stdin = strings.NewReader(payload)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("payload %q: %v, printed %q", payload, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(p.root, ".agent/rewind/format"), []byte(`{"version": 9, "id": "767359dba201d00732eba12c0b08bdd5", "hash": "blake3-256", "chunker": "fastcdc-v1.0.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := p.ask(hookio.PiTurnEnd, p.since()); len(a.Notices) != 1 || a.Notices[0].Once != "failed" {
		t.Errorf("a broken store: %+v", a)
	}
	if a := p.choose("fork", "x", hookio.PiRestoreAll); !a.Cancel || len(a.Notices) != 1 {
		t.Errorf("a restore in a broken store: %+v", a)
	}
}

// The extension that pi users had before stays the one with menus where it is installed too.
func TestPiStandsBack(t *testing.T) {
	p := newPiLab(t)
	older := filepath.Join(p.home, ".pi/agent/extensions/rewind/index.ts")
	if err := os.MkdirAll(filepath.Dir(older), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(older, []byte(`const STORE_REF = "refs/pi-rewind/store";`), 0o600); err != nil {
		t.Fatal(err)
	}
	user, _ := p.turn("one", func() { p.write("a", "1") })
	a := p.ask(hookio.PiSessionStart, map[string]any{"reason": "startup"})
	if len(a.Notices) != 1 || a.Notices[0].Once != "older" || p.footer != "" {
		t.Errorf("session start beside an older extension: %+v, footer %q", a, p.footer)
	}
	if got := p.options("fork", user); len(got) > 0 {
		t.Errorf("two menus: %q", got)
	}
	if out := p.rewind("list", "--oneline"); len(out) == 0 {
		t.Error("no checkpoints beside an older extension")
	}
}
