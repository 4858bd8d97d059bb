package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli"
)

// tmuxScreen is a real terminal that a shell with job control runs in.
type tmuxScreen struct {
	t        *testing.T
	dir, dot string
	env      []string
}

// newTmux opens a terminal of a size, in a new project with a home of its own.
func newTmux(t *testing.T, w, h string) *tmuxScreen {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: the picker is not tried in a real terminal (apt-get install tmux)")
	}
	base := t.TempDir()
	dot, err := os.MkdirTemp("", "t") // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	x := &tmuxScreen{t: t, dir: filepath.Join(base, "proj"), dot: dot}
	x.env = []string{cli.RaceExit, "HOME=" + filepath.Join(base, "home"), "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "PS1=$ ", "ENV=", "TMUX_TMPDIR=" + dot}
	for _, d := range []string{"proj", "home"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		x.tmux("kill-server") // of this socket, which is ours
		os.RemoveAll(dot)
	})
	if out, err := x.tmux("-f", "/dev/null", "new-session", "-d", "-x", w, "-y", h, "sh", "-im"); err != nil {
		t.Skipf("tmux does not start here: %v: %s", err, out)
	}
	return x
}

func (x *tmuxScreen) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-L", "rewind", "-u"}, args...)...)
	cmd.Dir, cmd.Env = x.dir, x.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// screen is what the terminal shows.
func (x *tmuxScreen) screen() string {
	x.t.Helper()
	out, err := x.tmux("capture-pane", "-p")
	if err != nil {
		x.t.Fatalf("%v: %s", err, out)
	}
	return out
}

// keys sends keys as tmux names them; other words are typed letter by letter, and all is after -l.
func (x *tmuxScreen) keys(keys ...string) {
	x.t.Helper()
	if out, err := x.tmux(append([]string{"send-keys"}, keys...)...); err != nil {
		x.t.Fatalf("%v: %s", err, out)
	}
}

// shows waits until the terminal shows all of these, as patterns.
func (x *tmuxScreen) shows(patterns ...string) {
	x.t.Helper()
	var last, missing string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		last, missing = x.screen(), ""
		for _, p := range patterns {
			if !regexp.MustCompile(p).MatchString(last) {
				missing = p
			}
		}
		if missing == "" {
			return
		}
	}
	x.t.Fatalf("%q does not come; the terminal shows\n%s", missing, last)
}

func (x *tmuxScreen) run(args ...string) {
	x.t.Helper()
	cmd := exec.Command("rewind", args...)
	cmd.Dir, cmd.Env = x.dir, x.env
	if out, err := cmd.CombinedOutput(); err != nil {
		x.t.Fatalf("rewind %v: %v: %s", args, err, out)
	}
}

func (x *tmuxScreen) write(name, content string) {
	x.t.Helper()
	file := filepath.Join(x.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		x.t.Fatal(err)
	}
}

func (x *tmuxScreen) has(name, content string) {
	x.t.Helper()
	b, err := os.ReadFile(filepath.Join(x.dir, name))
	if string(b) != content || content == "" && err == nil {
		x.t.Errorf("%s is %q, %v; want %q", name, b, err, content)
	}
}

// A wrecked afternoon, in a real terminal: look, filter, compare, restore, undo, redo, name, pin, single
// files; other sizes in the middle of it, a stop and a continuation, and the shell's screen back at the end.
func TestTmuxPicker(t *testing.T) {
	x := newTmux(t, "100", "30")
	x.write("src/main.go", "package main\n\nfunc main() {\n}\n")
	x.write("note.txt", "one\n")
	x.run("init")
	x.write("src/main.go", "package main\n\nfunc main() {\n\tprintln(\"世界\")\n}\n")
	x.run("save", "say", "hello")
	x.write("note.txt", "two\n")
	x.run("save", "a second note")
	if err := os.RemoveAll(filepath.Join(x.dir, "src")); err != nil {
		t.Fatal(err)
	}
	x.keys("echo before", "Enter", "rewind", "Enter")
	x.shows(`@ .*1 file changed since 1`, `> .*1 .*a second note`, `M note.txt +\+1 -1`, `\+two`)

	x.keys("j")
	x.shows(`> .*2 .*say hello`, `\+ +println\("世界"\)`)
	x.keys("d") // with now
	x.shows(`from 2 "say hello" to now`, `D src/main.go`)
	x.keys("d", "/", "second")
	x.shows(`/second.* 1 of 4`, `> .*a second note`)
	x.keys("Enter", "Escape")
	x.shows(`4 checkpoints|3 checkpoints`, `first checkpoint`)

	x.keys("g", "j", "Space", "j", "j", "Space") // 1 and 3
	x.shows(`comparing 1 with 3`, `from 3 .* to 1 `, `M note.txt`, `M src/main.go`)
	x.keys("Escape", "?") // both at once: a terminal sends the same for alt and ?
	x.shows(`two marks, of rows or attempts, are compared`)
	x.keys("q")
	x.shows(`what came before it`)
	x.keys("g", "j", "n", "v1")
	x.shows(`name of 1: v1`)
	x.keys("Enter")
	x.shows(`\[v1\] a second note`)
	x.keys("p")
	x.shows(`> .* 1\* `)

	x.keys("Enter")
	x.shows(`Restore to 1 \[v1\]`, `create +src/main.go`, `y/n restore to 1`, `u takes it back`)
	if out, err := x.tmux("resize-window", "-x", "40", "-y", "10"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	x.shows(`(?m)^y/n restore to 1 \[v1\].{0,20}$`)
	x.has("src/main.go", "")
	x.keys("y")
	x.shows(`Restored to 1 \[v1\]`, `as in 1 `)
	x.has("src/main.go", "package main\n\nfunc main() {\n\tprintln(\"世界\")\n}\n")
	if out, err := x.tmux("resize-window", "-x", "200", "-y", "60"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	x.shows(`conversation ─`, `◆.*restore +to 1 \[v1\]`)
	x.keys("u")
	x.shows(`Undo the restore`, `delete +src/main.go`)
	x.keys("y")
	x.shows(`(?m)^Undone: `)
	x.has("src/main.go", "")
	x.keys("U")
	x.shows(`Redo`, `create +src/main.go`)
	x.keys("y")
	x.shows(`(?m)^Redone: `)
	x.has("src/main.go", "package main\n\nfunc main() {\n\tprintln(\"世界\")\n}\n")
	x.keys("o")
	x.shows(`redo +of the undo of the restore to 1`, `undo +of the restore to 1`, `restore +to `)
	x.keys("q", "?")
	x.shows(`two marks, of rows or attempts, are compared`)
	x.keys("q", "G")
	x.shows(`> .*first checkpoint`)
	x.keys("f")
	x.shows(`0 of 2 chosen`)
	x.keys("Space")
	x.shows(`1 of 2 chosen`)
	x.keys("Enter")
	x.shows(`1 to replace`, `y/n`)
	x.keys("y")
	x.shows(`(?m)^Restored to 3`)
	x.has("note.txt", "one\n")
	x.has("src/main.go", "package main\n\nfunc main() {\n\tprintln(\"世界\")\n}\n")

	x.keys("C-z")
	x.shows(`before`, `(?i)stopped`)
	x.keys("fg", "Enter")
	x.shows(`> .*first checkpoint`)
	x.keys("q")
	x.shows(`echo before`, `Restored note.txt to `, `Redid the restore`, `rewind undo`, `(?m)^\$$`) // what was taken back is not mentioned
	if s := x.screen(); strings.Contains(s, "conversation ─") {
		t.Errorf("the picker is left on the screen:\n%s", s)
	}
	// The terminal is as it was: what is typed is shown, and a line's end ends it.
	x.keys("-l", "echo ty")
	x.keys("-l", "ped; rewind")
	x.keys("Enter")
	x.shows(`> .*first|> .*1\*`)
	x.keys("C-c")
	x.shows(`error: interrupted`, `(?m)^\$$`)
	x.keys("-l", "echo code $?")
	x.keys("Enter")
	x.shows(`(?m)^code 130`)
}

// Part of a file, and another file as a whole: chosen hunk by hunk, planned, done, taken back. A file that
// changed after its hunks were shown is left as it is.
func TestTmuxHunks(t *testing.T) {
	x := newTmux(t, "80", "24")
	var lines []string
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		lines = append(lines, "line "+string(c))
	}
	old := strings.Join(lines, "\n") + "\n"
	lines[0], lines[12], lines[14], lines[25] = "FIRST", "MIDDLE", "NEXT", "LAST"
	now := strings.Join(lines, "\n") + "\n"
	x.write("f", old)
	x.write("deep/er/gone", "gone\n")
	if err := os.Chmod(filepath.Join(x.dir, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	x.run("init")
	x.write("f", now)
	x.write("new", "new\n")
	if err := os.RemoveAll(filepath.Join(x.dir, "deep")); err != nil {
		t.Fatal(err)
	}

	x.keys("rewind", "Enter")
	x.shows(`@ .*3 files changed`)
	x.keys("j", "f")
	x.shows(`0 of 5 chosen`, `(?m)> \[ \] delete +new$`)
	x.keys("Right")
	x.shows(`All or nothing of new: not chosen`, `deleted file`)
	x.keys("Left", "j", "Right")
	x.shows(`Hunks of f, as in 1: 0 of 3 chosen`, `┃ +-FIRST`, `┃ +\+line a`)
	x.keys("j", "s")
	x.shows(`0 of 4 chosen`)
	x.keys("Space", "j", "Space") // MIDDLE and LAST
	x.shows(`2 of 4 chosen`, `\[x\] @@ -23,4`)
	x.keys("Escape", "G")
	x.shows(`\[~\] replace +2 of 4 hunks +f`, `> \[ \] create +deep/er/gone`)
	x.keys("Space", "Enter")
	x.shows(`2 hunks of f and 1 whole path`, `replace f`, `create +deep/er/gone`, `y/n restore to 1`)
	x.has("f", now)
	x.keys("y")
	x.shows(`(?m)^Restored to 1.* 2 hunks of f and 1 whole path`)
	x.has("f", strings.NewReplacer("MIDDLE", "line m", "LAST", "line z").Replace(now))
	x.has("deep/er/gone", "gone\n")
	x.has("new", "new\n")
	if fi, err := os.Stat(filepath.Join(x.dir, "deep")); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("the directory of what came back: %v, %v", fi, err)
	}
	x.keys("u")
	x.shows(`y/n undo the restore`)
	x.keys("y")
	x.shows(`(?m)^Undone: `)
	x.has("f", now)
	x.has("deep/er/gone", "")

	x.keys("G", "f")
	x.shows(`0 of 5 chosen`)
	x.keys("j", "Right")
	x.shows(`Hunks of f, as in \d+: 0 of 3 chosen`)
	x.keys("Space", "Enter")
	x.shows(`1 of 3 hunks of f`, `y/n`)
	x.write("other", "while it asks\n")
	x.keys("y")
	x.shows(`nothing was done: the files changed`)
	x.has("f", now)
	x.write("f", now+"more\n")
	x.keys("y")
	x.shows(`error: f changed since its hunks were shown \(f shows them as they are now\)`)
	x.has("f", now+"more\n")
	x.keys("f")
	x.shows(`0 of 6 chosen`)
	x.keys("j", "j", "Right")
	x.shows(`Hunks of f`)
	x.keys("Space", "Enter")
	x.shows(`1 of 3 hunks of f`, `y/n`)
	x.keys("y")
	x.shows(`(?m)^Restored to `)
	x.has("f", strings.Replace(now, "FIRST", "line a", 1)+"more\n")
	x.keys("q")
	x.shows(`Restored the chosen parts to `, `(?m)^\$$`)
}

// The details of a row say where git's HEAD was, and that it moved since the checkpoint before; a comparison and the plan say that
// it is on another branch now.
func TestTmuxGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	x := newTmux(t, "200", "40")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir, cmd.Env = x.dir, append(x.env, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	x.write("note.txt", "one\n")
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	x.run("init")
	git("switch", "-q", "-c", "topic")
	x.write("note.txt", "two\n")
	git("commit", "-q", "-a", "-m", "two")
	x.run("save", "on topic")
	git("switch", "-q", "main")
	x.run("save", "on main")
	x.keys("rewind", "Enter")
	x.shows(`> .*1 .*on main`, `git: HEAD was on branch topic at [0-9a-f]{8}, and then on branch main at [0-9a-f]{8}`)
	x.keys("j")
	x.shows(`> .*2 .*on topic`, `git: on topic [0-9a-f]+`, `git: HEAD was on branch main at [0-9a-f]{8}, and then on branch topic at`, `git, after it: switched topic`)
	x.keys("d")
	x.shows(`from 2 "on topic" to now`, `git: HEAD was on branch topic at [0-9a-f]{8}, and then on branch main at`)
	x.keys("Enter")
	x.shows(`HEAD is on branch main at [0-9a-f]{8}, and was on branch topic`)
}
