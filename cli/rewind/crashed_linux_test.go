//go:build amd64 || arm64

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/tracee"
)

// A revert, or a restore, is killed at each of its changes, and an agent's checkpoint sees what it left. What comes back
// when that is put back stays whose it was: the revert after it does what it would have done, and not more.
func TestSeenHalfDone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	program := build(t)
	revert := []string{"revert", "--session", session, "--yes", "--json"}
	w := newWorld(t, program, scenario{name: "revert", args: revert, prepare: commanded})
	tree, store := w.project+"/", filepath.Join(w.project, ".agent")
	for name, args := range map[string][]string{"revert": revert, "restore": {"restore", "prev", "--yes", "--json"}} {
		w.args = args
		half := 0
		for n := 1; ; n++ {
			w.store(w.start)
			seen := 0
			r := w.trace(func(c *tracee.Call) tracee.Fate {
				if !c.Changes || !strings.HasPrefix(c.Path, tree) || strings.HasPrefix(c.Path, store) {
					return tracee.Fate{}
				}
				seen++
				return tracee.Fate{Kill: seen == n}
			})
			if log := w.rewind("log", "--json"); r.Code == 0 || strings.Contains(log, name+`"`) {
				break // it was done
			}
			v := &verdict{world: w, when: name + " killed, and seen"}
			dead := v.mine(v.load())
			w.prompt = 3
			w.rewind("hook", "claude")
			w.prompt = 0
			if n%2 == 0 {
				mine := n%4 == 0 // what the person writes before it is put back stays
				if mine {
					w.write("d/b.txt", "mine\n")
				}
				plan, _, planned := w.command("undo-restore", "--dry-run", "--json")
				if done, _, code := w.command("undo-restore", "--json"); pathsOf(t, plan) != pathsOf(t, done) || planned != code {
					v.wrong("put back: the dry run says %d\n%s, and then %d\n%s", planned, plan, code, done)
				}
				if mine {
					if now := v.mine(v.load()); now["project/d/b.txt"] != "mine\n" {
						v.wrong("put back: what the person wrote is gone")
					}
					v.tell(r)
					continue
				}
				if now := v.mine(v.load()); !same(now, w.user[0]) {
					v.wrong("put back: %s", difference(now, w.user[0]))
				}
			}
			v.next(revert...)
			if now := v.mine(v.load()); !same(now, w.user[1]) {
				v.wrong("reverted: %s", difference(now, w.user[1]))
			}
			v.next("undo-restore")
			if now := v.mine(v.load()); !same(now, w.user[0]) {
				v.wrong("that taken back: %s", difference(now, w.user[0]))
			}
			if v.tell(r); !same(dead, w.user[0]) {
				half++
			}
		}
		if half < 3 {
			t.Errorf("of %s only %d were seen half done", name, half)
		}
	}
}

// An undo or a redo that puts a restore back which was killed says that, and does nothing else.
func TestPutBackIsSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	w := newWorld(t, build(t), scenario{name: "restore", args: []string{"restore", "1", "--yes"}, prepare: func(w *world) {
		w.rewind("init")
		w.write("d/b.txt", "mine\n")
		w.write("new/f.txt", "mine\n")
	}})
	tree, store := w.project+"/", filepath.Join(w.project, ".agent")
	for _, verb := range []string{"undo", "redo", "undo-restore", "redo-restore"} {
		for n, half := 1, false; !half; n++ {
			w.store(w.start)
			seen := 0
			if r := w.trace(func(c *tracee.Call) tracee.Fate {
				if c.Changes && strings.HasPrefix(c.Path, tree) && !strings.HasPrefix(c.Path, store) {
					seen++
				}
				return tracee.Fate{Kill: seen == n}
			}); r.Code == 0 {
				t.Fatal("no kill left it half done")
			}
			_, told, _ := w.command("status")
			half = strings.Contains(told, "did not finish")
		}
		for _, said := range []struct{ args, want string }{
			{"--dry-run", "Would put back the restore that did not finish: files as before it.\n"},
			{"--yes", "Put back the restore that did not finish: files are as before it.\n"},
		} {
			if out, told, code := w.command(verb, said.args); code != 0 || !strings.Contains(out, said.want) {
				t.Errorf("%s %s: exit code %d: %s%s", verb, said.args, code, out, told)
			}
		}
		v := &verdict{world: w}
		if now := v.mine(v.load()); !same(now, w.user[0]) {
			t.Errorf("%s: %s", verb, difference(now, w.user[0]))
		}
	}
}

// pathsOf are the paths of a document of undo-restore, by what becomes of them.
func pathsOf(t *testing.T, document string) string {
	t.Helper()
	type paths []struct{ Path string }
	var d struct{ Create, Replace, Delete, Mode, Skip paths }
	if err := json.Unmarshal([]byte(document), &d); err != nil {
		t.Errorf("%v: %s", err, document)
	}
	for _, list := range []paths{d.Create, d.Replace, d.Delete, d.Mode, d.Skip} {
		slices.SortFunc(list, func(a, b struct{ Path string }) int { return strings.Compare(a.Path, b.Path) })
	}
	return fmt.Sprint(d)
}

// commanded is a project after an agent's turn with one command.
func commanded(w *world) {
	w.rewind("init")
	w.say(1)
	for _, event := range []string{"PreToolUse", "PostToolUse"} {
		hook := exec.Command(w.program, "hook", "claude")
		hook.Dir, hook.Env = w.project, w.env()
		hook.Stdin = strings.NewReader(fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"transcript_path":%q,"cwd":%q,"prompt_id":"p1","tool_name":"Bash","tool_use_id":"toolu_1","tool_input":{"command":"make"}}`,
			event, session, w.transcript(), w.project))
		if out, err := hook.CombinedOutput(); err != nil {
			w.Fatalf("%v: %s", err, out)
		}
		if event == "PreToolUse" {
			must(w.T, os.RemoveAll(filepath.Join(w.project, "d/e")))
			w.write("d/b.txt", "before\n"+strings.Repeat("two\n", 300))
			w.write("new/f.txt", "five\n")
			w.write("a.txt", "another\n")
			must(w.T, os.Chmod(filepath.Join(w.project, "a.txt"), 0o755))
		}
	}
	w.rewind("save")
	w.write("d/b.txt", "before\n"+strings.Repeat("two\n", 300)+"after\n")
}

// A restore with git's own state that is killed while it writes files is one operation with the same restore after it: one undo takes both back.
func TestKilledBeforeGitMoved(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	w := newWorld(t, build(t), scenario{name: "git", git: true, prepare: func(w *world) {
		w.runGit(".", "init", "-q", "-b", "main")
		w.runGit(".", "add", ".")
		w.runGit(".", "commit", "-qm", "one")
		w.runGit(".", "branch", "topic")
		w.rewind("init")
		w.write("d/b.txt", "mine\n")
		w.write("new/f.txt", "mine\n")
		w.runGit(".", "branch", "-qD", "topic")
		w.rewind("save")
	}})
	ids := w.list()
	tree := w.project + "/"
	for _, flag := range []string{"--git", "--git=exact"} {
		w.args = []string{"restore", ids[len(ids)-1], flag, "--yes", "--json"}
		w.store(w.start)
		v := &verdict{world: w, when: flag}
		before := v.mine(v.load())
		seen := 0
		r := w.trace(func(c *tracee.Call) tracee.Fate {
			if c.Changes && strings.HasPrefix(c.Path, tree) && !strings.HasPrefix(c.Path, tree+".agent") && !strings.HasPrefix(c.Path, tree+".git") {
				seen++
			}
			return tracee.Fate{Kill: seen == 4}
		})
		if r.Code == 0 || same(v.mine(v.load()), before) {
			t.Fatal("it was not killed while it wrote files")
		}
		if _, told, _ := w.command("status"); !strings.Contains(told, "the same command as before puts it back, too") {
			v.wrong("status: %s", told)
		}
		v.next(w.args...)
		if _, err := w.tryGit(".", "rev-parse", "topic"); err != nil {
			v.wrong("the branch did not return")
		}
		v.next("undo", "--yes")
		if now := v.mine(v.load()); !same(now, before) {
			v.wrong("undone: %s", difference(now, before))
		}
		if _, err := w.tryGit(".", "rev-parse", "--verify", "-q", "topic"); err == nil {
			v.wrong("undone, the branch is still there")
		}
		v.tell(r)
	}
}
