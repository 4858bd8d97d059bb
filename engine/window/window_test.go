package window

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

func newProject(t *testing.T) *project.Project {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := account.Env{Home: filepath.Join(root, "home"), Dir: filepath.Join(root, "tree"), Getenv: func(string) string { return "" }}
	for _, dir := range []string{env.Home, env.Dir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p, _, err := stores.Init(context.Background(), stores.InitOptions{OpenOptions: project.OpenOptions{Env: env, Root: env.Dir}, NoSave: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func at(n int) time.Time { return time.Unix(1_790_000_000, int64(n)).UTC() }

func one(n int) manifest.Window {
	return manifest.Window{Time: at(n), Agent: "claude", Session: "s", Call: fmt.Sprintf("call-%d", n), Class: manifest.WindowShell, Edge: manifest.WindowOpen, Files: []string{"a\xff\n/b"}}
}

func leave(t *testing.T, p *project.Project, windows ...manifest.Window) {
	t.Helper()
	for _, w := range windows {
		if err := Append(p, w); err != nil {
			t.Fatal(err)
		}
	}
}

// calls are the calls of windows, in order.
func calls(windows []manifest.Window) string {
	var out []string
	for _, w := range windows {
		out = append(out, strings.TrimPrefix(w.Call, "call-"))
	}
	return strings.Join(out, " ")
}

func taken(t *testing.T, x *Taken) string {
	t.Helper()
	windows, err := manifest.ParseWindows(x.Windows)
	if err != nil {
		t.Fatal(err)
	}
	return calls(windows)
}

func TestTake(t *testing.T) {
	p := newProject(t)
	if x := Take(p, ""); x.Windows != "" {
		t.Errorf("of nothing: %q", x.Windows)
	}
	leave(t, p, one(1), one(2))
	failed := Take(p, "") // and its commit fails
	leave(t, p, one(3))
	x := Take(p, "")
	if got := taken(t, x); got != "1 2 3" {
		t.Errorf("taken %q", got)
	}
	leave(t, p, one(4)) // while the commit is written
	x.Done()
	failed.Done()
	if got := calls(Pending(p)); got != "4" {
		t.Errorf("left: %q", got)
	}
	// A crash after a commit, before its Done.
	crashed := Take(p, x.Windows)
	leave(t, p, one(5))
	if got := taken(t, Take(p, crashed.Windows)); got != "5" {
		t.Errorf("after a crash: %q", got)
	}
	Take(p, crashed.Windows).Done()
	if left, _ := os.ReadDir(filepath.Join(p.StoreDir(), account.TmpName)); len(left) > 1 { // the clock
		t.Errorf("left: %v", left)
	}
}

// A crash in the middle of Done leaves what was taken beside what came meanwhile.
func TestTakeAfterCrashInDone(t *testing.T) {
	p := newProject(t)
	leave(t, p, one(1))
	x := Take(p, "")
	leave(t, p, one(2))
	if err := os.Rename(path(p, linesName), path(p, takenName)); err != nil {
		t.Fatal(err)
	}
	leave(t, p, one(3))
	next := Take(p, x.Windows)
	if got := taken(t, next); got != "2 3" {
		t.Errorf("taken %q", got)
	}
	next.Done()
	if left := Pending(p); len(left) > 0 {
		t.Errorf("left: %q", calls(left))
	}
}

func TestSixteenWriters(t *testing.T) {
	p := newProject(t)
	const each = 50
	var all sync.WaitGroup
	for k := range 16 {
		all.Go(func() {
			for i := range each {
				if err := Append(p, one(k*each+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	stop, done := make(chan bool), make(chan bool)
	seen := map[string]bool{}
	take := func() {
		x := Take(p, "")
		windows, err := manifest.ParseWindows(x.Windows)
		if err != nil {
			t.Error(err)
		}
		for _, w := range windows {
			seen[w.Call] = true
		}
		x.Done()
	}
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				take()
			}
		}
	}()
	all.Wait()
	close(stop)
	<-done
	take()
	if len(seen) != 16*each {
		t.Errorf("%d of %d windows came through", len(seen), 16*each)
	}
}

// What a crash leaves of a line, and what is none of ours, costs no other line.
func TestTornLines(t *testing.T) {
	p := newProject(t)
	whole := string(line(one(2)))
	junk := "\n\n!!!\nAQ==\n" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 50)) + "\n"
	if err := os.WriteFile(path(p, linesName), []byte(whole[:len(whole)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	leave(t, p, one(3))
	f, err := os.OpenFile(path(p, linesName), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(junk)
		err = joinErr(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	leave(t, p, one(4))
	if got := calls(Pending(p)); got != "3 4" {
		t.Errorf("read %q", got)
	}
}

func joinErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// Whatever comes between two checkpoints, the files and the record stay small, the newest stay, and it is said that others did not.
func TestManyWindows(t *testing.T) {
	p := newProject(t)
	const n = 15_000
	for i := range n {
		leave(t, p, one(i))
	}
	for _, name := range []string{linesName, fullName} {
		if info, err := os.Stat(path(p, name)); err != nil || info.Size() > maxLines+1<<10 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	x := Take(p, "")
	windows, err := manifest.ParseWindows(x.Windows)
	if err != nil || len(x.Windows) > manifest.MaxWindows {
		t.Fatalf("%d bytes, %v", len(x.Windows), err)
	}
	if windows[0].Edge != manifest.WindowLost || windows[0].Summary == "" || !windows[0].Time.Before(windows[1].Time) {
		t.Errorf("the first is %+v", windows[0])
	}
	if last := windows[len(windows)-1]; len(windows) < 500 || last.Call != fmt.Sprintf("call-%d", n-1) {
		t.Errorf("%d windows, the last %+v", len(windows), last)
	}
	x.Done()
	if left := Pending(p); len(left) > 0 {
		t.Errorf("%d are left", len(left))
	}
}

func TestHostileTexts(t *testing.T) {
	p := newProject(t)
	huge := strings.Repeat("x", 1<<20)
	a, b := one(1), one(2)
	a.Session, b.Session = huge+"a", huge+"b"
	a.Summary, a.Tool = huge, huge
	for range 10_000 {
		a.Files = append(a.Files, huge[:100])
	}
	leave(t, p, a, b)
	got := Pending(p)
	if len(got) != 2 || got[0].Session == got[1].Session || len(got[0].Summary) > manifest.MaxToolSummary || len(got[0].Files) == 0 {
		t.Errorf("read %d windows", len(got))
	}
	if info, err := os.Stat(path(p, linesName)); err != nil || info.Size() > 64<<10 {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

func TestNoPlaceToWrite(t *testing.T) {
	p := newProject(t)
	leave(t, p, one(1))
	p.ReadOnly = os.ErrPermission
	if err := Append(p, one(2)); err == nil {
		t.Error("no error in a store that is only read")
	}
	Take(p, "").Done()
	if got := calls(Pending(p)); got != "1" {
		t.Errorf("read %q", got)
	}
	p.ReadOnly = nil
	// Something else in its place is neither written nor followed.
	away := filepath.Join(p.Root(), "away")
	for _, make := range []func(string) error{
		func(file string) error { return os.Symlink(away, file) },
		func(file string) error { return os.Mkdir(file, 0o700) },
	} {
		if err := os.RemoveAll(path(p, linesName)); err != nil {
			t.Fatal(err)
		}
		if err := make(path(p, linesName)); err != nil {
			t.Fatal(err)
		}
		if err := Append(p, one(3)); err == nil {
			t.Error("no error")
		}
		Take(p, "").Done()
	}
	if account.Exists(away) {
		t.Error("a link was followed")
	}
}

func TestRewrite(t *testing.T) {
	p := newProject(t)
	leave(t, p, one(1), one(2))
	if err := os.Rename(path(p, linesName), path(p, takenName)); err != nil {
		t.Fatal(err)
	}
	leave(t, p, one(3), one(4))
	err := Rewrite(p, func(w *manifest.Window) bool {
		w.Summary = strings.ReplaceAll(w.Summary, "secret", "******")
		return w.Call != "call-2" && w.Call != "call-3"
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := calls(Pending(p)); got != "1 4" {
		t.Errorf("left %q", got)
	}
	leave(t, p, one(5))
	if got := taken(t, Take(p, "")); got != "1 4 5" {
		t.Errorf("taken %q", got)
	}
	if err := Rewrite(p, func(*manifest.Window) bool { return false }); err != nil || len(Pending(p)) > 0 {
		t.Errorf("%v, left %q", err, calls(Pending(p)))
	}
}
