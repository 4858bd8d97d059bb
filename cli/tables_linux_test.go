package cli_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

// What lists something has no line that a terminal of 80 columns breaks.
func TestTablesFitTheTerminal(t *testing.T) {
	x := newTerminal(t)
	x.run("init")
	for i, session := range []string{"dc84ba08-9cd6-4ce5-8923-8e14994beb8f", "1ebf69c8-1c97-4785-ab82-05f7dce86af7"} {
		hook := exec.Command("rewind", "hook", "claude")
		hook.Dir, hook.Env = x.dir, x.env
		hook.Stdin = strings.NewReader(fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":%q,"cwd":%q,"prompt_id":"p%d","prompt":"add a discount for large orders, and say so in the README"}`, session, x.dir, i))
		if out, err := hook.CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
		x.write("discount.txt", fmt.Sprintln(i))
		x.run("save")
	}
	x.run("restore", "4", "--yes", "--code-only")
	x.run("undo", "--yes")
	colour := regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	for _, args := range [][]string{{"list"}, {"sessions"}, {"list", "--ops"}} {
		code, screen := x.run(args...)
		lines := strings.Split(strings.ReplaceAll(colour.ReplaceAllString(screen, ""), "\r", ""), "\n")
		if code != 0 || len(lines) < 3 {
			t.Errorf("%v: %d %q", args, code, screen)
		}
		for _, line := range lines {
			if w := displaywidth.String(line); w > 80 {
				t.Errorf("%v: %d columns: %q", args, w, line)
			}
		}
	}
}
