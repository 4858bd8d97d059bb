package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Usage is what one process, with those it waited for, cost.
type Usage struct {
	Wall    time.Duration `json:"wall"` // from before its start to after its end
	User    time.Duration `json:"user"`
	System  time.Duration `json:"system"`
	PeakRSS int64         `json:"peak_rss"` // bytes, of the largest of them; 0: unknown
	Exit    int           `json:"exit"`
}

// Runner runs programs. It may be used by one goroutine at a time.
type Runner struct {
	Launch string   // bench/launch, built
	Tmp    string   // directory for reports
	Env    []string // the whole environment of what is run
}

// Command is one process to run.
type Command struct {
	Args   []string // program and arguments; the program is looked up in PATH
	Dir    string
	Env    []string // beside the Runner's
	Stdin  string
	Stdout io.Writer // nil: dropped
	Exits  []int     // exit codes that are fine beside 0
}

// ExitError is a program that failed.
type ExitError struct {
	Args   []string
	Exit   int
	Stderr string // its end
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("%s: exit code %d: %s", strings.Join(e.Args, " "), e.Exit, e.Stderr)
}

// Run runs one command to its end. Errors: *ExitError, or what prevented it
// from being started.
func (r *Runner) Run(ctx context.Context, c Command) (Usage, error) {
	var u Usage
	program, err := exec.LookPath(c.Args[0])
	if err != nil {
		return u, err
	}
	if program, err = filepath.Abs(program); err != nil {
		return u, err
	}
	report := filepath.Join(r.Tmp, "usage.json")
	if err := os.RemoveAll(report); err != nil {
		return u, err
	}
	cmd := exec.CommandContext(ctx, r.Launch, append([]string{report, program}, c.Args[1:]...)...)
	cmd.Dir = c.Dir
	cmd.Env = append(append([]string{}, r.Env...), c.Env...)
	if c.Stdin != "" {
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Stdout = c.Stdout
	if err := cmd.Run(); err != nil {
		return u, fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, tail(stderr.String()))
	}
	data, err := os.ReadFile(report)
	if err != nil {
		return u, err
	}
	if err := json.Unmarshal(data, &u); err != nil {
		return u, fmt.Errorf("%s: %w", report, err)
	}
	fine := u.Exit == 0
	for _, e := range c.Exits {
		fine = fine || u.Exit == e
	}
	if !fine {
		return u, &ExitError{c.Args, u.Exit, tail(stderr.String())}
	}
	return u, nil
}

// tail is the end of a program's complaints.
func tail(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 600 {
		s = "…" + s[len(s)-600:]
	}
	return s
}
