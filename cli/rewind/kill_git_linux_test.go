//go:build amd64 || arm64

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/tracee"
)

// repositories are those of the project of TestSoakKilledGitRestore: around it, a submodule, and one below it.
var repositories = []string{".", "mods/lib", "tools/clone"}

// TestSoakKilledGitRestore kills a restore of git's own state in several repositories before each of its changes. The same command
// then makes the state exact, and a restore of the checkpoint before it brings back what there was: nothing is lost. From each second
// point on, an undo, in one of its forms, puts it back first, and then there is nothing of it.
func TestSoakKilledGitRestore(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	program := build(t)
	for name, lose := range map[string]func(*world, string){
		"work": func(w *world, dir string) {
			w.runGit(dir, "stash", "drop", "-q")
			w.runGit(dir, "reset", "-q", "--hard", "HEAD~1")
			w.runGit(dir, "branch", "-qD", "topic")
			w.runGit(dir, "checkout", "-qb", "new")
			w.runGit(dir, "commit", "-q", "--allow-empty", "-m", "new")
			w.runGit(dir, "reflog", "expire", "--expire=now", "--all")
			w.runGit(dir, "gc", "-q", "--prune=now")
		},
		"git directories": func(w *world, dir string) {
			must(w.T, os.RemoveAll(filepath.Join(w.project, dir, ".git")))
			must(w.T, os.RemoveAll(filepath.Join(w.project, ".git")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "work" && os.Getenv("REWIND_SOAK") == "" {
				t.Skip("set REWIND_SOAK, as make soak does")
			}
			killGitRestores(t, program, lose)
		})
	}
}

func killGitRestores(t *testing.T, program string, lose func(*world, string)) {
	var was string
	w := newWorld(t, program, scenario{name: "git", git: true, args: []string{"restore", "prev", "--git=exact", "--yes", "--json"}, prepare: func(w *world) {
		outside := filepath.Join(w.base, "outside")
		must(t, os.MkdirAll(outside, 0o755))
		w.runGit(outside, "init", "-q", "-b", "main")
		w.runGit(outside, "commit", "-q", "--allow-empty", "-m", "outside")
		w.runGit(".", "init", "-q", "-b", "main")
		w.runGit(".", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", outside, "mods/lib")
		w.runGit(".", "clone", "-q", outside, "tools/clone")
		for _, dir := range repositories {
			file := filepath.Join(dir, "work.txt")
			for _, text := range []string{"one", "two", "stashed", "staged"} {
				w.write(file, text)
				w.runGit(dir, "add", "work.txt")
				switch text {
				case "one", "two":
					w.runGit(dir, "commit", "-qm", text)
				case "stashed":
					w.runGit(dir, "stash", "-q")
				}
			}
			w.runGit(dir, "branch", "topic", "HEAD~1")
		}
		w.rewind("init")
		was = w.gitSays()
		for _, dir := range repositories {
			lose(w, dir)
		}
		w.rewind("save")
	}})
	ids := w.list()
	w.args = []string{"restore", ids[len(ids)-1], "--git=exact", "--yes", "--json"}
	back := []string{"restore", ids[len(ids)-2], "--git=exact", "--yes", "--json"}
	if now := w.gitSays(); now != was {
		t.Fatalf("it is\n%s\nand was\n%s", now, was)
	}
	w.store(w.start)
	lost := w.gitSays()
	changes := fault{hits: func(c *tracee.Call) bool {
		return c.Changes && strings.HasPrefix(c.Path, w.project+"/") && strings.Contains(c.Path, "/.git")
	}, fate: tracee.Fate{Kill: true}}
	points, step := w.points(changes), 1
	if os.Getenv("REWIND_SOAK") == "" {
		step = max(1, points/2) // each, in a soak
	}
	t.Logf("%d points", points)
	for n := 1; n <= points; n += step {
		w.store(w.start)
		var hit *tracee.Call
		r := w.trace(changes.plan(n, &hit))
		if hit == nil {
			break
		}
		v := &verdict{world: w, when: fmt.Sprintf("killed at %d of %d, %s %s %s", n, points, hit.Name, strings.TrimPrefix(hit.Path, w.base), strings.TrimPrefix(hit.To, w.base))}
		if puts := putsBack[(n-1)/step%len(putsBack)]; puts != nil {
			_, told, _ := w.command("status")
			if begun := strings.Contains(told, "git's own state may be"); begun {
				v.next(puts...)
			}
			if now := w.gitSays(); now != lost && !strings.Contains(lost, "fatal") {
				v.wrong("put back by %q, it is\n%s\nand was\n%s", puts, now, lost)
			}
			if _, told, _ := w.command("status"); strings.Contains(told, "git's own state may be") {
				v.wrong("put back by %q: %s", puts, told)
			}
		}
		v.next(w.args...)
		if now := w.gitSays(); now != was {
			v.wrong("it is\n%s\nand was to be\n%s", now, was)
		}
		if !strings.Contains(lost, "fatal") { // of a git directory that was gone there is nothing to go back to
			v.next(back...)
			if now := w.gitSays(); now != lost {
				v.wrong("back, it is\n%s\nand was\n%s", now, lost)
			}
		}
		for _, dir := range repositories {
			if out, err := w.tryGit(dir, "fsck", "--full", "--no-dangling"); err != nil || out != "" {
				v.wrong("fsck of %s: %v %s", dir, err, out)
			}
		}
		for _, pattern := range []string{".git.rewind-*", "*/*/.git.rewind-*", ".git/rewind-*", ".git/*.lock", ".git/modules/*/*/rewind-*", "*/*/.git/rewind-*", "*/*/.git/*.lock"} {
			if left, _ := filepath.Glob(filepath.Join(w.project, pattern)); len(left) > 0 {
				v.wrong("left %v", left)
			}
		}
		v.tell(r)
		if t.Failed() {
			return
		}
	}
}

// putsBack are commands that put a killed restore back, in turn; nil: none before the same restore.
var putsBack = [][]string{nil, {"undo", "--yes"}, {"undo", "--git", "--yes"}, nil, {"undo", "--code-only", "--yes"}, {"redo", "--yes"}}

// gitSays is what git says of all repositories.
func (w *world) gitSays() string {
	var text strings.Builder
	for _, dir := range repositories {
		for _, args := range [][]string{
			{"for-each-ref", "--format=%(refname) %(objectname) %(symref)"}, {"stash", "list", "--format=%gs %H"}, {"ls-files", "-s"}, {"symbolic-ref", "HEAD"}, {"rev-parse", "HEAD"},
		} {
			out, err := w.tryGit(dir, args...)
			fmt.Fprintln(&text, dir, args[0], out)
			if err != nil {
				fmt.Fprintln(&text, "fatal")
			}
		}
	}
	return text.String()
}

func (w *world) runGit(dir string, args ...string) {
	w.Helper()
	if out, err := w.tryGit(dir, args...); err != nil {
		w.Fatalf("git %v in %s: %v: %s", args, dir, err, out)
	}
}

func (w *world) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	if cmd.Dir = dir; !filepath.IsAbs(dir) {
		cmd.Dir = filepath.Join(w.project, dir)
	}
	cmd.Env = append(w.env(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_CEILING_DIRECTORIES="+filepath.Dir(cmd.Dir),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
