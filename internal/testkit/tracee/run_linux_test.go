//go:build amd64 || arm64

package tracee

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/crashfs"
)

// The test's own binary is the traced program where this is set.
const asProgram = "TRACEE_PROGRAM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asProgram); dir != "" {
		if err := program(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("done")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func program(dir string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	if err := os.WriteFile("a", []byte("hello"), 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "a"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(", world"); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), os.Mkdir("d", 0o700), os.Rename("a", "d/b"), os.Symlink("b", "d/c"), os.Link("d/b", "e")); err != nil {
		return err
	}
	return errors.Join(os.Chmod("e", 0o640), os.Truncate("e", 8), os.Remove("d/c"))
}

func trace(t *testing.T, plan func(*Call) Fate) (*Result, string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&Tracer{
		Program: exe, Dir: "/", Env: []string{asProgram + "=" + dir}, Scratch: t.TempDir(), Plan: plan, Data: true,
		Counts: func(path string) bool { return strings.HasPrefix(path, dir) },
	}).Run()
	if errors.As(err, new(*RefusedError)) {
		t.Skipf("NOT TESTED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r, dir
}

func TestCallsAreSeen(t *testing.T) {
	r, dir := trace(t, nil)
	if r.Code != 0 || r.Out != "done\n" {
		t.Fatalf("%+v", r)
	}
	var got []string
	disk := crashfs.New()
	if err := disk.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Calls {
		if c.Name == "truncate" { // by name: Replay knows ftruncate only
			c.Name, c.Size = "ftruncate", 8
		}
		if err := Replay(disk, c); err != nil {
			t.Fatal(err)
		}
		if c.Changes {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", c.Name, strings.TrimPrefix(c.Path, dir), strings.TrimPrefix(c.To, dir), c.Data)))
		}
	}
	want := []string{
		"openat /a", "write /a  hello", "openat /a", "write /a  , world", "fsync /a", "mkdirat /d", "renameat /a /d/b",
		"symlinkat /d/c b", "linkat /d/b /e", "fchmodat /e", "ftruncate /e", "unlinkat /d/c",
	}
	if !slices.Equal(got, want) {
		t.Errorf("seen:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if left := disk.Content(dir); len(left) != 2 || left["d/b"] != "hello, w" || left["e"] != "hello, w" {
		t.Errorf("played again: %q", left)
	}
	if left := disk.Crash(nil).Content(dir); len(left) != 0 {
		t.Errorf("no directory was synced, but %q is durable", left)
	}
}

func TestCallsMeetTheirFate(t *testing.T) {
	at := func(name string, fate Fate) func(*Call) Fate {
		return func(c *Call) Fate {
			if c.Name == name {
				return fate
			}
			return Fate{}
		}
	}
	r, dir := trace(t, at("fsync", Fate{Errno: syscall.EIO}))
	if r.Code != 1 || !strings.Contains(r.Err, "input/output error") {
		t.Errorf("a failing call: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "d")); err != nil {
		t.Error(err) // only that call has failed
	}
	r, dir = trace(t, at("renameat", Fate{Kill: true}))
	if r.Signal != syscall.SIGKILL || r.Code != -1 {
		t.Errorf("a kill: %+v", r)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(data) != "hello, world" {
		t.Errorf("killed before the call, but: %q, %v", data, err)
	}
	short := 0
	r, dir = trace(t, func(c *Call) Fate {
		if c.Name == "write" && c.Path == filepath.Join(filepath.Dir(c.Path), "a") && short == 0 {
			short++
			return Fate{Short: true}
		}
		return Fate{}
	})
	if r.Code != 0 || r.Calls[slices.IndexFunc(r.Calls, func(c *Call) bool { return c.Name == "write" })].Size != 2 {
		t.Errorf("a short write: %+v", r)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "e")); err != nil || string(data) != "hello, w" {
		t.Errorf("the rest of a short write was written by a second one: %q, %v", data, err)
	}
}
