package gitrestore

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// crash is what a child process is asked for: to be killed at a step.
type crash struct {
	Source Source
	Target Target
	Mode   Mode
	Step   int // 0: not at all
}

const crashVariable = "REWIND_TEST_GITRESTORE_CRASH"

// TestMain plays the child, which applies a plan and prints how many steps there were.
func TestMain(m *testing.M) {
	text := os.Getenv(crashVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var c crash
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		panic(err)
	}
	p, err := MakePlan(context.Background(), c.Source, c.Target, c.Mode, "42")
	if err != nil {
		panic(err)
	}
	steps := 0
	p.step = func(string) error {
		if steps++; steps == c.Step {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
		return nil
	}
	if _, err := p.Apply(context.Background()); err != nil {
		panic(err)
	}
	fmt.Print(steps)
}

// crashAt runs the child in a box.
func (b *box) crashAt(c crash) (steps int, killed bool) {
	b.t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(b.env(), crashVariable+"="+string(text))
	out, err := cmd.CombinedOutput()
	if err != nil {
		if c.Step == 0 {
			b.t.Fatalf("%v: %s", err, out)
		}
		return 0, true
	}
	steps, _ = strconv.Atoi(string(out))
	return steps, false
}

// TestSoakKilledAtEachStep kills the process at each of its steps: what comes after finishes it.
func TestSoakKilledAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each step, in which -race sees nothing that it does not see in the others")
	}
	for name, lose := range map[string]func(*box){
		"work": func(b *box) {
			b.git("rebase", "--abort")
			b.git("checkout", "-q", "main")
			b.git("branch", "-qD", "topic", "dir/file")
			b.git("branch", "dir")
			b.git("reset", "-q", "--hard", "HEAD~1")
			b.git("stash", "drop", "-q")
			b.stash("a", "new")
			b.git("worktree", "remove", "--force", b.dir+"-linked")
			b.forget()
		},
		"half of the git directory": func(b *box) {
			for _, name := range []string{"HEAD", "refs", "hooks"} {
				if err := os.RemoveAll(filepath.Join(b.dir, ".git", name)); err != nil {
					b.t.Fatal(err)
				}
			}
		},
		"git directory": func(b *box) {
			if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
				b.t.Fatal(err)
			}
		},
	} {
		for _, mode := range []Mode{Exact, Missing} {
			t.Run(fmt.Sprint(name, mode), func(t *testing.T) {
				if mode == Missing && os.Getenv("REWIND_SOAK") == "" {
					t.Skip("set REWIND_SOAK, as make soak does")
				}
				killEach(t, lose, mode)
			})
		}
	}
}

func killEach(t *testing.T, lose func(*box), mode Mode) {
	b := started(t)
	b.stash("a", "first")
	b.stash("a", "second")
	b.git("branch", "dir/file")
	b.git("worktree", "add", "-q", "-b", "linked", b.dir+"-linked")
	b.git("checkout", "-qb", "topic", "HEAD~1")
	b.commit("a", "topic")
	if _, err := b.try(b.dir, "rebase", "main"); err == nil {
		t.Fatal("no conflict")
	}
	s := b.save()
	saved := s.Dir
	was := b.look(b.dir)
	lose(b)
	lost := t.TempDir()
	if err := os.CopyFS(filepath.Join(lost, "work"), os.DirFS(b.dir)); err != nil {
		t.Fatal(err)
	}
	var want look
	for step := 0; ; step++ {
		if err := os.RemoveAll(b.dir); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(b.dir, os.DirFS(filepath.Join(lost, "work"))); err != nil {
			t.Fatal(err)
		}
		s := s
		s.Dir = filepath.Join(t.TempDir(), "saved") // Apply takes files from there
		if err := os.CopyFS(s.Dir, os.DirFS(saved)); err != nil {
			t.Fatal(err)
		}
		_, killed := b.crashAt(crash{s, b.target(), mode, step})
		if step > 0 && !killed {
			t.Logf("%d steps", step-1)
			break
		}
		if step == 0 {
			want = b.look(b.dir)
			if mode == Exact {
				b.same(was, want, "refs", "stash", "index", "head")
			}
			continue
		}
		if p := b.plan(s, b.target(), mode); len(p.Refusals) > 0 {
			t.Fatalf("step %d: refused: %q", step, p.Refusals)
		}
		if _, err := b.plan(s, b.target(), mode).Apply(t.Context()); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		b.same(want, b.look(b.dir), "refs", "stash", "index", "head", "status")
		b.git("fsck", "--full", "--no-dangling")
		for _, pattern := range []string{b.dir + "/.git?*", b.dir + "/.git/" + workPrefix + "*", b.dir + "/.git/*.lock", b.dir + "/.git/refs/*.lock", b.dir + "/.git/refs/heads/*.lock"} {
			if left, _ := filepath.Glob(pattern); len(left) > 0 {
				t.Errorf("step %d left %v", step, left)
			}
		}
		if t.Failed() {
			t.Fatalf("at step %d", step)
		}
	}
}
