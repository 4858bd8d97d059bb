package notice

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// lab is a project in which sessions have checkpoints.
type lab struct {
	t *testing.T
	*project.Project
	ctx context.Context
	now time.Time
	op  uint64
}

func newLab(t *testing.T) *lab {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, ctx: context.Background(), now: time.Now(), op: 100}
	for _, d := range []string{"home", "project", "other"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.Project = l.at(filepath.Join(base, "project"), filepath.Join(base, "home"))
	return l
}

func (l *lab) at(root, home string) *project.Project {
	l.t.Helper()
	env := account.Env{Home: home, Dir: root, Getenv: func(string) string { return "" }, Now: func() time.Time { return l.now }}
	p, _, err := stores.Init(l.ctx, stores.InitOptions{OpenOptions: project.OpenOptions{Env: env, Root: root}, NoSave: true})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { p.Close() })
	return p
}

// prompts is a session's prompt, with its checkpoint.
func (l *lab) prompts(session string) {
	l.t.Helper()
	_, err := checkpoint.Take(l.ctx, l.Project, checkpoint.TakeOptions{Start: l.now, Options: checkpoint.Options{Kind: manifest.Prompt, By: conversation.Trigger{Agent: "claude", Session: session}}})
	if err != nil {
		l.t.Fatal(err)
	}
}

// queue queues an operation, and gives the sessions that are told.
func (l *lab) queue(n Notice, o Options) (ids []string) {
	l.t.Helper()
	l.op++
	n.Operation = l.op
	if n.Kind == "" {
		n.Kind = manifest.OpUndo
	}
	told, err := Queue(l.ctx, l.Project, n, o)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, s := range told {
		ids = append(ids, s.ID)
	}
	return ids
}

func (l *lab) take(session string) string {
	l.t.Helper()
	text, err := Take(l.ctx, l.Project, "claude", session)
	if err != nil {
		l.t.Fatal(err)
	}
	return text
}

var one = Notice{Paths: []Path{{"a.txt", Changed}}}

func TestWhoIsTold(t *testing.T) {
	l := newLab(t)
	start := l.now.Add(-80 * time.Minute)
	l.now = start
	l.prompts("long ago")
	l.now = start.Add(30 * time.Minute)
	l.prompts("earlier")
	l.now = start.Add(80 * time.Minute)
	l.prompts("now")
	want := func(got []string, want ...string) {
		t.Helper()
		if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%q are told, want %q", got, want)
		}
	}
	want(l.queue(one, Options{}), "now", "earlier")
	want(l.queue(Notice{Count: 1, Agent: "claude", Session: "long ago"}, Options{}), "long ago", "now", "earlier")
	want(l.queue(Notice{Count: 1, Moved: []string{"now"}}, Options{}), "earlier")
	want(l.queue(Notice{}, Options{})) // nothing was changed
	if got := strings.Count(l.take("now"), "\n- "); got != 2 {
		t.Errorf("%d notices", got)
	}
	if Waiting(l.Env, "claude", "now") || l.take("now") != "" {
		t.Error("a second time")
	}
	if !Waiting(l.Env, "claude", "earlier") || Waiting(l.Env, "droid", "earlier") {
		t.Error("another agent's session of that name")
	}
}

// Taken back before it was told, it is dropped; else that is told too.
func TestTakenBack(t *testing.T) {
	l := newLab(t)
	l.prompts("a")
	l.prompts("b")
	l.queue(one, Options{})
	first := l.op
	l.take("a")
	if got := l.queue(Notice{Kind: manifest.OpUndoRestore, Count: 1}, Options{TakesBack: []uint64{first}}); !reflect.DeepEqual(got, []string{"a"}) {
		t.Errorf("told: %q", got)
	}
	if got := l.take("b"); got != "" {
		t.Errorf("b is told %s", got)
	}
	// Several at once, of which one was told.
	l.queue(one, Options{})
	second := l.op
	l.take("b")
	l.queue(one, Options{})
	l.queue(Notice{Kind: manifest.OpUndoRestore, Count: 1}, Options{TakesBack: []uint64{second, l.op}})
	for session, lines := range map[string]int{"a": 1, "b": 1} { // a: the undo-restore of before
		if got := l.take(session); strings.Count(got, "\n- ") != lines || strings.Contains(got, "undid") {
			t.Errorf("%s is told %s", session, got)
		}
	}
	// A session that is not active any more loses it all the same.
	l.queue(one, Options{})
	l.now = l.now.Add(5 * time.Hour)
	l.queue(Notice{Kind: manifest.OpUndoRestore, Count: 1}, Options{TakesBack: []uint64{l.op}})
	if got := l.take("a"); got != "" {
		t.Errorf("after five hours: %s", got)
	}
}

// Where a session's conversation went back together with all files, what it was still to be told is out of date. It is
// told after all where that is taken back before the next prompt.
func TestWentBackTogether(t *testing.T) {
	l := newLab(t)
	l.prompts("a")
	l.prompts("b")
	l.now = l.now.Add(10 * time.Minute)
	earlier, self := l.now.Add(-5*time.Minute), Session{"claude", "a"}
	a, one := Options{Move: &Move{From: self, To: self, Until: earlier, Files: earlier}}, one
	one.Time = l.now
	for _, moved := range []Notice{{Count: 1, Moved: []string{"a"}}, {Moved: []string{"a"}}} { // also where no file changed
		l.queue(one, Options{})
		l.queue(moved, a)
		if got := l.take("a"); got != "" {
			t.Errorf("a is told %s", got)
		}
		if got := l.take("b"); !strings.Contains(got, "a.txt") {
			t.Errorf("b is told %q", got)
		}
	}
	l.queue(one, Options{})
	l.queue(Notice{Count: 1, Moved: []string{"a"}}, a)
	l.queue(Notice{Kind: manifest.OpUndoRestore, Count: 1, Moved: []string{"a"}}, Options{TakesBack: []uint64{l.op}})
	if got := l.take("a"); !strings.Contains(got, "a.txt") || strings.Count(got, "\n- ") != 1 {
		t.Errorf("once that is undone, a is told %q", got)
	}
}

// What a session was told with a prompt that its conversation does not hold any more it is told again, once, and so is a
// fork that does not hold it.
func TestWentBehindIt(t *testing.T) {
	a, fork, second := Session{"claude", "a"}, Session{"claude", "fork"}, Session{"claude", "second"}
	const again = "again"
	for _, c := range []struct {
		name string
		play func(l *lab, move func(from, to Session, until, files time.Duration))
		told map[string]string // by session: again, or ""
	}{
		{"in place", func(l *lab, move func(from, to Session, until, files time.Duration)) {
			l.take("a")
			move(a, a, 90, 0)
		}, map[string]string{"a": again}},
		{"in place, with files of after the operation", func(l *lab, move func(from, to Session, until, files time.Duration)) {
			l.take("a")
			move(a, a, 90, 110)
		}, map[string]string{"a": again}},
		{"in place, with files of before it", func(l *lab, move func(from, to Session, until, files time.Duration)) {
			l.take("a")
			move(a, a, 90, 90)
		}, map[string]string{"a": ""}},
		{"the prompt stays", func(l *lab, move func(from, to Session, until, files time.Duration)) {
			l.take("a")
			move(a, a, 130, 0)
		}, map[string]string{"a": ""}},
		{"further back than the files", func(l *lab, move func(from, to Session, until, files time.Duration)) {
			l.take("a")
			move(a, a, 40, 0)
		}, map[string]string{"a": ""}},
		{"a fork of what was told", func(l *lab, move func(from, to Session, until, files time.Duration)) {
			l.take("a")
			move(a, fork, 90, 0)
		}, map[string]string{"a": "", "fork": again}},
		{"a fork of what waits", func(l *lab, move func(from, to Session, until, files time.Duration)) {
			move(a, fork, 90, 0)
		}, map[string]string{"a": again, "fork": again}},
		{"a fork that holds it, and then goes behind it", func(l *lab, move func(from, to Session, until, files time.Duration)) {
			l.take("a")
			move(a, fork, 130, 0)
			if got := l.take("fork"); got != "" {
				l.t.Errorf("the fork is told %s", got)
			}
			move(fork, second, 90, 0)
		}, map[string]string{"fork": "", "second": again}},
		{"the move is taken back", func(l *lab, move func(from, to Session, until, files time.Duration)) {
			l.take("a")
			move(a, a, 90, 0)
			l.queue(Notice{Moved: []string{"a"}}, Options{TakesBack: []uint64{l.op}})
		}, map[string]string{"a": ""}},
		{"the operation was taken back, and that was told too", func(l *lab, move func(from, to Session, until, files time.Duration)) {
			l.take("a")
			l.queue(Notice{Kind: manifest.OpUndoRestore, Count: 1, Time: l.now}, Options{TakesBack: []uint64{l.op}})
			l.take("a")
			move(a, a, 90, 0)
			move(a, fork, 90, 0)
		}, map[string]string{"a": "", "fork": ""}},
		{"the operation was taken back, and that waits", func(l *lab, move func(from, to Session, until, files time.Duration)) {
			l.take("a")
			l.queue(Notice{Kind: manifest.OpUndoRestore, Count: 1, Time: l.now}, Options{TakesBack: []uint64{l.op}})
			move(a, a, 90, 0)
		}, map[string]string{"a": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			start := l.now
			at := func(minute time.Duration) time.Time { return start.Add(minute * time.Minute) }
			l.now = at(95)
			l.prompts("a")
			l.now = at(100)
			l.queue(Notice{Kind: manifest.OpRestore, Time: l.now, State: at(50), Count: 1, Paths: one.Paths}, Options{})
			l.now = at(120)
			c.play(l, func(from, to Session, until, files time.Duration) {
				m := &Move{From: from, To: to, Until: at(until)}
				if files != 0 {
					m.Files = at(files)
				}
				l.queue(Notice{Moved: []string{to.ID}}, Options{Move: m})
			})
			l.now = at(140)
			for session, want := range c.told {
				got := l.take(session)
				if strings.Contains(got, "restored files") != (want == again) || want == "" && got != "" || strings.Count(got, "\n- ") > 1 {
					t.Errorf("%s is told %q", session, got)
				}
				if got := l.take(session); got != "" {
					t.Errorf("%s is told a second time", session)
				}
			}
		})
	}
}

// However many hooks ask at the same moment, one is given the text.
func TestAtMostOnce(t *testing.T) {
	l := newLab(t)
	l.prompts("a")
	for range 5 {
		l.queue(one, Options{})
		var wg sync.WaitGroup
		given := make(chan string, 64)
		for i := range 16 {
			wg.Go(func() {
				if text, err := Take(l.ctx, l.Project, "claude", "a"); err == nil && text != "" {
					given <- text
				}
				// What other hooks of the session write meanwhile brings nothing back.
				_ = account.UpdateSession(l.ctx, l.Env, "claude", "a", func(s *account.SessionState) { s.Tools = append(s.Tools, fmt.Sprint(i)) })
			})
		}
		wg.Wait()
		if len(given) != 1 {
			t.Fatalf("given %d times", len(given))
		}
	}
}

// What cannot be noted as given is not given.
func TestCannotBeNoted(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root writes everywhere: a directory in the way stands for a disk that is full")
	}
	l := newLab(t)
	l.prompts("a")
	l.queue(one, Options{})
	file := account.NoticeFile(l.Env, "claude", "a")
	lock := filepath.Join(filepath.Dir(file), "notices.lock")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(lock, 0o700); err != nil {
		t.Fatal(err)
	}
	if text, err := Take(l.ctx, l.Project, "claude", "a"); text != "" || err == nil {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if l.take("a") == "" {
		t.Error("it is lost")
	}
}

func TestSettingNotice(t *testing.T) {
	l := newLab(t)
	l.prompts("a")
	l.queue(one, Options{})
	l.Settings().Notice = false
	if got := l.queue(one, Options{}); got != nil {
		t.Errorf("told: %q", got)
	}
	if got := l.take("a"); got != "" {
		t.Errorf("%s", got)
	}
	l.Settings().Notice = true
	if got := l.take("a"); got != "" {
		t.Errorf("afterwards: %s", got)
	}
}

// A session works in several projects; each tells of its own.
func TestOtherProject(t *testing.T) {
	l := newLab(t)
	l.prompts("a")
	l.queue(one, Options{})
	other := &lab{t: t, ctx: l.ctx, now: l.now, op: 500}
	other.Project = other.at(filepath.Join(filepath.Dir(l.Root()), "other"), l.Env.Home)
	if got := other.take("a"); got != "" {
		t.Errorf("the other project tells %s", got)
	}
	if err := Forget(l.ctx, other.Project, 0, func(uint64, string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if got := l.take("a"); !strings.Contains(got, `"a.txt"`) {
		t.Errorf("%q", got)
	}
}

func TestForget(t *testing.T) {
	l := newLab(t)
	l.prompts("a")
	l.queue(Notice{Agent: "claude", Session: "a", Prompts: []string{"the password is hunter2"}, Paths: []Path{{"secret", Changed}, {"b", Changed}}, Kept: []Kept{{Path: "secret"}}}, Options{})
	if err := Forget(l.ctx, l.Project, 1, func(uint64, string) bool { return true }); err != nil { // of operations before it
		t.Fatal(err)
	}
	if err := Forget(l.ctx, l.Project, 0, func(_ uint64, p string) bool { return p == "secret" }); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(account.NoticeFile(l.Env, "claude", "a"))
	if err != nil || strings.Contains(string(data), "secret") || strings.Contains(string(data), "hunter2") {
		t.Errorf("%s, %v", data, err)
	}
	if got := l.take("a"); !strings.Contains(got, `: changed "b", and 1 more.`) {
		t.Errorf("%s", got)
	}
}

// The queue is bounded, goes with the session's state, and what is no queue is none.
func TestQueueFile(t *testing.T) {
	l := newLab(t)
	l.prompts("a")
	for range 3 * maxQueued {
		l.queue(one, Options{})
	}
	file := account.NoticeFile(l.Env, "claude", "a")
	if all, err := read(file); err != nil || len(all) != maxQueued || all[maxQueued-1].Operation != l.op {
		t.Errorf("%d queued, %v", len(all), err)
	}
	l.queue(Notice{Kind: manifest.OpRestore, Count: 1, Moved: []string{"fork"}}, Options{})
	if err := Inherit(l.ctx, l.Project, Move{From: Session{"claude", "a"}, To: Session{"claude", "fork"}}); err != nil {
		t.Fatal(err)
	}
	if all, err := read(account.NoticeFile(l.Env, "claude", "fork")); err != nil || len(all) != maxQueued-1 {
		t.Errorf("the fork is to be told %v, %v", all, err)
	}
	if l.take("fork") == "" || l.take("a") == "" {
		t.Error("a native fork and what it was made of have the same conversation")
	}
	for _, text := range []string{"", "{", `{"a":1}`, `[1]`, `[{"store":"` + l.ID.String() + `","operation":-1}]`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := l.take("a"); got != "" {
			t.Errorf("%q tells %s", text, got)
		}
		if got := l.queue(one, Options{}); len(got) != 1 {
			t.Errorf("after %q: %q", text, got)
		}
		l.take("a")
	}
	l.queue(one, Options{})
	if err := account.ForgetSessions(l.Env, -time.Hour); err != nil {
		t.Fatal(err)
	}
	if Waiting(l.Env, "claude", "a") {
		t.Error("it outlives the session's state")
	}
}
