package hookio

import (
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// Command lines made to take long: the bounds make each end soon. That they do
// is seen when this test does not.
func TestShellHostile(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("(( ", 80000), strings.Repeat("$(( ", 60000), strings.Repeat("<<a ", 60000), strings.Repeat("<<a\n", 60000), strings.Repeat("`", 200000), strings.Repeat("${", 120000),
		strings.Repeat("[[ ", 80000), "a=" + strings.Repeat("x", 60000) + ";echo " + strings.Repeat("$a ", 50000), strings.Repeat("find -exec ", 20000), strings.Repeat("sudo ", 50000),
		"rm " + strings.Repeat("{a,b}", 50000), "rm " + strings.Repeat("a{b,c}d ", 20000), strings.Repeat("x|", 100000), strings.Repeat("rm x|xargs ", 4000), strings.Repeat("(a=b;", 3000),
		"rm " + strings.Repeat("{", 100000), "rm " + strings.Repeat("{,", 100000), "a='eval $a; eval $a; eval $a'; eval $a", "rm " + strings.Repeat("*", 30000) + " " + strings.Repeat("a/*", 30000),
		"cat <<A\n" + strings.Repeat("$(a)", 5000) + "\nA\n", strings.Repeat("sh -c '", 10000),
	} {
		shell.Destructive(s, "/srv/p", nil)
		Guard(&Event{Kind: PreTool, Cwd: "/srv/p", Tool: Tool{Class: Shell, Command: s}}, testGuarded)
	}
}

func FuzzGuard(f *testing.F) {
	for _, s := range []string{"rm -rf .agent", "git stash -a", "cd x && git clean -fdx", "rewind restore 2", "bash -c 'rm -rf /srv/p'", "find . -delete"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		Guard(&Event{Kind: PreTool, Cwd: "/srv/p", Tool: Tool{Class: Shell, Command: script}}, testGuarded)
	})
}
