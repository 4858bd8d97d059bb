package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
)

// longCommand is one way in which a command can take long.
type longCommand struct {
	name    string
	args    []string
	prepare func(*longLab)
	phases  []string // what its line tells of, in this order, with "phase unit"
	says    string   // when it is interrupted
	done    []string // phases whose first report comes with nothing left to interrupt
	safety  bool     // an interrupted one may leave a safety checkpoint
	makes   string   // what it makes beside the project: nothing of it is left by an interrupted one
	partly  bool     // but for this command, which leaves it for the next call
}

const asItWas = "interrupted: the project is as it was"

// longCommands are all that have to read or write in proportion to the tree or to the store.
var longCommands = []longCommand{
	{name: "init", args: []string{"init", "--root", "BASE/fresh"}, prepare: func(l *longLab) { l.fill("fresh", 0) },
		phases: []string{"scan "}, says: "interrupted: the store was created, but no checkpoint was taken"},
	{name: "init", args: []string{"init", "--root", "BASE/fresh", "--adopt", "BASE/proj"}, prepare: func(l *longLab) { l.fill("fresh", 0) },
		phases: []string{"copy pack"}, says: "interrupted: no store was made"},
	{name: "save", args: []string{"save", "never"}, phases: []string{"scan "}, says: "interrupted: no checkpoint was taken"},
	{name: "run", args: []string{"run", "--", "touch", "BASE/out"}, phases: []string{"scan "}, makes: "out",
		says: "interrupted: no checkpoint was taken, and the command was not run"},
	{name: "diff", args: []string{"diff", "1"}, phases: []string{"scan "}, says: "interrupted: nothing was changed"},
	{name: "compare", args: []string{"compare", "1"}, phases: []string{"scan "}, says: "interrupted: nothing was changed"},
	{name: "restore", args: []string{"restore", "2", "-y"}, phases: restorePhases, says: asItWas, safety: true},
	{name: "undo", args: []string{"undo", "-y"}, phases: restorePhases, says: asItWas, safety: true},
	{name: "redo", args: []string{"redo", "-y"}, prepare: func(l *longLab) { l.must("undo", "-y") }, phases: restorePhases, says: asItWas, safety: true},
	{name: "undo-restore", args: []string{"undo-restore", "-y"}, prepare: func(l *longLab) { l.must("restore", "2", "-y") },
		phases: restorePhases, says: asItWas, safety: true},
	{name: "redo-restore", args: []string{"redo-restore", "-y"},
		prepare: func(l *longLab) { l.must("restore", "2", "-y"); l.must("undo-restore", "-y") },
		phases:  restorePhases, says: asItWas, safety: true},
	{name: "revert", args: []string{"revert", "--session", "aaaa", "-y"}, prepare: (*longLab).session, phases: restorePhases, says: asItWas, safety: true},
	{name: "grep", args: []string{"grep", "content"}, phases: []string{"look through checkpoint", "scan ", "search content"},
		says: "interrupted: nothing was changed", done: []string{"search content"}},
	{name: "export", args: []string{"export", "last", "-o", "BASE/out.tar"}, phases: []string{"export "}, makes: "out.tar", says: "interrupted: nothing was changed"},
	{name: "export", args: []string{"export", "--format", "git", "-o", "BASE/out.git"}, phases: []string{"export checkpoint"}, makes: "out.git",
		says: "interrupted: nothing was changed"},
	{name: "ui", args: []string{"ui", "--export-html", "BASE/out.html"}, prepare: (*longLab).session,
		phases: []string{"look through checkpoint", "export checkpoint"}, makes: "out.html", says: "interrupted: nothing was changed"},
	{name: "checkout", args: []string{"checkout", "last", "BASE/out"}, phases: []string{"checkout "}, makes: "out", partly: true, says: asItWas},
	{name: "bisect", args: []string{"bisect", "--run", "test ! -e d0/new3"}, phases: []string{"scan ", "checkout "}, says: "interrupted: nothing was changed"},
	{name: "import", args: []string{"import", "--git", "BASE/repo"}, prepare: (*longLab).repository, phases: []string{"import checkpoint"},
		says: "interrupted: nothing was imported"},
	{name: "gc", args: []string{"gc", "--keep", "1"}, phases: []string{"gc checkpoint", "gc "}, says: "interrupted: nothing that is kept was changed"},
	{name: "forget", args: []string{"forget", "-y", "--", "d0/f1"}, phases: []string{"forget checkpoint"},
		says: "interrupted: what was not removed yet is still there"},
	{name: "verify", args: []string{"verify"}, phases: []string{"verify pack", "verify checkpoint"}, says: "interrupted: nothing was changed"},
	{name: "verify", args: []string{"verify", "--read-data"}, phases: []string{"verify pack", "verify checkpoint"}, says: "interrupted: nothing was changed"},
	{name: "repair", args: []string{"repair"}, phases: []string{"repair: check pack", "repair: index pack", "verify pack", "verify checkpoint"},
		says: "interrupted: what was not repaired yet is as it was"},
	{name: "push", args: []string{"push"}, prepare: (*longLab).remote, phases: []string{"push object"}, says: "interrupted: what was not sent yet goes with the next push"},
	{name: "pull", args: []string{"pull"}, prepare: (*longLab).another, phases: []string{"pull entry"}, says: "interrupted: what has come so far is here; the next pull fetches the rest"},
	{name: "clone", args: []string{"clone", "BASE/remote", "BASE/clone"}, prepare: (*longLab).pushed, phases: []string{"clone entry"}, makes: "clone", says: "interrupted: nothing was made"},
	{name: "share", args: []string{"share", "last"}, prepare: (*longLab).pushed, phases: []string{"share object"}, says: "interrupted: nothing was shared"},
	{name: "stats", args: []string{"stats"}, phases: []string{"stats: first uses checkpoint", "stats: last uses checkpoint", "stats: sizes checkpoint", "stats: paths checkpoint"},
		says: "interrupted: nothing was changed"},
}

var restorePhases = []string{"scan ", "plan ", "read ", "write ", "replace "}

// notLong are commands that need no counts, and why. What opens a project has a line that tells how
// long it takes (see output.working).
var notLong = map[string]string{
	"back": "it is a restore", "pick": "its screen tells", "watch": "it says what it does as it does it", "hook": "nobody looks",
	"list": "a page", "show": "one checkpoint", "log": "a page", "history": "the database knows", "attempts": "a few", "blame": "one file", "sessions": "a few", "cat": "a stream", "ls": "a stream",
	"pin": "a record", "unpin": "a record", "rename": "a record", "stores": "a few", "rescue": "a restore", "deinit": "it removes packs", "status": "a few numbers",
	"remote":   "a few small files",
	"validate": "a few files", "config": "a file", "completion": "a text", "help": "a text", "man": "a text",
}

// A command is either long, and tells how far it is, or it is said here why it is not.
func TestEveryLongCommandHasALine(t *testing.T) {
	long := map[string]bool{}
	for _, c := range longCommands {
		long[c.name] = true
	}
	for _, e := range entries() {
		if _, short := notLong[e.name]; short == long[e.name] {
			t.Errorf("%s: long %v, not long %v: it is to be in longCommands or in notLong", e.name, long[e.name], short)
		}
	}
}

// longLab is a project with a history, a home and a place beside it.
type longLab struct {
	t    *testing.T
	base string
	env  account.Env
}

func newLongLab(t *testing.T) *longLab {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &longLab{t: t, base: base}
	for _, d := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(base, "tmp"))
	l.env = account.Env{Home: filepath.Join(base, "home"), Dir: filepath.Join(base, "proj"), Getenv: func(key string) string {
		if key == "PATH" || key == "TMPDIR" {
			return os.Getenv(key)
		}
		return ""
	}}
	// Nothing loses power here, and most of the time would be spent waiting for the disk.
	if err := os.MkdirAll(filepath.Join(base, "home", ".rewind"), 0o700); err != nil {
		t.Fatal(err)
	}
	l.write(filepath.Join(base, "home", ".rewind", "config.json"), `{"durability": "fast"}`)
	l.fill("proj", 0)
	l.must("init")
	for i := 1; i < 4; i++ {
		l.fill("proj", i)
		if i < 3 {
			l.must("save")
		}
	}
	return l
}

// fill writes the tree in its n-th state.
func (l *longLab) fill(dir string, n int) {
	l.t.Helper()
	for d := range 4 {
		at := filepath.Join(l.base, dir, fmt.Sprint("d", d))
		if err := os.MkdirAll(at, 0o755); err != nil {
			l.t.Fatal(err)
		}
		for f := range 25 {
			l.write(filepath.Join(at, fmt.Sprint("f", f)), fmt.Sprintf("content %d of %d in %d\n%s", f%(n+1), f, d, strings.Repeat("x", 40*f)))
		}
		if n > 0 {
			l.write(filepath.Join(at, fmt.Sprint("new", n)), fmt.Sprint("new ", n))
			os.Remove(filepath.Join(at, fmt.Sprint("new", n-1)))
		}
	}
}

func (l *longLab) write(file, content string) {
	l.t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

// remote gives the project one, to which nothing was pushed.
func (l *longLab) remote() {
	l.t.Helper()
	l.must("remote", "add", "origin", "BASE/remote", "--manual")
}

// pushed gives the project a remote that has all of it.
func (l *longLab) pushed() {
	l.t.Helper()
	l.remote()
	l.must("push")
}

// another gives the project a remote to which only another writer has pushed.
func (l *longLab) another() {
	l.t.Helper()
	l.pushed()
	l.must("remote", "remove", "origin")
	l.remote()
}

// repository makes a git repository with a few commits to import.
func (l *longLab) repository() {
	l.t.Helper()
	dir := filepath.Join(l.base, "repo")
	script := `set -e; git init -q repo; cd repo; git config user.email a@example.com; git config user.name a
		for i in 1 2 3; do echo $i > f; git add f; git commit -qm $i; done`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = filepath.Dir(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Skipf("NOT TESTED HERE: no git: %v: %s", err, out)
	}
}

// session lets an agent's session work on the tree.
func (l *longLab) session() {
	l.t.Helper()
	l.must("config", "antiSpam.enabled", "false")
	l.hook(`{"event":"prompt","session_id":"aaaa-s","prompt":"Work"}`)
	l.fill("proj", 4)
	l.hook(`{"event":"stop","session_id":"aaaa-s"}`)
}

// hook tells of an event, as an agent does.
func (l *longLab) hook(event string) {
	l.t.Helper()
	var o, e bytes.Buffer
	if code := Main([]string{"rewind", "hook", "generic"}, l.env, app.Stdio{In: strings.NewReader(event), Out: &o, Err: &e}); code != 0 {
		l.t.Fatalf("rewind hook: exit code %d\n%s%s", code, o.String(), e.String())
	}
}

func (l *longLab) run(ctx context.Context, progress project.Progress, args ...string) (code int, out, errOut string) {
	args = slices.Clone(args)
	for i, a := range args {
		args[i] = strings.Replace(a, "BASE", l.base, 1)
	}
	var o, e bytes.Buffer
	code = Run(ctx, args, l.env, app.Stdio{In: strings.NewReader(""), Out: &o, Err: &e, Progress: progress})
	return code, o.String(), e.String()
}

func (l *longLab) must(args ...string) string {
	l.t.Helper()
	code, out, errOut := l.run(context.Background(), nil, args...)
	if code != 0 {
		l.t.Fatalf("rewind %v: exit code %d\n%s%s", args, code, out, errOut)
	}
	return out
}

// checkpoints are the ids of those that are no safety checkpoints, or of all.
func (l *longLab) checkpoints(all bool) []string {
	l.t.Helper()
	var doc struct {
		Checkpoints []struct{ ID, Kind string }
	}
	if err := json.Unmarshal([]byte(l.must("list", "--json", "--all", "--limit", "0")), &doc); err != nil {
		l.t.Fatal(err)
	}
	var ids []string
	for _, c := range doc.Checkpoints {
		if all || c.Kind != "safety" {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// files are all files outside of stores and homes, with their contents.
func (l *longLab) files() map[string]string {
	l.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(l.base, func(file string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(l.base, file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".agent" || rel == "home"):
			return fs.SkipDir
		case d.IsDir():
			out[rel] = "a directory"
		default:
			b, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			out[rel] = string(b)
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return out
}

// leftovers are temporary files of a store outside of its directory for them.
func (l *longLab) leftovers() (left []string) {
	l.t.Helper()
	err := filepath.WalkDir(l.base, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && strings.HasSuffix(file, ".tmp") && filepath.Base(filepath.Dir(file)) != account.TmpName {
			left = append(left, file)
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return left
}

// counts checks what is told of a command.
type counts struct {
	t    *testing.T
	last project.ProgressInfo
	seen []string // phases
}

func (c *counts) tell(now project.ProgressInfo) {
	phase := now.Phase + " " + now.Unit
	if len(c.seen) == 0 || phase != c.seen[len(c.seen)-1] {
		c.end()
		c.seen = append(c.seen, phase)
	} else if now.Files < c.last.Files || now.Bytes < c.last.Bytes {
		c.end() // it begins again
	} else if now.TotalFiles != c.last.TotalFiles || now.TotalBytes != c.last.TotalBytes {
		c.t.Errorf("another total: %+v after %+v", now, c.last)
	}
	if now.TotalFiles > 0 && now.Files > now.TotalFiles || now.TotalBytes > 0 && now.Bytes > now.TotalBytes {
		c.t.Errorf("past the total: %+v", now)
	}
	c.last = now
}

func (c *counts) end() {
	if l := c.last; l.TotalFiles > 0 && l.Files != l.TotalFiles || l.TotalBytes > 0 && l.Bytes != l.TotalBytes {
		c.t.Errorf("it ends with %+v", l)
	}
	c.last = project.ProgressInfo{}
}

// every is the step through a test's cases: one where all of them are tried, and n where -race tries a share of them.
func every(n int) int {
	if testing.Short() {
		return n
	}
	return 1
}

// What is told never goes past its totals, and ends at them, also of a tree that changes meanwhile.
func TestLongCommandsKeepToTheirTotals(t *testing.T) {
	n := 0
	for _, growing := range []bool{false, true} {
		for _, c := range longCommands {
			if n++; n%every(5) != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/growing=%v", strings.Join(c.args[:min(2, len(c.args))], " "), growing), func(t *testing.T) {
				l := newLongLab(t)
				if c.prepare != nil {
					c.prepare(l)
				}
				stop := func() {}
				if growing {
					stop = l.grow()
				}
				n := &counts{t: t}
				code, out, errOut := l.run(context.Background(), n.tell, c.args...)
				n.end()
				stop()
				if code != 0 && !growing {
					t.Fatalf("exit code %d\n%s%s", code, out, errOut)
				}
				if growing {
					return // what is told then depends on when
				}
				at := 0
				for _, phase := range n.seen {
					if at < len(c.phases) && phase == c.phases[at] {
						at++
					}
				}
				if at < len(c.phases) {
					t.Errorf("nothing was told of %q: %q", c.phases[at], n.seen)
				}
			})
		}
	}
}

// grow adds to the trees until the returned function is called.
func (l *longLab) grow() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			case <-time.After(time.Millisecond):
			}
			for _, dir := range []string{"proj", "fresh"} {
				at := filepath.Join(l.base, dir, fmt.Sprint("d", i%4))
				os.WriteFile(filepath.Join(at, fmt.Sprint("grown", i)), bytes.Repeat([]byte("more"), i%1000), 0o644)
				if f, err := os.OpenFile(filepath.Join(at, fmt.Sprint("f", i%25)), os.O_APPEND|os.O_WRONLY, 0); err == nil {
					f.Write(bytes.Repeat([]byte("y"), 4096))
					f.Close()
				}
			}
		}
	}()
	return func() { close(quit); <-done }
}

// An interrupted command ends with 130 and a true sentence, wherever it was: what it says is as it was is
// as it was, nothing is left lying about, and the same command does its work after it.
func TestInterruptedLongCommands(t *testing.T) {
	n := 0
	for _, c := range longCommands {
		for i, phase := range c.phases {
			if n++; n%every(5) != 0 {
				continue
			}
			t.Run(strings.Join(c.args[:min(2, len(c.args))], " ")+"/"+phase, func(t *testing.T) {
				l := newLongLab(t)
				if c.prepare != nil {
					c.prepare(l)
				}
				before, ids := l.files(), l.checkpoints(!c.safety)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				at := 0
				code, out, errOut := l.run(ctx, func(p project.ProgressInfo) {
					if p.Phase+" "+p.Unit != c.phases[min(at, i)] {
						return
					}
					if at == i {
						cancel()
					} else {
						at++
					}
				}, c.args...)
				if ctx.Err() == nil {
					t.Fatalf("it never came to %q", phase)
				}
				if code == 0 && slices.Contains(c.done, phase) {
					return
				}
				if code != app.ExitInterrupted || !strings.Contains(errOut, c.says) || strings.Contains(errOut, "hint:") {
					t.Errorf("exit code %d, want %q\n%s%s", code, c.says, out, errOut)
				}
				after := l.files()
				maps.DeleteFunc(after, func(file, _ string) bool {
					return c.partly && (file == c.makes || strings.HasPrefix(file, c.makes+"/"))
				})
				for file := range after {
					if _, ok := before[file]; !ok {
						t.Errorf("left: %s", file)
					}
				}
				for file, was := range before {
					if now, ok := after[file]; !ok || now != was {
						t.Errorf("changed: %s", file)
					}
				}
				if left := l.leftovers(); len(left) > 0 {
					t.Errorf("left: %q", left)
				}
				if now := l.checkpoints(!c.safety); c.name != "gc" && !slices.Equal(now, ids) {
					t.Errorf("checkpoints %q, were %q", now, ids)
				} else if c.name == "gc" && (len(now) == 0 || now[0] != ids[0]) {
					t.Errorf("gc: checkpoints %q, were %q", now, ids)
				}
				if code, out, errOut := l.run(context.Background(), nil, c.args...); code != 0 {
					t.Errorf("once more: exit code %d\n%s%s", code, out, errOut)
				}
				l.must("verify", "--read-data")
			})
		}
	}
}
