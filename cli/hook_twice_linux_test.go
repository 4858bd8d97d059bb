package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fireTwice runs the hook of one event twice at the same time, as an agent does where the hooks are
// registered in two places, and returns what is not silent of the two.
func (l *hookLab) fireTwice(event string, fields ...any) (said []answer) {
	l.t.Helper()
	payload := l.payload(event, fields...)
	answers := make(chan answer)
	for range 2 {
		go func() { answers <- l.run(l.command("hook", "claude"), strings.NewReader(payload)) }()
	}
	for range 2 {
		if a := <-answers; !a.silent() {
			said = append(said, a)
		}
	}
	return said
}

// A plugin beside the settings, or settings of the account beside those of the project, run each hook twice.
// What happens, happens once.
func TestHooksRegisteredTwice(t *testing.T) {
	l := newHookLab(t)
	l.write("a.txt", "one\n")
	l.rewind("init")
	prompts := 0
	prompt := func(text string) []answer {
		t.Helper()
		prompts++
		return l.fireTwice("UserPromptSubmit", "prompt", text, "prompt_id", fmt.Sprint("p", prompts))
	}
	l.fireTwice("SessionStart", "source", "startup")
	at := ""
	for _, n := range []string{"1", "2", "3"} {
		prompt("prompt " + n)
		l.say(at, "u"+n, "user", "prompt "+n, `,"promptId":"p`+n+`"`)
		rm := []any{"tool_name", "Bash", "tool_use_id", "t" + n, "tool_input", shellInput("rm -rf b")}
		l.fireTwice("PreToolUse", rm...)
		l.write("a.txt", n+"\n")
		l.fireTwice("PostToolUse", rm...)
		at = "a" + n
		l.say("u"+n, at, "assistant", "done", "")
		l.fireTwice("Stop")
	}
	if got := l.kinds(); got != strings.Repeat("stop pre-tool prompt ", 3)+"session-start manual" {
		t.Errorf("%s", got)
	}
	for _, c := range []struct{ command, leaves string }{
		{"/rewind:undo", "2\n"}, {"/rewind:undo", "1\n"}, {"/rewind:redo", "2\n"}, {"/rewind:redo", "3\n"},
		{"/rewind:revert prompt~1 --include-shared", "2\n"}, {"/rewind:undo", "3\n"}, {"/rewind:list", "3\n"},
	} {
		said := prompt(c.command)
		if len(said) != 1 || !strings.Contains(said[0].stdout, `"block"`) || strings.Contains(said[0].stdout, "rewind: error") {
			t.Errorf("%s: %+v", c.command, said)
		}
		if got, err := os.ReadFile(filepath.Join(l.root, "a.txt")); err != nil || string(got) != c.leaves {
			t.Errorf("%s: %q, %v", c.command, got, err)
		}
	}
}

// The first call of a turn whose prompt no hook reported is one call, also where both of its hooks report it.
func TestFirstCallHeardTwice(t *testing.T) {
	l := newHookLab(t)
	l.write("a.txt", "0\n")
	l.rewind("init")
	l.fireTwice("SessionStart", "source", "startup")
	at := ""
	for n := range 6 {
		id := fmt.Sprint(n)
		l.write("mine.txt", id+"\n")
		l.say(at, "u"+id, "user", "prompt "+id, `,"promptId":"p`+id+`"`)
		call := []any{"prompt_id", "p" + id, "tool_name", "Bash", "tool_use_id", "t" + id, "tool_input", shellInput("make all")}
		l.fireTwice("PreToolUse", call...)
		l.write("a.txt", id+"\n")
		l.fireTwice("PostToolUse", call...)
		at = "a" + id
		l.say("u"+id, at, "assistant", "done", "")
		l.fireTwice("Stop")
		l.rewind("restore", "prompt~1", "--code-only")
		if got, err := os.ReadFile(filepath.Join(l.root, "mine.txt")); err != nil || string(got) != id+"\n" {
			t.Fatalf("turn %s: %q, %v", id, got, err)
		}
		l.rewind("undo")
	}
}
