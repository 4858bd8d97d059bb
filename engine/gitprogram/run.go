package gitprogram

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
)

// MissingError: there is no git program.
type MissingError struct{}

func (*MissingError) Error() string { return "the git program is not installed, or not in $PATH" }

// FailedError: git ended with an error.
type FailedError struct {
	Command string // "git fast-import"
	Text    string // the last line that it said
	Err     error
}

func (e *FailedError) Error() string {
	if e.Text != "" {
		return e.Command + ": " + e.Text
	}
	return e.Command + ": " + e.Err.Error()
}
func (e *FailedError) Unwrap() error { return e.Err }

// command is git with arguments, in a repository ("": none).
func command(ctx context.Context, dir string, args ...string) (*exec.Cmd, *bytes.Buffer, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, nil, &MissingError{}
	}
	if dir != "" {
		args = append([]string{"-C", dir}, args...)
	}
	cmd := exec.CommandContext(ctx, git, args...)
	for _, v := range os.Environ() {
		// Those that a hook of git would hand on; GIT_CONFIG_… and GIT_SSH and their like are the person's.
		switch name, _, _ := strings.Cut(v, "="); name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_QUARANTINE_PATH":
		default:
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	return cmd, stderr, nil
}

func failed(ctx context.Context, cmd *exec.Cmd, stderr *bytes.Buffer, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	name := "git"
	for _, a := range cmd.Args[1:] {
		if a != "" && a[0] >= 'a' && a[0] <= 'z' && !strings.ContainsAny(a, "/=.") {
			name = "git " + a
			break
		}
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	return &FailedError{Command: name, Text: strings.TrimPrefix(lines[len(lines)-1], "fatal: "), Err: err}
}

// Output runs git in a directory ("": in none) and gives what it prints. Errors: *MissingError, *FailedError.
func Output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd, stderr, err := command(ctx, dir, args...)
	if err != nil {
		return nil, err
	}
	out, err := cmd.Output()
	var missing *exec.Error
	if errors.As(err, &missing) {
		return nil, &MissingError{}
	}
	return out, failed(ctx, cmd, stderr, err)
}
