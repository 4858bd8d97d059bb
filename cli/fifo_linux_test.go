package cli_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A FIFO in the place of anything in a store, or in the account's directory, holds nothing up: each
// command ends by itself, whatever it then says.
func TestFifosHoldNothingUp(t *testing.T) {
	l := newHookLab(t)
	for _, text := range []string{"one", "two", "three"} {
		l.write("a.txt", text)
		l.rewind(map[bool]string{true: "init", false: "save"}[text == "one"])
		l.fire("UserPromptSubmit", "prompt", text, "prompt_id", text)
		l.write("b.txt", text)
		l.fire("PreToolUse", "tool_name", "Bash", "tool_input", shellInput("make"), "tool_use_id", text)
	}
	l.rewind("restore", "2")
	l.rewind("gc")
	l.leash.ended(t)
	store, account := filepath.Join(l.root, ".agent", "rewind"), filepath.Join(l.home, ".rewind")
	whole := filepath.Join(filepath.Dir(l.root), "whole")
	copied := func(from, to string) {
		t.Helper()
		if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
	}
	if err := os.Mkdir(whole, 0o700); err != nil {
		t.Fatal(err)
	}
	copied(store, filepath.Join(whole, "store"))
	copied(account, filepath.Join(whole, "account"))
	// Some files are there for a time only.
	names := []string{
		"restore/journal", "tmp/hooks/r-1", "tmp/hooks/lock", "forgetting.json", "hook-state.json", "objects/condemned", "objects/dropped", "transcript-backup/a.jsonl",
		"notices.json", "last-hook-error", "lock/gc", "lock/append", "lock/users", "lock/tree", "config.json",
	}
	for i, name := range names {
		names[i] = filepath.Join(store, name)
	}
	names = append(names, filepath.Join(account, "config.json"))
	for _, dir := range []string{store, account} {
		if err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if err == nil && file != store && file != account && !slices.Contains(names, file) {
				names = append(names, file)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	ends := func(t *testing.T, in string, words ...string) {
		t.Helper()
		cmd := l.command(words...)
		killed := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
		defer killed.Stop()
		if got := l.run(cmd, strings.NewReader(in)); got.code < 0 || got.code == 1 && strings.Contains(got.stderr, "panic") {
			t.Errorf("%s: %+v", strings.Join(words, " "), got)
		}
	}
	for _, name := range names {
		rel, _ := filepath.Rel(filepath.Dir(l.root), name)
		t.Run(strings.ReplaceAll(rel, "/", ":"), func(t *testing.T) {
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mkfifo(name, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, words := range []string{"list", "status --check", "verify", "save", "undo", "restore 2", "forget --yes -- a.txt"} {
				ends(t, "", strings.Fields(words)...)
			}
			for _, event := range []string{"SessionStart", "UserPromptSubmit"} {
				ends(t, l.payload(event, "prompt", "more", "prompt_id", "more"), "hook", "claude")
			}
			l.leash.ended(t)
			for from, to := range map[string]string{"store": store, "account": account} {
				if err := os.RemoveAll(to); err != nil {
					t.Fatal(err)
				}
				copied(filepath.Join(whole, from), to)
			}
		})
	}
}
