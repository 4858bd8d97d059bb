//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const columns, rows = 116, 27

// session is a project in which agents work, and then a person at a terminal.
type session struct {
	program, dir, home, project string
	pause                       time.Duration // before the last turn
	ahead                       time.Duration // of the clock
	agent, id                   string        // who works
	last                        string        // event of its transcript
	prompts, calls              int
}

func newSession(program, dir string, pause time.Duration) (*session, error) {
	s := &session{program: program, pause: pause, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "shop")}
	for _, d := range []string{s.home, s.project} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// age is that of the last turn when the person looks: no age becomes another one meanwhile.
const age = 8*time.Minute + 36*time.Second

// names are the files of the project.
var names = []string{"cart", "order", "price", "stock", "user", "login", "mail", "search", "export", "report", "coupon", "refund", "invoice", "address", "review"}

// step is keys that are pressed, what the screen shows then, and the caption in the picture.
type step struct {
	keys, until string
	caption     string
	seconds     float64
}

// play is the past, and then what a person sees who presses keys.
func (s *session) play() ([]frame, error) {
	var turned time.Time // when the last turn began
	past := []func() error{s.write("Makefile", "build:\n\tgo build ./...\n"), s.write("README.md", "# shop\n")}
	for _, name := range names {
		past = append(past, s.write("src/"+name+".go", fmt.Sprintf("package shop\n\n// %[1]s.go is what the shop knows of its %[1]s.\ntype %[2]s struct{ ID int }\n", name, strings.ToUpper(name[:1])+name[1:])))
	}
	past = append(past, s.run("", "init", "--quiet"),
		s.who("claude", "7c1f0a52-9a3e-4d0b-8f65-2f1f6f0c9a11"),
		s.prompt("add VAT to the total"), s.edit("src/vat.go", "package shop\n\nfunc VAT(net Cents) Cents { return net * 19 / 100 }\n"), s.event("Stop", nil),
		s.who("codex", "2e9b4c10-1111-4d0b-8f65-2f1f6f0c9a22"),
		s.prompt("tests for the cart"), s.edit("test/cart_test.go", "package shop_test\n\nfunc TestCart(t *testing.T) { t.Parallel() }\n"),
		s.bash("go test ./...", func() error { return nil }), s.event("Stop", nil),
		s.who("claude", "7c1f0a52-9a3e-4d0b-8f65-2f1f6f0c9a11"),
		s.prompt("VAT by country"), s.edit("src/vat.go", "package shop\n\n// Rates by country, in percent.\nvar Rates = map[string]Cents{\"DE\": 19, \"FR\": 20}\n\nfunc VAT(net Cents, country string) Cents { return net * Rates[country] / 100 }\n"), s.event("Stop", nil),
		s.who("gemini", "91d0aa37-2222-4d0b-8f65-2f1f6f0c9a33"),
		s.prompt("say in the README how to build it"), s.edit("README.md", "# shop\n\n    make build\n"), s.event("Stop", nil),
		func() error { time.Sleep(s.pause); turned = time.Now(); return nil }, s.who("claude", "7c1f0a52-9a3e-4d0b-8f65-2f1f6f0c9a11"),
		s.prompt("the build is slow, clean it up"), s.edit("Makefile", "build:\n\tgo build -o bin/shop ./src\n"),
		s.bash("rm -rf bin src/*", s.remove("src/*")), s.event("Stop", nil))
	for _, do := range past {
		if err := do(); err != nil {
			return nil, err
		}
	}
	s.ahead = time.Until(turned.Add(age))
	frames, err := s.atTerminal([]step{
		{"", `> .*rm -rf(?s:.*)D src/address`, "rewind: what every agent did, and what each row changed", 3.5},
		{"j", `> .*the build is slow`, "j, k: from row to row", 2},
		{"k", `> .*rm -rf`, "before rm -rf ran, there was a checkpoint", 3.5},
		{"\r", `y/n`, "enter: the plan of a restore", 4.5},
		{"y", `created`, "y: everything is back", 4.5},
	})
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(s.project, "src", "cart.go")); err != nil {
		return nil, fmt.Errorf("the restore did not bring it back: %w", err)
	}
	return frames, nil
}

// who lets another session go on.
func (s *session) who(agent, id string) func() error {
	return func() error { s.agent, s.id, s.last = agent, id, ""; return nil }
}

func (s *session) write(name, text string) func() error {
	return func() error {
		file := filepath.Join(s.project, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, []byte(text), 0o644)
	}
}

func (s *session) remove(name string) func() error {
	return func() error {
		files, err := filepath.Glob(filepath.Join(s.project, name))
		for _, file := range files {
			err = errors.Join(err, os.RemoveAll(file))
		}
		return err
	}
}

func (s *session) prompt(text string) func() error {
	return func() error {
		s.prompts++
		return s.event("UserPromptSubmit", map[string]any{"prompt": text})()
	}
}

func (s *session) edit(name, text string) func() error {
	return s.call("Edit", map[string]any{"file_path": filepath.Join(s.project, name), "new_string": text}, s.write(name, text))
}

func (s *session) bash(command string, does func() error) func() error {
	return s.call("Bash", map[string]any{"command": command}, does)
}

// call is a tool call, from its beginning to its end.
func (s *session) call(tool string, input map[string]any, does func() error) func() error {
	return func() error {
		s.calls++
		call := map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": fmt.Sprint("toolu_", s.calls)}
		if err := s.event("PreToolUse", call)(); err != nil {
			return err
		}
		if err := does(); err != nil {
			return err
		}
		return s.event("PostToolUse", call)()
	}
}

func (s *session) event(name string, more map[string]any) func() error {
	return func() error {
		payload := map[string]any{"hook_event_name": name, "session_id": s.id, "prompt_id": fmt.Sprint("p", s.prompts), "cwd": s.project}
		for k, v := range more {
			payload[k] = v
		}
		data, err := json.Marshal(payload)
		if err != nil {
			return err
		}
		return s.run(string(data), "hook", s.agent)()
	}
}

func (s *session) command(args []string) *exec.Cmd {
	cmd := exec.Command(s.program, args...)
	cmd.Dir = s.project
	cmd.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "PAGER=cat", "LC_ALL=C.UTF-8", "TZ=UTC", clockVariable + "=" + s.ahead.String()}
	return cmd
}

func (s *session) run(stdin string, args ...string) func() error {
	return func() error {
		cmd := s.command(args)
		cmd.Stdin = strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("rewind %v: %w\n%s", args, err, out)
		}
		return nil
	}
}

// atTerminal runs rewind at a pseudo terminal, presses keys, and gives what the screen showed after each.
func (s *session) atTerminal(steps []step) ([]frame, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	slave, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		return nil, err
	}
	cmd := s.command(nil)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	slave.Close()
	defer cmd.Process.Kill() // has no effect on one that has ended
	shown := make(chan string, 1000)
	go func() {
		defer close(shown)
		var out []byte
		for b := make([]byte, 64<<10); ; {
			n, err := master.Read(b)
			if err != nil { // the last one has closed the other side
				return
			}
			out = append(out, b[:n]...)
			for {
				_, rest, begun := bytes.Cut(out, []byte(paintBegin))
				picture, rest, whole := bytes.Cut(rest, []byte(paintEnd))
				if !begun || !whole {
					break
				}
				shown <- string(picture)
				out = rest
			}
		}
	}()
	var frames []frame
	screen := ""
	for _, st := range steps {
		if _, err := master.WriteString(st.keys); err != nil {
			return nil, err
		}
		wanted := regexp.MustCompile(st.until)
		over := time.After(time.Minute)
		for calm := false; !calm || !wanted.MatchString(plain(screen)); {
			select {
			case now, ok := <-shown:
				if !ok {
					return nil, fmt.Errorf("rewind ended before %q:\n%s", st.until, plain(screen))
				}
				screen, calm = now, false
			case <-time.After(rest):
				calm = true
			case <-over:
				return nil, fmt.Errorf("%q was not shown:\n%s", st.until, plain(screen))
			}
		}
		if st.seconds > 0 {
			frames = append(frames, frame{lines(screen), st.caption, st.seconds})
		}
	}
	if _, err := master.WriteString("q"); err != nil {
		return nil, err
	}
	for range shown {
	}
	return frames, cmd.Wait()
}

// What a picture of the picker begins and ends with, and how long none comes once a screen rests.
const (
	paintBegin, paintEnd = "\x1b[?2026h\x1b[H", "\x1b[?2026l"
	rest                 = 600 * time.Millisecond
)

// plain is a screen without styles.
func plain(screen string) string {
	return regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`).ReplaceAllString(screen, "")
}
