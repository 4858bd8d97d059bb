package hookio

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseInSession(t *testing.T) {
	for prompt, want := range map[string][]string{
		"/rewind:list": {"list"}, "/rewind:back 3": {"back", "3"}, "/rewind:status --json  x": {"status", "--json", "x"}, "/rewind:list\n": {"list"},
		"/rewind:restore 1": {"restore", "1"}, "/rewind:undo-restore": {"undo-restore"}, "/rewind:undo\t-n": {"undo", "-n"},
		`/rewind:restore "@{2026-11-20 14:30}" -- 'a b'c`: {"restore", "@{2026-11-20 14:30}", "--", "a bc"},
		`/rewind:list $(rm -rf x)`:                        {"list", "$(rm", "-rf", "x)"}, "/rewind:list `id`;id|id": {"list", "`id`;id|id"}, `/rewind:list it's ""`: {"list", "it's", ""},
	} {
		c, args, ok := ParseInSession(prompt)
		if !ok || !reflect.DeepEqual(append([]string{c.Name}, args...), want) {
			t.Errorf("%q: %q %q %v", prompt, c.Name, args, ok)
		}
	}
	for _, prompt := range []string{"", " /rewind:list", "/rewind:lists", "/rewind", "/rewind:", "/rewind:gc", "/rewind:forget x", "/rewind:config", "what does /rewind:list do?", "please /rewind:back", "/Rewind:list"} {
		if c, _, ok := ParseInSession(prompt); ok {
			t.Errorf("%q is taken for %q", prompt, c.Name)
		}
	}
}

// No argument can aim the command at another project, open a program, or name another command.
func TestInSessionWords(t *testing.T) {
	words := func(prompt string) string {
		c, args, _ := ParseInSession(prompt)
		words, problem := c.Words(args)
		if problem != "" {
			if len(words) > 0 || strings.ContainsAny(problem, "\n\x1b\x00") {
				t.Errorf("%q: %q %q", prompt, words, problem)
			}
			return "refused"
		}
		return strings.Join(words, " ")
	}
	for prompt, want := range map[string]string{
		"/rewind:list 3": "list --limit=3", "/rewind:list --all --oneline": "list --all --oneline", "/rewind:list --limit=5": "list --limit=5",
		"/rewind:restore 3": "restore 3", "/rewind:restore prompt~1 --code-only -- a.txt --root": "restore prompt~1 --code-only -- a.txt --root", "/rewind:restore --mode=code last -y": "restore --mode=code last -y",
		"/rewind:undo": "undo", "/rewind:undo 3": "undo 3", "/rewind:redo": "redo", "/rewind:redo 2 -n": "redo 2 -n", "/rewind:undo -- a": "undo -- a", "/rewind:back 2 --both": "back 2 --both", "/rewind:status": "status", "/rewind:undo-restore -n": "undo-restore -n",
	} {
		if got := words(prompt); got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
	for _, prompt := range []string{
		"/rewind:list --root /", "/rewind:list --root=/", "/rewind:restore 3 --root /x", "/rewind:restore 3 --resume", "/rewind:restore --in-place 3", "/rewind:back --resume", "/rewind:back --in-place", "/rewind:back --copy",
		"/rewind:list $(rm -rf x)", "/rewind:list ; rm x", "/rewind:list 3 4", "/rewind:list x", "/rewind:list -3", "/rewind:list --limit 3", "/rewind:list --session x", "/rewind:list -- x", "/rewind:list --json", "/rewind:list --\x1b[31m",
		"/rewind:restore 1 2", "/rewind:restore --mode code", "/rewind:undo-restore 3", "/rewind:undo-restore --to=3", "/rewind:undo 3 4", "/rewind:redo -- a", "/rewind:redo --root=/", "/rewind:undo --root=/ -- a", "/rewind:status --root /", "/rewind:status x", "/rewind:restore a\x00b", "/rewind:list -ny", "/rewind:list --help", "/rewind:back 1\n--root\n/",
	} {
		if got := words(prompt); got != "refused" {
			t.Errorf("%q runs %q", prompt, got)
		}
	}
}

func TestTypedInSession(t *testing.T) {
	for line, want := range map[string]string{
		"rewind undo-restore": "/rewind:undo-restore", "rewind list": "/rewind:list", "rewind restore 3": "/rewind:restore 3", "rewind redo-restore": "/rewind:redo-restore", "rewind gc": "rewind gc", "rewind": "rewind", "rewind init": "rewind init",
		"rewind list shows the prompts": "rewind list shows the prompts", "look: rewind list": "look: rewind list", "rewind list --help": "rewind list --help",
	} {
		if got := TypedInSession(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
