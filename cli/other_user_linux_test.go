package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/cli/app"
)

// person is an account without root's powers.
type person struct {
	t       *testing.T
	uid     uint32
	home    string
	program string
}

// persons are two accounts, in a directory that both can look at.
func persons(t *testing.T) (dir string, one, other person) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED HERE: it takes root to be somebody else")
	}
	dir, err := os.MkdirTemp("", "persons")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	exe, err := exec.LookPath("rewind")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "rewind") // where everybody may run it
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	make := func(name string, uid uint32) person {
		p := person{t, uid, filepath.Join(dir, name), program}
		if err := errors.Join(os.Mkdir(p.home, 0o755), os.Chown(p.home, int(uid), int(uid))); err != nil {
			t.Fatal(err)
		}
		return p
	}
	return dir, make("one", 65533), make("other", 65534)
}

func (p person) rewind(dir string, args ...string) (out, errOut string, code int) {
	p.t.Helper()
	cmd := exec.Command(p.program, args...)
	cmd.Dir, cmd.Env = dir, []string{RaceExit, "HOME=" + p.home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: p.uid, Gid: p.uid}}
	if args[0] == "hook" {
		cmd.Stdin = strings.NewReader(`{"cwd":"` + dir + `","event":"prompt","prompt":"x"}`)
	}
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		p.t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func (p person) project(dir, name string) string {
	p.t.Helper()
	project := filepath.Join(dir, name)
	file := filepath.Join(project, "a")
	err := errors.Join(os.Mkdir(project, 0o755), os.WriteFile(file, []byte("a"), 0o644),
		os.Chown(project, int(p.uid), int(p.uid)), os.Chown(file, int(p.uid), int(p.uid)))
	if err != nil {
		p.t.Fatal(err)
	}
	return project
}

// Another account's store is one thing to every command: exit code 4, and a sentence that
// says so. It is private, so that not even its directory can be looked at; and so
// with one that was opened up.
func TestStoreOfAnotherAccount(t *testing.T) {
	dir, one, other := persons(t)
	project := one.project(dir, "project")
	if _, errOut, code := one.rewind(project, "init"); code != 0 {
		t.Fatal(errOut)
	}
	args := map[string][]string{
		"show": {"last"}, "diff": {}, "restore": {"last"}, "cat": {"last", "a"}, "ls": {"last"}, "export": {"last"},
		"pin": {"last"}, "unpin": {"last"}, "rename": {"last", "x"}, "forget": {"--yes", "--", "a"}, "deinit": {"--yes"},
		"run": {"true"}, "history": {"a"}, "grep": {"x"}, "revert": {"--tool", "x"}, "blame": {"a"}, "compare": {"last"}, "checkout": {"last", filepath.Join(dir, "beside")}, "bisect": {"--run", "true"}, "share": {"last"},
	}
	elsewhere := map[string]bool{"help": true, "completion": true, "hook": true, "pick": true, "stores": true, "man": true, "clone": true, "rescue": true}
	for _, mode := range []os.FileMode{0o700, 0o755} {
		if err := os.Chmod(filepath.Join(project, ".agent"), mode); err != nil {
			t.Fatal(err)
		}
		calls := [][]string{{"init", "--trust"}, {"init", "--adopt", filepath.Join(project, ".agent/rewind")}, {"config", "guard", "false"}, {"jump", "last"}}
		for _, e := range entries() {
			if !elsewhere[e.name] {
				calls = append(calls, append([]string{e.name}, args[e.name]...))
			}
		}
		for _, call := range calls {
			out, errOut, code := other.rewind(project, call...)
			said := errOut
			if call[0] == "validate" {
				said = out // its findings are the answer
			}
			if code != app.ExitNoProject || !strings.Contains(said, "belongs to another user") || !strings.Contains(said, "run rewind as the user who owns the store") {
				t.Errorf("%v %o: exit code %d\n%s%s", call, mode, code, out, errOut)
			}
		}
		if out, errOut, code := other.rewind(project, "hook", "generic"); code != 0 || errOut != "" || strings.Contains(out, "init") {
			t.Errorf("a hook: exit code %d, %q, %q", code, out, errOut)
		}
		if out, errOut, code := other.rewind(project, "stores"); code != 0 || out != "" {
			t.Errorf("stores: exit code %d, %q, %q", code, out, errOut)
		}
	}
	if _, errOut, code := one.rewind(project, "verify", "--read-data"); code != 0 {
		t.Error(errOut)
	}
	// A directory that the owner has closed to himself is not another's.
	if err := os.Chmod(filepath.Join(project, ".agent"), 0); err != nil {
		t.Fatal(err)
	}
	if _, errOut, code := one.rewind(project, "list"); code != 1 || !strings.Contains(errOut, "permission denied") {
		t.Errorf("one's own: exit code %d, %q", code, errOut)
	}
}

// Where the home directory cannot be written, what was there works, and init makes all or nothing.
func TestUnwritableHome(t *testing.T) {
	dir, one, _ := persons(t)
	project := one.project(dir, "project")
	if _, errOut, code := one.rewind(project, "init"); code != 0 {
		t.Fatal(errOut)
	}
	account := filepath.Join(one.home, ".rewind")
	for _, d := range []string{account, one.home} {
		if err := errors.Join(os.Chown(d, 0, 0), os.Chmod(d, 0o555)); err != nil {
			t.Fatal(err)
		}
	}
	works := func(project string) {
		t.Helper()
		for _, args := range [][]string{{"list"}, {"status"}, {"validate"}, {"stores"}, {"show", "last"}, {"verify"}, {"sessions"}, {"log"}, {"stats"}, {"config"}, {"diff"}} {
			if out, errOut, code := one.rewind(project, args...); code != 0 {
				t.Errorf("%v: exit code %d\n%s%s", args, code, out, errOut)
			}
		}
	}
	works(project)
	for _, args := range [][]string{{"save"}, {"restore", "last"}, {"gc"}, {"pin", "last"}} {
		if _, errOut, code := one.rewind(project, args...); code != 0 {
			t.Errorf("%v: exit code %d, %s", args, code, errOut)
		}
	}
	moved := filepath.Join(dir, "moved")
	if err := os.Rename(project, moved); err != nil {
		t.Fatal(err)
	}
	works(moved)

	fresh := one.project(dir, "fresh")
	nowhere := one
	nowhere.home = filepath.Join(dir, "nowhere", "deep")
	for _, p := range []person{one, nowhere} {
		out, errOut, code := p.rewind(fresh, "init", "--json")
		var doc app.ErrorView
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != app.ExitFailed || !strings.Contains(doc.Error.Message, "cannot be written") && p.home == one.home || doc.Error.Hint == "" && p.home == one.home {
			t.Errorf("init: exit code %d\n%s%s", code, out, errOut)
		}
		if _, err := os.Lstat(filepath.Join(fresh, ".agent")); err == nil {
			t.Fatalf("half a store is left, HOME=%s", p.home)
		}
		if _, errOut, code := p.rewind(fresh, "list"); code != app.ExitNoProject {
			t.Errorf("list: exit code %d: %s", code, errOut)
		}
	}
}

// Whatever of the store cannot be written, status --check says what and how to mend it, where a save fails.
func TestStatusCheckTriesWhatSavesNeed(t *testing.T) {
	dir, one, _ := persons(t)
	project := one.project(dir, "project")
	if _, errOut, code := one.rewind(project, "init"); code != 0 {
		t.Fatal(errOut)
	}
	if err := os.WriteFile(filepath.Join(project, "a"), []byte("b"), 0o644); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(project, ".agent", "rewind")
	if out, errOut, code := one.rewind(project, "status", "--check"); code != 0 {
		t.Fatalf("%s%s", out, errOut)
	}
	for _, c := range []struct {
		path string
		mode os.FileMode
		says string
	}{
		{"objects/log-00000001.pack", 0o400, "no save works"}, {"objects", 0o500, "no save works"}, {"head", 0, "each save reads all files"}, {"head", 0o400, "each save reads all files"},
		{"lock/append", 0o400, "no save works"}, {"tmp", 0o500, "no save works"}, {filepath.Join(one.home, ".rewind"), 0o500, "what agents do is not noted"},
	} {
		path := c.path
		if !filepath.IsAbs(path) {
			path = filepath.Join(store, path)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		out, errOut, code := one.rewind(project, "status", "--check")
		if want := c.says + ": " + path + " cannot be written: permission denied\n  fix: chmod u+rw"; !strings.Contains(out, want) || (code == 0) != (c.says != "no save works") {
			t.Errorf("%s %o: exit code %d\n%s%s", c.path, c.mode, code, out, errOut)
		}
		if err := os.Chmod(path, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	if out, errOut, code := one.rewind(project, "status", "--check"); code != 0 {
		t.Errorf("%s%s", out, errOut)
	}
}

// A working directory that may not be looked into is there: what is denied is said.
func TestWorkingDirectoryClosed(t *testing.T) {
	dir, one, _ := persons(t)
	project := one.project(dir, "project")
	below := filepath.Join(project, "below")
	err := errors.Join(os.Mkdir(below, 0o755), os.Chown(below, int(one.uid), int(one.uid)))
	if _, errOut, code := one.rewind(project, "init"); code != 0 || err != nil {
		t.Fatal(errOut, err)
	}
	for closed, says := range map[string]string{project: "/project/.agent/rewind: permission denied", below: "permission denied"} {
		cmd := exec.Command("sh", "-c", "chmod a-x "+closed+"; "+one.program+" list; code=$?; chmod a+x "+closed+"; exit $code")
		cmd.Dir, cmd.Env = closed, []string{RaceExit, "HOME=" + one.home, "PWD=" + closed, "PATH=" + os.Getenv("PATH")}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: one.uid, Gid: one.uid}}
		out, _ := cmd.CombinedOutput()
		if strings.Contains(string(out), "no longer exists") || !strings.Contains(string(out), says) {
			t.Errorf("%s: %q instead of %q", closed, out, says)
		}
	}
}
