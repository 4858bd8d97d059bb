//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const columns, rows = 92, 40

// session is a project in which an agent works, and then a person at a terminal.
type session struct {
	program, dir, home, project string
	ahead                       time.Duration // of the clock
	turned                      time.Time     // between the two turns
	prompts, calls              int
}

const sessionID = "7c1f0a52-9a3e-4d0b-8f65-2f1f6f0c9a11"

func newSession(program, dir string) (*session, error) {
	s := &session{program: program, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "shop")}
	for _, d := range []string{s.home, s.project} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// play is the past and then what stands on the screen.
func (s *session) play() (string, error) {
	for _, step := range []func() error{
		s.write("src/cart.go", "package shop\n\nfunc Total(c Cart) Cents {\n\treturn c.Sum()\n}\n"),
		s.write("src/order.go", "package shop\n\ntype Order struct{ Cart Cart }\n"),
		s.write("src/cart_test.go", "package shop\n"),
		s.write("Makefile", "build:\n\tgo build ./...\n"),
		s.run("", "init", "--quiet"),
		s.prompt("add VAT to the cart's total"),
		s.edit("src/cart.go", "package shop\n\nfunc Total(c Cart) Cents {\n\tnet := c.Sum()\n\treturn net + VAT(net)\n}\n"),
		s.edit("src/vat.go", "package shop\n\nfunc VAT(net Cents) Cents { return net * 19 / 100 }\n"),
		s.event("Stop", nil),
		s.pass(),
		s.prompt("the build is slow, clean it up"),
		s.edit("Makefile", "build:\n\tgo build -o bin/shop ./src\n\nclean:\n\trm -rf bin src/*\n"),
		s.bash("make clean && make build", s.remove("src")),
		s.event("Stop", nil),
	} {
		if err := step(); err != nil {
			return "", err
		}
	}
	s.ahead = time.Until(s.turned.Add(9 * time.Minute))
	var screen strings.Builder
	for _, line := range [][]string{
		{"list"}, {"undo"}, {"history", "src/cart.go"},
	} {
		out, err := s.atTerminal(line...)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&screen, "\x1b[32m$\x1b[0m \x1b[1mrewind %s\x1b[0m\r\n%s\r\n", strings.Join(line, " "), strings.ReplaceAll(out, s.dir, "~"))
	}
	for _, name := range []string{"src/cart.go", "src/vat.go", "src/order.go"} {
		if _, err := os.Stat(filepath.Join(s.project, name)); err != nil {
			return "", fmt.Errorf("the undo did not bring it back: %w", err)
		}
	}
	return screen.String(), nil
}

// pass lets what was so far be nine minutes ago in the end, and what comes next eight.
func (s *session) pass() func() error {
	return func() error {
		time.Sleep(time.Second) // the terminal's commands take their time, too
		s.turned = time.Now()
		time.Sleep(time.Second)
		return nil
	}
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
	return func() error { return os.RemoveAll(filepath.Join(s.project, name)) }
}

func (s *session) transcript() string {
	return filepath.Join(s.home, ".claude", "projects", "-shop", sessionID+".jsonl")
}

func (s *session) prompt(text string) func() error {
	return func() error {
		s.prompts++
		if err := s.event("UserPromptSubmit", map[string]any{"prompt": text, "prompt_id": fmt.Sprint("p", s.prompts)})(); err != nil {
			return err
		}
		file := s.transcript()
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		line := map[string]any{
			"parentUuid": nil, "isSidechain": false, "type": "user", "message": map[string]any{"role": "user", "content": text},
			"uuid": fmt.Sprintf("00000000-0000-4000-8000-%012d", s.prompts), "timestamp": time.Now().UTC().Format(time.RFC3339Nano),
			"promptId": fmt.Sprint("p", s.prompts), "cwd": s.project, "sessionId": sessionID, "version": "2.1.329",
		}
		if s.prompts > 1 {
			line["parentUuid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", s.prompts-1)
		}
		return json.NewEncoder(f).Encode(line)
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
		payload := map[string]any{"hook_event_name": name, "session_id": sessionID, "transcript_path": s.transcript(), "cwd": s.project}
		for k, v := range more {
			payload[k] = v
		}
		data, err := json.Marshal(payload)
		if err != nil {
			return err
		}
		return s.run(string(data), "hook", "claude")()
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

// atTerminal runs a command at a pseudo terminal and gives all that it wrote there.
func (s *session) atTerminal(args ...string) (string, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return "", err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return "", err
	}
	slave, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	defer slave.Close()
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		return "", err
	}
	cmd := s.command(args)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	slave.Close()
	var out bytes.Buffer
	out.ReadFrom(master) // ends with an error when the last one has closed the other side
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("rewind %v: %w\n%s", args, err, out.String())
	}
	return out.String(), nil
}
