package cli_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hang makes every open of a file wait in the kernel, as on a network file
// system that does not answer, until release is called.
func (l *hookLab) hang(file string) (release func()) {
	l.t.Helper()
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_CONTENT|unix.FAN_CLOEXEC, 0)
	if err == nil {
		err = unix.FanotifyMark(fd, unix.FAN_MARK_ADD, unix.FAN_OPEN_PERM, unix.AT_FDCWD, file)
	}
	if err != nil {
		l.t.Skip("NOT TESTED HERE: nothing can be made to hang without root and fanotify: ", err)
	}
	return func() { unix.Close(fd) }
}

// within runs a hook that must end by itself long before it is killed.
func (l *hookLab) within(in io.Reader, words ...string) answer {
	l.t.Helper()
	cmd := l.command(words...)
	killed := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
	defer killed.Stop()
	return l.run(cmd, in)
}

// Whatever hangs, the agent goes on; what a save could not finish is left to the
// detached process.
func TestHookThatHangs(t *testing.T) {
	t.Parallel() // it waits most of the time
	t.Run("a file of the project", func(t *testing.T) {
		t.Parallel()
		l := newHookLab(t)
		l.rewind("init")
		l.write("stuck.txt", "one")
		release := l.hang(filepath.Join(l.root, "stuck.txt"))
		got := l.within(strings.NewReader(l.payload("UserPromptSubmit", "prompt", "hangs", "prompt_id", "1")), "hook", "claude")
		left, _ := filepath.Glob(filepath.Join(l.root, ".agent/rewind/tmp/hooks/r-*"))
		release()
		if !got.silent() || len(left) != 1 {
			t.Errorf("%+v, %d requests", got, len(left))
		}
		l.settle()
		if got := l.list(); len(got) != 2 || got[0].Prompt != "hangs" || got[0].Added != 1 {
			t.Errorf("%+v", got)
		}
		l.rewind("verify")
	})
	t.Run("the store", func(t *testing.T) {
		t.Parallel()
		l := newHookLab(t)
		l.rewind("init")
		release := l.hang(filepath.Join(l.root, ".agent/rewind/format"))
		defer release()
		for _, event := range []string{"UserPromptSubmit", "SessionEnd"} {
			if got := l.within(strings.NewReader(l.payload(event, "prompt", "hangs")), "hook", "claude"); !got.silent() {
				t.Errorf("%s: %+v", event, got)
			}
		}
	})
	t.Run("the agent's pipe", func(t *testing.T) {
		t.Parallel()
		l := newHookLab(t)
		l.rewind("init")
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if _, err := io.WriteString(w, l.payload("Stop")); err != nil {
			t.Fatal(err)
		}
		if got := l.within(r, "hook", "claude"); !got.silent() {
			t.Errorf("%+v", got)
		}
	})
	t.Run("FIFOs in the place of files", func(t *testing.T) {
		t.Parallel()
		l := newHookLab(t)
		l.write("a.txt", "one")
		l.rewind("init")
		env := filepath.Join(l.home, "env.sh")
		l.env = append(l.env, "CLAUDE_ENV_FILE="+env)
		for _, file := range []string{filepath.Join(l.root, "a.txt"), l.transcript(), env, filepath.Join(l.root, ".gitignore"), filepath.Join(l.home, ".rewind", "config.json")} {
			_ = os.Remove(file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mkfifo(file, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"} {
			if got := l.within(strings.NewReader(l.payload(event, "prompt", event, "source", "startup")), "hook", "claude"); got.code != 0 || got.stderr != "" {
				t.Errorf("%s: %+v", event, got)
			}
		}
		_ = os.Remove(filepath.Join(l.home, ".rewind", "config.json"))
		l.settle()
	})
}
