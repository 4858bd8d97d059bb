package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli"
)

// earlierHooks are what an earlier version registered, and where.
var earlierHooks = []struct{ agent, file, now, before string }{
	{"claude", ".claude/settings.json", "Edit|Write|MultiEdit|NotebookEdit|Bash|PowerShell", "Bash|PowerShell"},
	{"droid", ".factory/settings.json", "Edit|Create|ApplyPatch|Execute", "Execute"},
	{"gemini", ".gemini/settings.json", "replace|write_file|run_shell_command", "run_shell_command"},
}

// before puts an earlier version's hooks into the agents' settings, and forgets that this one has registered.
func (a *installed) before() map[string]string {
	a.t.Helper()
	for _, h := range earlierHooks {
		a.write(filepath.Join(a.home, h.file), "{\n  \"model\": \"x\"\n}\n", 0o644)
	}
	a.rewind("config", "--register-hooks")
	out := map[string]string{}
	for _, h := range earlierHooks {
		file := filepath.Join(a.home, h.file)
		text := a.read(file)
		for _, event := range []string{"PostToolUse", "AfterTool"} {
			head, rest, ok := strings.Cut(text, `"`+event+`"`)
			if ok {
				text = head + `"` + event + `"` + strings.Replace(rest, h.now, h.before, 1)
			}
		}
		out[h.agent] = a.read(file)
		if text == out[h.agent] {
			a.t.Fatalf("%s has no end of edits:\n%s", h.agent, text)
		}
		a.write(file, text, 0o644)
	}
	if err := os.Remove(filepath.Join(a.home, ".rewind/registered")); err != nil {
		a.t.Fatal(err)
	}
	return out
}

func (a *installed) read(file string) string {
	a.t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(b)
}

// start is a session's start, as an agent reports it. It fails only for what keeps the hook from running. The detached
// processes that it leaves are on the leash.
func (a *installed) start(left *leash, agent string, n int) error {
	payload, _ := json.Marshal(map[string]string{"hook_event_name": "SessionStart", "source": "startup", "cwd": a.project,
		"session_id": fmt.Sprintf("%08d-0000-4000-8000-000000000001", n)})
	cmd := exec.Command(a.program(), "hook", agent)
	cmd.Dir, cmd.Env, cmd.Stdin = a.project, []string{cli.RaceExit, "HOME=" + a.home}, bytes.NewReader(payload)
	cmd.ExtraFiles = []*os.File{left.write}
	out, err := cmd.CombinedOutput()
	if err == nil && len(out) > 0 {
		err = fmt.Errorf("it says %s", out)
	}
	return err
}

// eventually waits for what a detached process does.
func (a *installed) eventually(what string, ok func() bool) {
	a.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			a.t.Fatalf("never: %s", what)
		}
	}
}

func (a *installed) known(agent string) (r struct {
	Generation int
	Failed     string
}) {
	var all []struct {
		Agent      string
		Generation int
		Failed     string
	}
	b, _ := os.ReadFile(filepath.Join(a.home, ".rewind/registered"))
	_ = json.Unmarshal(b, &all)
	for _, x := range all {
		if x.Agent == agent {
			r.Generation, r.Failed = x.Generation, x.Failed
		}
	}
	return r
}

// Sessions that start complete what an earlier version registered, once: sixteen of them at the same time leave one
// file, one backup of it; and what the person takes out afterwards stays out.
func TestRegistrationCompletesItself(t *testing.T) {
	a, left := newInstalled(t), newLeash(t)
	t.Cleanup(func() { // before the directory goes
		left.ended(t)
		left.close()
	})
	a.rewind("init", "--no-save")
	want := a.before()
	if out := a.rewind("validate"); strings.Count(out, "the start of its next session adds that by itself") != len(earlierHooks) {
		t.Errorf("validate does not say what is to come:\n%s", out)
	}
	for _, h := range earlierHooks {
		file := filepath.Join(a.home, h.file)
		old := a.read(file)
		backups := func() []string {
			found, err := filepath.Glob(file + ".rewind-backup-*")
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		had := len(backups())
		var all sync.WaitGroup
		for n := range 16 {
			all.Go(func() {
				if err := a.start(left, h.agent, n); err != nil {
					t.Errorf("%s: a session's start: %v", h.agent, err)
				}
			})
		}
		all.Wait()
		a.eventually(h.agent+" is completed", func() bool { return a.known(h.agent).Generation > 0 })
		if got := a.read(file); got != want[h.agent] {
			t.Errorf("%s: completed, it is\n%s\nwant\n%s", h.agent, got, want[h.agent])
		}
		if n := len(backups()) - had; n != 1 {
			t.Errorf("%s: %d backups", h.agent, n)
		}
		if out := a.rewind("validate"); !strings.Contains(out, "was added to "+file+" by itself") || strings.Contains(out, "does not call rewind at") && h.agent == "gemini" {
			t.Errorf("%s: validate says\n%s", h.agent, out)
		}
		a.write(file, old, 0o644) // the person takes it out again
		if err := a.start(left, h.agent, 99); err != nil {
			t.Error(err)
		}
		a.worker(h.agent)
		if a.read(file) != old {
			t.Errorf("%s: what the person took out is back", h.agent)
		}
		a.write(file, want[h.agent], 0o644)
	}
}

// worker is the detached process, waited for.
func (a *installed) worker(agent string) {
	a.t.Helper()
	cmd := exec.Command(a.program(), "hook", "--detached", a.project, "--complete="+agent)
	cmd.Env = []string{cli.RaceExit, "HOME=" + a.home}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		a.t.Fatalf("%v %s", err, out)
	}
}

// What is read-only or cannot be read is left alone, and validate says why; so is what a person registers now, or has taken out.
func TestRegistrationIsLeftAlone(t *testing.T) {
	a := newInstalled(t)
	a.rewind("init", "--no-save")
	want := a.before()
	file := filepath.Join(a.home, ".claude/settings.json")
	old := a.read(file)
	if err := os.Chmod(file, 0o444); err != nil {
		t.Fatal(err)
	}
	a.worker("claude")
	if got := a.known("claude"); got.Generation != 0 || !strings.HasSuffix(got.Failed, "settings.json is read-only") || a.read(file) != old {
		t.Errorf("a file that is read-only: %+v\n%s", got, a.read(file))
	}
	cmd := exec.Command(a.program(), "validate")
	cmd.Dir, cmd.Env = a.project, []string{cli.RaceExit, "HOME=" + a.home}
	if out, _ := cmd.Output(); !strings.Contains(string(out), "that was not added by itself: "+file+" is read-only") {
		t.Errorf("validate says\n%s", out)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	a.worker("claude")
	if a.read(file) != old {
		t.Error("it was tried again on the same day")
	}
	if err := os.Remove(filepath.Join(a.home, ".rewind/registered")); err != nil {
		t.Fatal(err)
	}
	// The file is a link, as keepers of dotfiles have it: its target is changed, and keeps its mode.
	real := filepath.Join(a.home, "dotfiles.json")
	if err := os.Rename(file, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, file); err != nil {
		t.Fatal(err)
	}
	a.worker("claude")
	info, err := os.Lstat(file)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 || a.read(real) != want["claude"] {
		t.Errorf("a link: %v %v\n%s", info, err, a.read(real))
	}
	if st, err := os.Stat(real); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("its mode: %v %v", st, err)
	}
	a.rewind("config", "--unregister-hooks")
	taken := a.read(real)
	a.worker("claude")
	if a.read(real) != taken {
		t.Error("what was taken out is back")
	}
}
