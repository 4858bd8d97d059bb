package transcript

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDirNames(t *testing.T) {
	long := "/" + strings.Repeat("a", 150) + "/" + strings.Repeat("é", 100)
	for cwd, want := range map[string]string{
		"/srv/a.b_c d+e":               "-srv-a-b-c-d-e",
		"ünï-日本":                       "-n----",
		"😀x":                           "--x",
		"/":                            "-",
		"/Srv/P":                       "-Srv-P",
		"/" + strings.Repeat("b", 199): "-" + strings.Repeat("b", 199),
	} {
		if got := ClaudeDirName(cwd); got != want {
			t.Errorf("%q: %q, want %q", cwd, got, want)
		}
	}
	// h = 31*h + unit in 32 bits, as JavaScript computes it for this path.
	if got, want := ClaudeDirName(long), "-"+strings.Repeat("a", 150)+strings.Repeat("-", 49)+"-"+longHash; got != want {
		t.Errorf("long: %q, want %q", got, want)
	}
	if got := droidDirName("/srv/a.b_c d+e"); got != "-srv-a.b_c d+e" {
		t.Errorf("droid: %q", got)
	}
}

// longHash is what node prints for the path in TestDirNames:
// let h=0; for (let i=0;i<p.length;i++) h=(h<<5)-h+p.charCodeAt(i)|0; Math.abs(h).toString(36)
const longHash = "9v68zk"

func TestIsUUID(t *testing.T) {
	for s, want := range map[string]bool{
		"61933d95-0000-4000-8000-000000000001": true, "61933D95-0000-4000-8000-00000000000F": true,
		"agent-1b035f05": false, "rewind-fork-abc": false, "61933d95-0000-4000-8000-00000000000": false,
		"61933d95-0000-4000-8000-00000000000g": false, "61933d9500000-4000-8000-000000000001": false, newUUID(): true,
	} {
		if IsUUID(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

func TestSessions(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(home, "proj.x")
	if err := os.MkdirAll(filepath.Join(root, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, _ = filepath.EvalSymlinks(root)
	h := Home{Dir: home}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	write := func(agent Agent, cwd, dir, id string, lines int) {
		t.Helper()
		version := "2.1.329"
		if agent == Droid {
			version = "0.215"
		}
		m := newMaker(agent, version)
		m.session, m.cwd = id, cwd
		m.buf.Reset()
		if agent == Droid {
			m.raw(fmt.Sprintf(`{"type":"session_start","id":%q,"title":"t","version":2,"cwd":%s}`, id, js(cwd)))
		}
		m.say("prompt of " + id[:4])
		for range lines {
			m.reply(strings.Repeat("long ", 1000))
		}
		if agent == Claude {
			m.raw(fmt.Sprintf(`{"type":"custom-title","customTitle":"title %s","sessionId":%q}`, id[:4], id))
		}
		file := filepath.Join(dir, id+".jsonl")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, m.buf.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		day = day.Add(time.Hour)
		if err := os.Chtimes(file, day, day); err != nil {
			t.Fatal(err)
		}
	}
	id := func(n int) string { return fmt.Sprintf("%04d0000-0000-4000-8000-000000000001", n) }
	projects := filepath.Join(home, ".claude", "projects")
	dir := filepath.Join(projects, ClaudeDirName(root))
	write(Claude, root, dir, id(1), 1)
	write(Claude, root, dir, id(2), 200) // longer than both ends
	write(Claude, filepath.Join(root, "sub"), filepath.Join(projects, ClaudeDirName(filepath.Join(root, "sub"))), id(3), 1)
	write(Claude, root+"/../proj-x", dir, id(4), 1)                                       // another directory of the same name
	write(Claude, root+"-2", filepath.Join(projects, ClaudeDirName(root+"-2")), id(5), 1) // one that begins with it
	if err := os.WriteFile(filepath.Join(dir, "agent-1.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Sessions(Claude, h, root)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range got {
		ids = append(ids, s.ID)
		if s.Title != "title "+s.ID[:4] {
			t.Errorf("%+v", s)
		}
	}
	if want := []string{id(3), id(2), id(1)}; !slices.Equal(ids, want) {
		t.Errorf("sessions %q, want %q", ids, want)
	}
	if got[2].Last != "prompt of 0001" || got[2].Dir != root {
		t.Errorf("%+v", got[2])
	}
	h.Getenv = func(name string) string {
		return map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "other"), "CLAUDE_CODE_PROJECT_DIR_NAME": "named"}[name]
	}
	write(Claude, root, filepath.Join(home, "other", "projects", "named"), id(6), 1)
	if got, err := Sessions(Claude, h, root); err != nil || len(got) != 1 || got[0].ID != id(6) {
		t.Errorf("with its own directory: %+v %v", got, err)
	}
	write(Droid, root, filepath.Join(home, ".factory", "sessions", droidDirName(root)), id(7), 1)
	if got, err := Sessions(Droid, h, root); err != nil || len(got) != 1 || got[0].ID != id(7) || got[0].Title != "t" {
		t.Errorf("droid: %+v %v", got, err)
	}
}

func TestAncestors(t *testing.T) {
	parents := map[string]string{"c": "b", "b": "a", "x": "y", "y": "x", "s": "s"}
	for id, want := range map[string][]string{"c": {"b", "a"}, "a": nil, "x": {"y"}, "s": nil, "none": nil} {
		if got := Ancestors(parents, id); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

// fakeProc writes a process file system.
type fakeProc struct {
	t   *testing.T
	dir string
}

func (f fakeProc) add(pid, parent int, ticks string, cwd string, env []string, args ...string) {
	f.t.Helper()
	dir := filepath.Join(f.dir, fmt.Sprint(pid))
	stat := fmt.Sprintf("%d (na) me) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %s 0 0", pid, parent, ticks)
	for name, data := range map[string]string{
		"cmdline": strings.Join(args, "\x00") + "\x00", "environ": strings.Join(env, "\x00") + "\x00", "stat": stat,
	} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			f.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := os.Symlink(cwd, filepath.Join(dir, "cwd")); err != nil {
		f.t.Fatal(err)
	}
}

func TestRunning(t *testing.T) {
	const sid, other = "61933d95-0000-4000-8000-000000000001", "61933d95-0000-4000-8000-000000000002"
	now := time.Unix(1_800_000_000, 0)
	boot := now.Add(-time.Hour)
	for _, c := range []struct {
		name  string
		agent Agent
		setup func(f fakeProc, home string)
		age   time.Duration // of the transcript
		pid   int
		none  bool
	}{
		{name: "nobody", age: time.Hour, none: true},
		{name: "changed just now", age: time.Second},
		{name: "resumed", age: time.Hour, pid: 10, setup: func(f fakeProc, _ string) {
			f.add(10, 1, "100", "/", nil, "/usr/bin/claude", "--resume", sid)
		}},
		{name: "resumed by an interpreter", age: time.Hour, pid: 10, setup: func(f fakeProc, _ string) {
			f.add(10, 1, "100", "/", nil, "node", "/x/node_modules/@anthropic-ai/claude-code/cli.js", "-r", sid)
		}},
		{name: "another session", age: time.Hour, none: true, setup: func(f fakeProc, _ string) {
			f.add(10, 1, "100", "/srv/p", nil, "claude", "--resume", other)
		}},
		{name: "an editor on the file", age: time.Hour, none: true, setup: func(f fakeProc, _ string) {
			f.add(10, 1, "100", "/srv/p", nil, "rewind", "restore", sid)
		}},
		{name: "a shell of it", age: time.Hour, pid: 10, setup: func(f fakeProc, _ string) {
			f.add(10, 1, "100", "/", nil, "claude")
			f.add(11, 10, "200", "/", []string{"CLAUDE_CODE_SESSION_ID=" + sid}, "bash")
			f.add(12, 11, "300", "/", []string{"CLAUDE_CODE_SESSION_ID=" + sid}, "sleep", "1")
		}},
		{name: "a server that it left behind", age: time.Hour, none: true, setup: func(f fakeProc, _ string) {
			f.add(12, 1, "300", "/", []string{"CLAUDE_CODE_SESSION_ID=" + sid}, "vite")
		}},
		{name: "in its directory", age: time.Minute, pid: 10, setup: func(f fakeProc, _ string) {
			f.add(10, 1, "100", "/srv/p", nil, "claude")
		}},
		{name: "in its directory, but younger than the file", age: time.Minute, none: true, setup: func(f fakeProc, _ string) {
			f.add(10, 1, "359000", "/srv/p", nil, "claude")
		}},
		{name: "elsewhere", age: time.Minute, none: true, setup: func(f fakeProc, _ string) {
			f.add(10, 1, "100", "/srv/q", nil, "claude")
		}},
		{name: "droid", agent: Droid, age: time.Hour, pid: 10, setup: func(f fakeProc, _ string) {
			f.add(10, 1, "100", "/", nil, "/opt/droid", "--resume", sid)
		}},
		{name: "listed", age: time.Hour, pid: 10, setup: func(f fakeProc, home string) {
			f.add(10, 1, "100", "/", nil, "something")
			list(t, home, 10, sid, "100")
		}},
		{name: "listed, but the process is another by now", age: time.Hour, none: true, setup: func(f fakeProc, home string) {
			f.add(10, 1, "999", "/", nil, "something")
			list(t, home, 10, sid, "100")
		}},
		{name: "listed, but gone", age: time.Hour, none: true, setup: func(f fakeProc, home string) {
			f.add(11, 1, "100", "/", nil, "something")
			list(t, home, 10, sid, "100")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, home := fakeProc{t, t.TempDir()}, t.TempDir()
			stat := fmt.Sprintf("cpu 1 2\nintr 5\nbtime %d\nprocesses 3\n", boot.Unix())
			if err := os.WriteFile(filepath.Join(f.dir, "stat"), []byte(stat), 0o600); err != nil {
				t.Fatal(err)
			}
			f.add(1, 0, "1", "/", nil, "init")
			if c.setup != nil {
				c.setup(f, home)
			}
			file := filepath.Join(home, sid+".jsonl")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			at := now.Add(-c.age)
			if err := os.Chtimes(file, at, at); err != nil {
				t.Fatal(err)
			}
			agent := c.agent
			if agent == "" {
				agent = Claude
			}
			check := RunningCheck{Agent: agent, Session: sid, File: file, Dir: "/srv/p", Home: Home{Dir: home}, Now: now, Proc: f.dir}
			got := check.Run()
			if (got == nil) != c.none || got != nil && (got.PID != c.pid || got.How == "") {
				t.Errorf("%+v, want pid %d, none %v", got, c.pid, c.none)
			}
		})
	}
}

func list(t *testing.T, home string, pid int, session, start string) {
	t.Helper()
	dir := filepath.Join(home, ".claude", "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	data := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/srv/p","procStart":%q,"status":"idle"}`, pid, session, start)
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(pid)+".json"), []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Without /proc, only what the agent lists and the file's age speak.
func TestRunningWithoutProc(t *testing.T) {
	home := t.TempDir()
	const sid = "61933d95-0000-4000-8000-000000000001"
	check := RunningCheck{Agent: Claude, Session: sid, File: filepath.Join(home, "none"), Home: Home{Dir: home}, Now: time.Now(), Proc: filepath.Join(home, "noproc")}
	if got := check.Run(); got != nil {
		t.Errorf("nobody: %+v", got)
	}
	list(t, home, os.Getpid(), sid, "")
	if got := check.Run(); got == nil || got.PID != os.Getpid() {
		t.Errorf("listed: %+v", got)
	}
}

func TestDescribeOdd(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "61933d95-0000-4000-8000-000000000001.jsonl")
	for _, data := range []string{"", "no JSON\n", "{", string(bytes.Repeat([]byte("x"), 2*headSize))} {
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := Describe(Claude, file); err != nil || s.Size != int64(len(data)) || s.Title != "" {
			t.Errorf("%.10q: %+v %v", data, s, err)
		}
	}
	if _, err := Describe(Claude, dir); err == nil {
		t.Error("a directory was described")
	}
}
