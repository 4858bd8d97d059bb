//go:build unix

package register

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/shell"
)

// TestLineWithoutItsProgram: an agent that stops where a hook cannot be run goes on where the
// program is gone or not executable, and a refusal of the program, exit 2, gets through.
func TestLineWithoutItsProgram(t *testing.T) {
	for _, agent := range []hookio.Agent{hookio.Gemini, hookio.Copilot} {
		program := filepath.Join(t.TempDir(), "it's here", "rewind")
		c := ClientOf(agent)
		line := c.CommandLine(program)
		run := func(want int) {
			t.Helper()
			out, err := exec.Command("sh", "-c", line).CombinedOutput()
			code := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if code != want || len(out) > 0 {
				t.Errorf("%s: exit %d, %q; want %d", line, code, out, want)
			}
		}
		run(0)
		if err := os.Mkdir(filepath.Dir(program), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, []byte("#!/bin/sh\n[ \"$*\" = 'hook "+string(agent)+"' ] && exit 2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		run(0)
		if err := os.Chmod(program, 0o700); err != nil {
			t.Fatal(err)
		}
		run(2)
		if !runsHook(line) || Unguarded(line) != shell.Quote(program)+" hook "+string(agent) {
			t.Errorf("%s is not known again: %q", line, Unguarded(line))
		}
	}
}
