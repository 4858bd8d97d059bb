//go:build amd64 || arm64

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rewind-cli/rewind/internal/testkit/crashfs"
	"github.com/rewind-cli/rewind/internal/testkit/tracee"
)

// world is a project and an account in which commands of the built program meet
// faults. It can be put back to where a scenario begins as often as wanted.
type world struct {
	*testing.T
	scenario
	base, project, home string
	program             string
	storeID             string   // of the account's store
	more                []string // of the environment

	start *crashfs.FS // what the disk holds when the command begins
	end   *crashfs.FS // and when it has ended
	run   *tracee.Result
	user  [2]map[string]string // the person's files before and after the command
	ids   []string             // checkpoints that must be there, whatever happens
}

// build builds the program for the tests below t.
func build(t *testing.T) (program string) {
	t.Helper()
	dir := scratch(t)
	program = filepath.Join(dir, "rewind")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// scratch is a temporary directory, in memory where there is room: what a disk
// would keep is not seen here, and fsync would take most of the time.
func scratch(t *testing.T) string {
	const memory, room = "/dev/shm", 2 << 30 // more than what rewind leaves free
	var st unix.Statfs_t
	if err := unix.Statfs(memory, &st); err != nil || st.Bavail*uint64(st.Bsize) < room {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "rewind-faults-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// setUp makes the project and the account that a scenario begins with.
func setUp(t *testing.T, program string, s scenario) *world {
	base, err := filepath.EvalSymlinks(scratch(t))
	must(t, err)
	w := &world{T: t, scenario: s, base: base, project: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	// In the home, or hooks could not be registered: a temporary directory does not stay.
	w.program = filepath.Join(w.home, "bin", "rewind")
	for _, dir := range append(w.dirs(), filepath.Dir(w.program)) {
		must(t, os.MkdirAll(dir, 0o700))
	}
	must(t, os.Link(program, w.program))
	w.write("a.txt", "one\n")
	w.write("d/b.txt", strings.Repeat("two\n", 300))
	w.write("d/e/c.txt", "three\n")
	w.write(".gitignore", "*.log\n")
	w.write("d/ignored.log", "ignored\n")
	must(t, os.Symlink("a.txt", filepath.Join(w.project, "link")))
	w.prepare(w)
	if known, err := os.ReadFile(filepath.Join(w.home, ".rewind", "known")); err == nil {
		_, line, _ := strings.Cut(string(known), "\n")
		w.storeID, _, _ = strings.Cut(line, " ")
	}
	return w
}

// newWorld sets a scenario up and plays it once without faults.
func newWorld(t *testing.T, program string, s scenario) *world {
	w := setUp(t, program, s)
	w.start = w.load()
	before := w.list()
	w.store(w.start)
	w.run = w.trace(nil)
	if w.run.Code != 0 {
		t.Fatalf("without a fault: exit code %d: %s", w.run.Code, w.run.Err)
	}
	w.end = w.load()
	w.user = [2]map[string]string{w.mine(w.start), w.mine(w.end)}
	after := w.list()
	if s.removes {
		w.ids = before
	}
	for _, id := range after {
		if w.brings || slices.Contains(before, id) {
			w.ids = append(w.ids, id)
		}
	}
	if _, err := os.Stat(w.original()); err == nil {
		was := w.content(w.original())
		t.Cleanup(func() {
			if now := w.content(w.original()); !same(now, was) {
				t.Errorf("the directory that the store came from has changed: %s", difference(now, was))
			}
		})
	}
	return w
}

// original is the directory that the store was made in, where the project is another one.
func (w *world) original() string { return filepath.Join(w.base, "original") }

// content is what is in a directory.
func (w *world) content(dir string) map[string]string {
	disk := crashfs.New()
	must(w.T, disk.Load(dir))
	return disk.Content(dir)
}

// leave moves the project away, and puts another directory in its place: a
// copy, or one with the person's files alone.
func (w *world) leave(store bool) {
	w.Helper()
	must(w.T, os.Rename(w.project, w.original()))
	must(w.T, os.Mkdir(w.project, 0o700))
	must(w.T, os.CopyFS(w.project, os.DirFS(w.original())))
	if !store {
		must(w.T, os.RemoveAll(filepath.Join(w.project, ".agent")))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dirs are all that a command may change.
func (w *world) dirs() []string {
	dirs := []string{w.project, filepath.Join(w.home, ".rewind"), filepath.Join(w.home, ".claude"), filepath.Join(w.home, ".factory")}
	if _, err := os.Stat(w.original()); err == nil {
		dirs = append(dirs, w.original())
	}
	return dirs
}

func (w *world) write(path, text string) {
	w.Helper()
	file := filepath.Join(w.project, path)
	must(w.T, os.MkdirAll(filepath.Dir(file), 0o755))
	must(w.T, os.WriteFile(file, []byte(text), 0o644))
}

func (w *world) load() *crashfs.FS {
	w.Helper()
	disk := crashfs.New()
	for _, dir := range w.dirs() {
		must(w.T, disk.Load(dir))
	}
	return disk
}

func (w *world) store(disk *crashfs.FS) {
	w.Helper()
	w.quiet()
	for _, dir := range w.dirs() {
		must(w.T, disk.Store(dir))
	}
}

// quiet waits for what a hook left to a process of its own.
func (w *world) quiet() {
	w.Helper()
	if w.prompt == 0 {
		return
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		running, err := filepath.Glob("/proc/[0-9]*/exe")
		must(w.T, err)
		if !slices.ContainsFunc(running, func(exe string) bool {
			program, _ := os.Readlink(exe) // one that has just ended has none
			return program == w.program
		}) {
			return
		}
	}
	w.Fatal("a process that a hook started does not end")
}

// mine are the files that are not rewind's own.
func (w *world) mine(disk *crashfs.FS) map[string]string {
	all, forks := disk.Content(w.base), w.forks(disk)
	maps.DeleteFunc(all, func(path, _ string) bool {
		return w.own(path) || backup.MatchString(path) || slices.Contains(forks, filepath.Base(path))
	})
	return all
}

// backup is a copy of a settings file that registering hooks keeps.
var backup = regexp.MustCompile(`^home/.*\.json\.rewind-backup`)

func (w *world) env() []string {
	// One processor, so that the calls come in the same order in each run.
	path := ""
	if w.git {
		path = os.Getenv("PATH")
	}
	return append([]string{"HOME=" + w.home, "PATH=" + path, "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1"}, w.more...)
}

// counts: all of the project and the account but the program itself.
func (w *world) counts(path string) bool {
	return strings.HasPrefix(path, w.base+"/") && !strings.HasPrefix(path, filepath.Dir(w.program)) && !strings.HasPrefix(path, w.base+"/scratch")
}

// trace runs the scenario's command.
func (w *world) trace(plan func(*tracee.Call) tracee.Fate) *tracee.Result {
	w.Helper()
	scratch := filepath.Join(w.base, "scratch")
	must(w.T, os.MkdirAll(scratch, 0o700))
	tracer := tracee.Tracer{
		Program: w.program, Args: w.argv(), Dir: w.project, Env: w.env(), Scratch: scratch, Counts: w.counts, Plan: plan, Data: true,
		In: w.input(),
	}
	r, err := tracer.Run()
	var refused *tracee.RefusedError
	if errors.As(err, &refused) && os.Getenv("CI") == "" {
		w.Skipf("NOT TESTED: %v", err)
	}
	must(w.T, err)
	return r
}

// argv are the words of the scenario's command.
func (w *world) argv() []string {
	args := slices.Clone(w.args)
	if i := slices.Index(args, "ROOT"); i >= 0 {
		args[i] = w.project
	}
	if i := slices.Index(args, "ID"); i >= 0 {
		args[i] = w.storeID
	}
	return args
}

// input is what the scenario's command reads.
func (w *world) input() string {
	if w.prompt == 0 {
		return ""
	}
	if w.edit && w.prompt == w.scenario.prompt {
		return fmt.Sprintf(`{"hook_event_name":"PostToolUse","session_id":%q,"transcript_path":%q,"cwd":%q,"prompt_id":"p2","tool_name":"Edit","tool_use_id":"toolu_1","tool_input":{"file_path":%q}}`,
			session, w.transcript(), w.project, filepath.Join(w.project, "a.txt"))
	}
	return fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":%q,"transcript_path":%q,"cwd":%q,"prompt_id":"p%d","prompt":"prompt %d"}`,
		session, w.transcript(), w.project, w.prompt, w.prompt)
}

// session is that of an agent.
const session = "5db0d5f6-0000-4000-8000-000000000001"

func (w *world) transcript() string {
	return filepath.Join(w.home, ".claude", "projects", "-p", session+".jsonl")
}

// say is what an agent does at its n-th prompt: its hook runs, then it writes
// prompt and answer.
func (w *world) say(n int) {
	w.Helper()
	now := w.prompt
	w.prompt = n
	w.rewind("hook", "claude")
	w.prompt = now
	must(w.T, os.MkdirAll(filepath.Dir(w.transcript()), 0o700))
	f, err := os.OpenFile(w.transcript(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	must(w.T, err)
	defer f.Close()
	parent := "null"
	if n > 1 {
		parent = fmt.Sprintf(`"00000000-0000-4000-8000-%06d%06d"`, n-1, 1)
	}
	for i, role := range []string{"user", "assistant"} {
		id := fmt.Sprintf("00000000-0000-4000-8000-%06d%06d", n, i)
		_, err := fmt.Fprintf(f, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"content":"prompt %d"},"uuid":%q,"timestamp":%q,"promptId":"p%d","cwd":%q,"sessionId":%q,"version":"2.1.329"}`+"\n",
			parent, role, role, n, id, time.Now().UTC().Format(time.RFC3339), n, w.project, session)
		must(w.T, err)
		parent = fmt.Sprintf("%q", id)
	}
}

// forks are the transcripts that are not the agent's own.
func (w *world) forks(disk *crashfs.FS) (forks []string) {
	for path := range disk.Content(filepath.Dir(w.transcript())) {
		if path != filepath.Base(w.transcript()) && strings.HasSuffix(path, ".jsonl") {
			forks = append(forks, path)
		}
	}
	return forks
}

// command runs a command without faults.
func (w *world) command(args ...string) (out, errOut string, code int) {
	w.Helper()
	return w.commandIn(w.project, args...)
}

func (w *world) commandIn(dir string, args ...string) (out, errOut string, code int) {
	w.Helper()
	cmd := exec.Command(w.program, args...)
	cmd.Stdin = strings.NewReader(w.input())
	cmd.Dir, cmd.Env = dir, w.env()
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		w.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func (w *world) rewind(args ...string) string {
	w.Helper()
	out, errOut, code := w.command(args...)
	if code != 0 {
		w.Fatalf("rewind %s: exit code %d: %s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// list gives the ids of all checkpoints.
func (w *world) list() (ids []string) {
	w.Helper()
	out, errOut, code := w.command("list", "--all", "--json")
	if code == 4 && w.initial {
		return nil
	}
	var list struct{ Checkpoints []struct{ ID string } }
	if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil {
		w.Fatalf("list: exit code %d, %v: %s%s", code, err, out, errOut)
	}
	for _, c := range list.Checkpoints {
		if slices.Contains(ids, c.ID) {
			w.Errorf("checkpoint %s is listed twice", c.ID)
		}
		ids = append(ids, c.ID)
	}
	return ids
}
