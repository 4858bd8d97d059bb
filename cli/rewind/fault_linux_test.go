//go:build amd64 || arm64

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/tracee"
)

// scenario is a command and what it finds.
type scenario struct {
	name    string
	args    []string
	prepare func(*world)
	again   []string // what to type after a fault, if not the same again
	initial bool     // there may be no store yet
	damaged bool     // the store is, until the command has succeeded
	removes bool     // the store is whole afterwards, or gone
	hook    bool     // succeeds whatever happens
	git     bool     // finds the git program
	brings  bool     // the checkpoints that it brings must be there in the end
	prompt  int      // what an agent's hook is told of: its n-th prompt
	edit    bool     // in place of the prompt, its hook is told of the end of an edit of a.txt
	forks   int      // conversations that it makes
}

func scenarios() []scenario {
	return []scenario{
		{name: "init", args: []string{"init", "--json"}, prepare: func(*world) {}, initial: true},
		{name: "save", args: []string{"save", "--json"}, prepare: saved},
		{name: "restore", args: []string{"restore", "prev", "--json"}, prepare: edited},
		{name: "undo-restore", args: []string{"undo-restore", "--json"}, prepare: func(w *world) {
			edited(w)
			w.rewind("restore", "last", "--", "a.txt")
			w.rewind("restore", "prev")
		}},
		{name: "restore-conversation", args: []string{"restore", "prompt~1", "--mode", "both", "--session", session, "--json"}, prepare: prompted, forks: 1},
		{name: "revert", args: []string{"revert", "prompt~2", "--include-shared", "--session", session, "--json"}, prepare: workedOn},
		{name: "hook", args: []string{"hook", "claude"}, prepare: prompted, hook: true, prompt: 3},
		{name: "hook-edit", args: []string{"hook", "claude"}, prepare: prompted, hook: true, prompt: 3, edit: true},
		{name: "gc", args: []string{"gc", "--keep", "1", "--json"}, prepare: edited},
		{name: "forget", args: []string{"forget", "--yes", "--json", "--", "gone.txt"}, prepare: leaky},
		{name: "repair", args: []string{"repair", "--json"}, prepare: edited},
		{name: "repair-damage", args: []string{"repair", "--json"}, prepare: damaged, damaged: true},
		{name: "fold", args: []string{"hook", "--detached", "ROOT", "--fold"}, prepare: edited, hook: true},
		{name: "deinit", args: []string{"deinit", "--yes", "--json"}, prepare: edited, initial: true, removes: true},
		{name: "stores-rm", args: []string{"stores", "rm", "ID", "--yes", "--force", "--json"}, prepare: edited, initial: true, removes: true},
		{name: "stores-rm-lost", args: []string{"stores", "rm", "ID", "--yes", "--force", "--json"}, prepare: func(w *world) {
			edited(w)
			must(w.T, os.RemoveAll(filepath.Join(w.project, ".agent")))
		}, initial: true, removes: true},
		{name: "rebuild", args: []string{"save", "--json"}, prepare: func(w *world) {
			edited(w)
			w.rewind("config", "ignore", `["*.tmp"]`)
			must(w.T, os.RemoveAll(filepath.Join(w.project, ".agent")))
		}},
		{name: "copy", args: []string{"save", "--json"}, prepare: func(w *world) {
			edited(w)
			w.leave(true)
		}},
		{name: "adopt", args: []string{"init", "--adopt", "ID", "--json"}, again: []string{"list"}, initial: true, brings: true, prepare: func(w *world) {
			edited(w)
			w.leave(false)
			must(w.T, os.RemoveAll(w.original()))
		}},
		{name: "adopt-copy", args: []string{"init", "--adopt", "ID", "--json"}, again: []string{"list"}, initial: true, brings: true, prepare: func(w *world) {
			edited(w)
			w.leave(false)
			out, errOut, code := w.commandIn(w.original(), "save") // where it is now is known
			if code != 0 {
				w.Fatalf("save in the moved project: %s%s", out, errOut)
			}
		}},
		{name: "register", args: []string{"config", "--register-hooks", "--json"}, prepare: agents},
		{name: "unregister", args: []string{"config", "--unregister-hooks", "--json"}, prepare: func(w *world) {
			agents(w)
			w.rewind("config", "--register-hooks")
		}},
	}
}

// saved is a project with a checkpoint and an edit after it.
func saved(w *world) {
	w.rewind("init")
	w.write("a.txt", "one\nmore\n")
}

// edited is one with three checkpoints, between which everything changes that can.
func edited(w *world) {
	saved(w)
	w.rewind("save")
	must(w.T, os.RemoveAll(filepath.Join(w.project, "d/e")))
	must(w.T, os.Remove(filepath.Join(w.project, "link")))
	must(w.T, os.Symlink("d", filepath.Join(w.project, "link")))
	must(w.T, os.Chmod(filepath.Join(w.project, "d/b.txt"), 0o755))
	w.write("new/f.txt", "five\n")
	w.rewind("save", "third")
	w.write("a.txt", "not saved\n")
}

// leaky is one with a file in a checkpoint that is not to stay.
func leaky(w *world) {
	edited(w)
	must(w.T, os.WriteFile(filepath.Join(w.project, "gone.txt"), []byte("not to stay\n"), 0o644))
	w.rewind("save")
	must(w.T, os.Remove(filepath.Join(w.project, "gone.txt")))
	w.rewind("save")
}

// prompted is a project after an agent's two prompts.
func prompted(w *world) {
	w.rewind("init")
	w.say(1)
	w.write("a.txt", "after the first prompt\n")
	w.say(2)
	w.write("a.txt", "after the second prompt\n")
}

// workedOn is a project after an agent's two turns, the second of which wrote into a file of the first, and an edit.
func workedOn(w *world) {
	w.rewind("init")
	w.say(1)
	must(w.T, os.RemoveAll(filepath.Join(w.project, "d/e")))
	w.write("d/b.txt", "before\n"+strings.Repeat("two\n", 300))
	w.write("new/f.txt", "five\n")
	must(w.T, os.Chmod(filepath.Join(w.project, "a.txt"), 0o755))
	w.say(2)
	w.write("d/b.txt", "before\n"+strings.Repeat("two\n", 300)+"after\n")
}

// agents are the settings of two of them.
func agents(w *world) {
	w.rewind("init")
	for file, text := range map[string]string{
		".claude/settings.json":  `{"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`,
		".factory/settings.json": "{\n  // a comment\n  \"model\": \"x\"\n}\n",
	} {
		must(w.T, os.WriteFile(filepath.Join(w.home, file), []byte(text), 0o644))
	}
}

// damaged is a store with a flipped byte, in objects that the working tree still holds.
func damaged(w *world) {
	saved(w)
	pack := filepath.Join(w.project, ".agent/rewind/objects/log-00000001.pack")
	before, err := os.Stat(pack)
	must(w.T, err)
	w.rewind("save")
	w.rewind("save") // a commit after it, or it would be the torn tail of a crash
	data, err := os.ReadFile(pack)
	must(w.T, err)
	data[before.Size()+30] ^= 0x40
	must(w.T, os.WriteFile(pack, data, 0o600))
	if _, _, code := w.command("verify", "--read-data"); code != 7 {
		w.Fatalf("verify of a damaged store: exit code %d", code)
	}
}

// fault is what happens to one call of a run.
type fault struct {
	name string
	hits func(*tracee.Call) bool // calls that can fail so
	fate tracee.Fate
	full bool // from then on nothing more fits on the disk
}

var (
	// An unlock that is made to fail would leave the lock with the process, which no kernel does: it would wait for itself.
	inputOutput = fault{name: "EIO", fate: tracee.Fate{Errno: syscall.EIO}, hits: func(c *tracee.Call) bool {
		return c.Name != "flock" || c.Flags&syscall.LOCK_UN == 0
	}}
	noSpace    = fault{name: "ENOSPC", fate: tracee.Fate{Errno: syscall.ENOSPC}, hits: func(c *tracee.Call) bool { return c.Writes }}
	refused    = fault{name: "EACCES", fate: tracee.Fate{Errno: syscall.EACCES}, hits: func(c *tracee.Call) bool { return c.ByName }}
	shortWrite = fault{name: "short write", fate: tracee.Fate{Short: true}, full: true, hits: func(c *tracee.Call) bool {
		return (c.Name == "write" || c.Name == "pwrite64") && c.Size > 1
	}}
	killed = fault{name: "kill", fate: tracee.Fate{Kill: true}, hits: func(c *tracee.Call) bool { return c.Changes }}
)

// plan lets the n-th call fail that the fault can hit; of a run without faults
// hit is that call.
func (f fault) plan(n int, hit **tracee.Call) func(*tracee.Call) tracee.Fate {
	seen := 0
	return func(c *tracee.Call) tracee.Fate {
		if seen >= n && f.full && c.Writes {
			return tracee.Fate{Errno: syscall.ENOSPC}
		}
		if !f.hits(c) {
			return tracee.Fate{}
		}
		if seen++; seen != n {
			return tracee.Fate{}
		}
		*hit = c
		return f.fate
	}
}

// points are the numbers of the calls that a fault can hit.
func (w *world) points(f fault) (n int) {
	for _, c := range w.run.Calls {
		if c.N > 0 && f.hits(c) {
			n++
		}
	}
	return n
}

// suffer runs the command with one fault and judges what is left.
func (w *world) suffer(f fault, n int) {
	w.store(w.start)
	var hit *tracee.Call
	r := w.trace(f.plan(n, &hit))
	if hit == nil {
		return // a run that needed fewer calls
	}
	when := fmt.Sprintf("%s at call %d, %s %s %s", f.name, hit.N, hit.Name, strings.TrimPrefix(hit.Path, w.base), strings.TrimPrefix(hit.To, w.base))
	told := &verdict{world: w, when: when}
	if f.fate.Kill {
		if r.Signal != syscall.SIGKILL {
			told.wrong("it was not killed: exit code %d", r.Code)
		}
	} else {
		told.report(r)
	}
	told.aftermath(r)
	told.tell(r)
}

// verdict is what was wrong after a fault.
type verdict struct {
	*world
	when   string
	faults []string
}

func (v *verdict) wrong(format string, args ...any) {
	v.faults = append(v.faults, fmt.Sprintf("- "+format, args...))
}

func (v *verdict) tell(r *tracee.Result) {
	v.Helper()
	if len(v.faults) > 0 {
		v.Errorf("%s\nexit code %d, stdout %q, stderr:\n%s\n%s", v.when, r.Code, r.Out, r.Err, strings.Join(v.faults, "\n"))
	}
}

// report judges how the command ended: a documented code, a message, and what they promise.
func (v *verdict) report(r *tracee.Result) {
	if strings.Contains(r.Err, "goroutine ") || strings.Contains(r.Err, "panic") {
		v.wrong("it panicked")
	}
	if v.hook && (r.Code != 0 || r.Out != "" && !strings.HasPrefix(r.Out, `{"systemMessage":`)) {
		v.wrong("the agent is told something")
	}
	now := v.mine(v.load())
	switch r.Code {
	case 0:
		// What was displaced may lie about until the next command, which is told.
		maps.DeleteFunc(now, func(path, _ string) bool { return isTemporary(path) })
		if !v.hook && !same(now, v.user[1]) {
			v.wrong("exit code 0, but the files are not as they should be: %s", difference(now, v.user[1]))
		}
	case 1, 4, 6, 7:
		if !same(now, v.user[0]) {
			v.wrong("exit code %d, but files have changed: %s", r.Code, difference(now, v.user[0]))
		}
	case 3:
	case 8:
		if !v.removes {
			v.wrong("nothing is to be refused")
		}
	default:
		v.wrong("exit code %d is not for this", r.Code)
	}
	forks := len(v.forks(v.load()))
	if r.Code == 0 && forks != v.scenario.forks || r.Code == 1 && forks != 0 {
		v.wrong("exit code %d, but there are %d forks of the conversation", r.Code, forks)
	}
	var failure struct {
		Error struct {
			Code    int
			Message string
		}
	}
	err := json.Unmarshal([]byte(r.Out), &failure)
	told := failure.Error.Code == r.Code && failure.Error.Message != "" || r.Code == 7 && strings.Contains(r.Out, `"damaged":[{`)
	if r.Code != 0 && r.Code != 3 && (err != nil || !told || !strings.Contains(r.Err, "rewind: error: ")) {
		v.wrong("no clear message")
	}
}

// aftermath judges what is left, and that the next commands work.
func (v *verdict) aftermath(r *tracee.Result) {
	v.quiet()
	if v.removes {
		v.removed(r)
		return
	}
	now := v.mine(v.load())
	for path := range union(now, v.user[0], v.user[1]) {
		if is := now[path]; is != v.user[0][path] && is != v.user[1][path] && !isTemporary(path) {
			v.wrong("%s is neither old nor new: %.40q", path, is)
		}
	}
	must := slices.Clone(v.ids)
	if id := savedID(r); r.Code == 0 && id != "" {
		must = append(must, id)
	}
	brought := false
	if v.brings { // a second time is refused
		_, _, code := v.command("list")
		brought = code == 0
	}
	if v.initial && !brought || v.damaged {
		v.next(v.argv()...)
	}
	v.next("verify", "--read-data")
	there := v.list()
	for _, id := range must {
		if !slices.Contains(there, id) {
			v.wrong("checkpoint %s is gone", id)
		}
	}
	v.next("save", "--json")
	if v.again != nil {
		v.next(v.again...)
	} else {
		v.next(v.argv()...)
	}
	for path := range v.load().Content(v.base) {
		if isTemporary(path) && !v.own(path) {
			v.wrong("%s was left", path)
		}
	}
}

// removed judges what is left of a store that was to be removed: all of it, or nothing that
// anybody believes; and that the next run removes the rest.
func (v *verdict) removed(r *tracee.Result) {
	out, errOut, code := v.command("list", "--all", "--json")
	switch {
	case code == 0 && r.Code == 0:
		v.wrong("it said that the store is gone, which can be listed")
	case code == 0:
		for _, id := range v.ids {
			if !strings.Contains(out, id) {
				v.wrong("checkpoint %s is gone, of a store that is there", id)
			}
		}
		v.next("verify", "--read-data")
	case code != 4:
		v.wrong("the store is half believed: list ends with %d: %s", code, errOut)
	}
	gone := func() bool {
		left, _ := filepath.Glob(filepath.Join(v.project, ".agent", "*"))
		mirror, _ := filepath.Glob(filepath.Join(v.home, ".rewind", "vault", "*"))
		known, _ := os.ReadFile(filepath.Join(v.home, ".rewind", "known"))
		return len(left) == 0 && len(mirror) == 0 && strings.Count(string(known), "\n") <= 1
	}
	was := gone()
	_, errOut, code = v.command(v.argv()...)
	if code != 0 && !(was && (code == 4 || code == 5)) {
		v.wrong("again: exit code %d: %s", code, errOut)
	}
	if !gone() {
		v.wrong("something of it is left")
	}
	for path := range v.user[0] {
		if v.mine(v.load())[path] != v.user[0][path] {
			v.wrong("%s is not as it was", path)
		}
	}
	v.next("init")
	v.next("save")
	v.next("verify", "--read-data")
}

func (v *verdict) next(args ...string) {
	out, errOut, code := v.command(args...)
	if code != 0 {
		v.wrong("then %s: exit code %d: %s%s", strings.Join(args, " "), code, out, errOut)
	}
}

// own reports whether a path is in the store or the account's directory. What a
// killed process left there is swept by gc, an hour later.
func (w *world) own(path string) bool {
	return strings.HasPrefix(path, "project/.agent/rewind") || strings.HasPrefix(path, "original/.agent/rewind/") || strings.HasPrefix(path, "home/.rewind/")
}

// isTemporary tells the names of files that are to be renamed or removed.
func isTemporary(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, ".rewind-tmp-") || strings.HasPrefix(name, ".tmp-") || strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".new")
}

func savedID(r *tracee.Result) string {
	var saved struct{ ID string }
	_ = json.Unmarshal([]byte(r.Out), &saved) // other commands have none
	return saved.ID
}

func same(a, b map[string]string) bool { return difference(a, b) == "" }

func difference(is, want map[string]string) string {
	for path := range union(is, want) {
		if is[path] != want[path] {
			return fmt.Sprintf("%s is %.40q, not %.40q", path, is[path], want[path])
		}
	}
	return ""
}

func union(all ...map[string]string) map[string]bool {
	paths := map[string]bool{}
	for _, m := range all {
		for path := range m {
			paths[path] = true
		}
	}
	return paths
}

// TestCommandFaults: whatever system call of a command fails, wherever it is killed, and wherever the power goes,
// the store is whole, every checkpoint that was reported is there, each file is old or new, and the next command works.
func TestCommandFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it many times")
	}
	playFaults(t, func(kind string, points int) int {
		return map[string]int{killed.name: 4, "power cut": 2, inputOutput.name: 3, noSpace.name: 1, refused.name: 1, shortWrite.name: 1}[kind]
	})
}

// TestSoakCommandFaults is the long form: every call of every command.
func TestSoakCommandFaults(t *testing.T) {
	if os.Getenv("REWIND_SOAK") == "" {
		t.Skip("set REWIND_SOAK, as make soak does")
	}
	playFaults(t, func(_ string, points int) int { return points })
}

// playFaults plays the scenarios, each with as many of the points of each kind
// of fault as some says.
func playFaults(t *testing.T, some func(kind string, points int) int) {
	program := build(t)
	var mu sync.Mutex
	total := map[string]int{}
	t.Cleanup(func() { t.Logf("in all: %v", total) })
	for at, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, program, s)
			count := map[string]int{}
			for _, f := range []fault{killed, inputOutput, noSpace, refused, shortWrite} {
				points := w.points(f)
				for _, n := range spread(points, some(f.name, points), at) {
					w.suffer(f, n)
					count[f.name]++
				}
			}
			points := w.points(killed)
			count["power cut"] = w.cut(uint64(at), spread(points, some("power cut", points), at))
			t.Logf("%d calls: %v", w.points(inputOutput), count)
			mu.Lock()
			defer mu.Unlock()
			for kind, n := range count {
				total[kind] += n
			}
		})
	}
}

// spread chooses some of the numbers from 1 to n, evenly; from turns the choice.
func spread(n, some, from int) (chosen []int) {
	some = min(some, n)
	for i := range some {
		chosen = append(chosen, 1+(i*n/some+from)%n)
	}
	return chosen
}
