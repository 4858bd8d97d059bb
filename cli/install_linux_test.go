package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// installing is install.sh at a terminal, in an empty home.
type installing struct {
	*terminal
	home, program, script string
}

func newInstalling(t *testing.T) *installing {
	t.Helper()
	script, err := filepath.Abs("../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	x := newTerminal(t)
	i := &installing{x, filepath.Join(filepath.Dir(x.dir), "home"), program(t), script}
	for n, v := range i.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			i.env[n] = "PATH=" + filepath.Join(i.home, "tools") + ":" + path
		}
	}
	return i
}

// answers runs the script and types an answer at each question, in this order.
// It gives the exit code and all that was on the screen.
func (i *installing) answers(args []string, dialogue ...string) (int, string) {
	i.t.Helper()
	cmd := i.startProgram("sh", append([]string{i.script}, args...)...)
	screen := ""
	for d := 0; d < len(dialogue); d += 2 {
		i.expect(dialogue[d])
		screen += i.take()
		i.send(dialogue[d+1] + "\n")
	}
	code := i.wait(cmd)
	i.settle()
	return code, screen + i.take()
}

// hooked reports whether a file registers the installed program.
func (i *installing) hooked(name string) bool {
	data, _ := os.ReadFile(filepath.Join(i.home, name)) // none: not registered
	return strings.Contains(string(data), fmt.Sprintf("'%s/.local/bin/rewind' hook", i.home))
}

func (i *installing) put(name, content string) string {
	i.t.Helper()
	file := filepath.Join(i.home, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		i.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
		i.t.Fatal(err)
	}
	return file
}

// setting is what the installed program says.
func (i *installing) setting(key string) string {
	i.t.Helper()
	cmd := exec.Command(filepath.Join(i.home, ".local/bin/rewind"), "config", key)
	cmd.Dir, cmd.Env = i.dir, i.env
	out, err := cmd.Output()
	if err != nil {
		i.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

const (
	askTier     = "minimal, balanced or aggressive? [balanced]"
	askAutoInit = "session starts in it? [no]"
	askHooks    = "of this account? [yes]"
	askAgain    = "Bring them up to date? [yes]"
)

// The questions: each is asked once, a wrong answer again; what the flags say is
// not asked; hooks that are there are brought up to date but after a no.
func TestInstallAsks(t *testing.T) {
	i := newInstalling(t)
	i.put(".claude/settings.json", "{\n  \"model\": \"opus\" // mine\n}\n")
	code, screen := i.answers([]string{"--binary", i.program}, askTier, "fast", askTier, "minimal", askAutoInit, "yes", askHooks, "")
	if code != 0 || !i.hooked(".claude/settings.json") {
		t.Errorf("exit code %d\n%s", code, screen)
	}
	for _, want := range []string{"balanced    also before each prompt", "Installed " + i.home + "/.local/bin/rewind.", "Backed up ", "settings.json.rewind-backup-"} {
		if !strings.Contains(strings.ReplaceAll(screen, "\r\n", "\n"), want) {
			t.Errorf("%q is not on the screen:\n%s", want, screen)
		}
	}
	if tier, auto := i.setting("tier"), i.setting("autoInit"); tier != "minimal" || auto != "true" {
		t.Errorf("tier %s, autoInit %s", tier, auto)
	}

	before, err := os.ReadFile(filepath.Join(i.home, ".claude/settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	code, screen = i.answers([]string{"--binary", i.program, "--tier", "aggressive"}, askAutoInit, "", askAgain, "no")
	if code != 0 || !strings.Contains(screen, "No hooks were registered") || strings.Contains(screen, askTier) {
		t.Errorf("exit code %d\n%s", code, screen)
	}
	if tier, auto := i.setting("tier"), i.setting("autoInit"); tier != "aggressive" || auto != "false" {
		t.Errorf("tier %s, autoInit %s", tier, auto)
	}
	code, screen = i.answers([]string{"--binary", i.program, "--tier", "balanced", "--auto-init", "no"}, askAgain, "")
	if code != 0 || !strings.Contains(screen, "were already registered") {
		t.Errorf("exit code %d\n%s", code, screen)
	}
	if after, err := os.ReadFile(filepath.Join(i.home, ".claude/settings.json")); err != nil || string(after) != string(before) {
		t.Errorf("registered anew, the file is\n%s (%v)", after, err)
	}

	code, screen = i.answers([]string{"--uninstall"}, "[no]", "")
	if code != 0 || !strings.Contains(screen, "Nothing was changed.") || !i.hooked(".claude/settings.json") {
		t.Errorf("exit code %d\n%s", code, screen)
	}
	code, screen = i.answers([]string{"--uninstall"}, "[no]", "yes")
	if _, err := os.Lstat(filepath.Join(i.home, ".local/bin/rewind")); code != 0 || err == nil || i.hooked(".claude/settings.json") {
		t.Errorf("exit code %d, program: %v\n%s", code, err, screen)
	}
}

// An older tool's links are replaced, and its directory goes if the person says
// so; what it shares with other things is never offered.
func TestInstallOverAnOlderTool(t *testing.T) {
	i := newInstalling(t)
	args := []string{"--binary", i.program, "--tier", "balanced", "--auto-init", "no", "--hooks", "no"}
	link := func(name, target string) {
		t.Helper()
		file := filepath.Join(i.home, ".local/bin", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, file); err != nil {
			t.Fatal(err)
		}
	}
	old := i.put("older/smart-checkpoint.sh", "#!/bin/sh\n")
	link("rewind", "../../older/smart-checkpoint.sh")
	link("smart-checkpoint", old)
	for _, answer := range []string{"no", "yes"} {
		code, screen := i.answers(args, "older? It contains no checkpoints. [no]", answer)
		_, err := os.Stat(old)
		if code != 0 || !strings.Contains(screen, "That tool is in "+i.home+"/older.") || (err == nil) != (answer == "no") {
			t.Errorf("%s: exit code %d, the old file: %v\n%s", answer, code, err, screen)
		}
		if info, err := os.Lstat(filepath.Join(i.home, ".local/bin/rewind")); err != nil || !info.Mode().IsRegular() {
			t.Errorf("the program is a link still (%v)", err)
		}
		if to, err := os.Readlink(filepath.Join(i.home, ".local/bin/smart-checkpoint")); err != nil || to != "rewind" {
			t.Errorf("smart-checkpoint leads to %q (%v)", to, err)
		}
		link("rewind", "../../older/smart-checkpoint.sh")
		link("smart-checkpoint", old)
	}
	// Not ~/.local, although the older tool's name is in it.
	shared := i.put(".local/share/tool/program", "#!/bin/sh\n")
	link("rewind", shared)
	if err := os.Remove(filepath.Join(i.home, ".local/bin/smart-checkpoint")); err != nil {
		t.Fatal(err)
	}
	i.put(".local/bin/smart-checkpoint", "#!/bin/sh\n")
	if code, screen := i.answers(args); code != 0 || strings.Contains(screen, "Remove") {
		t.Errorf("exit code %d\n%s", code, screen)
	}
	if _, err := os.Stat(shared); err != nil {
		t.Error(err)
	}
}

// The program is built where none is given; one that would not stay gets no hooks.
func TestInstallBuilds(t *testing.T) {
	i := newInstalling(t)
	i.put("tools/go", "#!/bin/sh\nprintf '%s ' \"$@\" >\"$HOME/words\"\nwhile [ \"$1\" != -o ]; do shift; done\ncp "+i.program+" \"$2\"\n")
	i.put(".claude/settings.json", "{}\n")
	if code, screen := i.answers([]string{"--yes"}); code != 0 || !i.hooked(".claude/settings.json") {
		t.Errorf("exit code %d\n%s", code, screen)
	}
	words, err := os.ReadFile(filepath.Join(i.home, "words"))
	if err != nil || !strings.HasPrefix(string(words), "build ") || !strings.HasSuffix(string(words), " ./cli/rewind ") {
		t.Errorf("go %s (%v)", words, err)
	}
	for _, checkout := range []string{".git/HEAD", "go.mod"} {
		base := filepath.Join("checkout", filepath.Base(checkout))
		i.put(filepath.Join(base, checkout), "x\n")
		_, screen := i.answers([]string{"--yes", "--prefix", filepath.Join(i.home, base)})
		if !strings.Contains(screen, "is inside a checkout") || !strings.Contains(screen, "The hooks were not registered") {
			t.Errorf("%s:\n%s", checkout, screen)
		}
	}
	if data, err := os.ReadFile(filepath.Join(i.home, ".claude/settings.json")); err != nil || strings.Contains(string(data), "checkout") {
		t.Errorf("%s (%v)", data, err)
	}
	i.put("tools/go", "#!/bin/sh\nexit 1\n")
	if code, screen := i.answers([]string{"--yes"}); code != 1 || !strings.Contains(screen, "the build failed") {
		t.Errorf("exit code %d\n%s", code, screen)
	}
}

func TestShellScriptsAreClean(t *testing.T) {
	check, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("no shellcheck here")
	}
	if out, err := exec.Command(check, "../install.sh", "../docs/demo.sh", "../docs/fuzz.sh", "../docs/dist.sh", "../docs/get.sh").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
