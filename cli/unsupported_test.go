package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

// On a system where files are lost, init refuses, and hooks do nothing but say so
// once; with the variable both work.
func TestUnsupportedSystem(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	allow := ""
	run := func(stdin string, args ...string) (code int, stdout, stderr string) {
		var out, err bytes.Buffer
		env := account.Env{Home: home, Dir: dir, System: "windows", Getenv: func(key string) string {
			return map[string]string{"REWIND_ALLOW_WINDOWS": allow, "HOME": home}[key]
		}}
		code = cli.Main(append([]string{"rewind"}, args...), env, cli.Stdio{In: strings.NewReader(stdin), Out: &out, Err: &err})
		return code, out.String(), err.String()
	}
	code, stdout, stderr := run("", "init")
	if want := "rewind: error: rewind does not run on Windows yet: a restore could lose files there\nrewind: hint: to try it anyway, set REWIND_ALLOW_WINDOWS=1\n"; code != 8 || stdout != "" || stderr != want {
		t.Errorf("init: %d %q %q", code, stdout, stderr)
	}
	start := `{"hook_event_name":"SessionStart","session_id":"s1","cwd":` + quoteJSON(dir) + `,"source":"startup"}`
	for i, told := range []bool{true, false} {
		code, stdout, stderr = run(strings.Replace(start, "s1", "s"+string(rune('1'+i)), 1), "hook", "claude-code")
		if code != 0 || stderr != "" || strings.Contains(stdout, "does not run on Windows yet") != told || !told && stdout != "" {
			t.Errorf("hook %d: %d %q %q", i+1, code, stdout, stderr)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, ".agent")); err == nil {
		t.Error("something was made")
	}
	allow = "1"
	if code, _, stderr = run("", "init"); code != 0 {
		t.Errorf("init where it is allowed: %d %q", code, stderr)
	}
}

func quoteJSON(s string) string { return `"` + strings.ReplaceAll(s, `\`, `\\`) + `"` }
