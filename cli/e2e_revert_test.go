package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// revertClaude: two sessions and a person work in one file, and in files of their own. What the one did
// goes, what the others did stays byte for byte, and both are told once.
func revertClaude(t *testing.T, rewind string, client []string) {
	b := newBench(t, rewind, client)
	const a, other = "5db0d5f6-0000-4000-8000-00000000e3a1", "5db0d5f6-0000-4000-8000-00000000e3b1"
	b.register()
	in := func(name string) string { return filepath.Join(b.dir, name) }
	text := func(changed map[int]string) string {
		var s strings.Builder
		for i := 1; i <= 40; i++ {
			if line, ok := changed[i]; ok {
				fmt.Fprintln(&s, line)
			} else {
				fmt.Fprintf(&s, "line %d of the file\n", i)
			}
		}
		return s.String()
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(in(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	person := func(old, now string) {
		t.Helper()
		data, err := os.ReadFile(in("shared.txt"))
		if err != nil || strings.Count(string(data), old) != 1 {
			t.Fatalf("%q is not once in %s (%v)", old, data, err)
		}
		put("shared.txt", strings.Replace(string(data), old, now, 1))
	}
	edit := func(old, now string) string {
		return tool("Read", map[string]any{"file_path": in("shared.txt")}) +
			tool("Edit", map[string]any{"file_path": in("shared.txt"), "old_string": old, "new_string": now})
	}
	shell := func(line string) string {
		return tool("Bash", map[string]any{"command": line, "description": "x"})
	}
	put("shared.txt", text(nil))
	put("plain.txt", "plain\n")
	b.run(rewind, "init", "-q")
	b.ask("--session-id", a, "a1 "+edit("line 3 of the file", "A edits 3")+shell("sed -i 's/^line 9 of the file/A in a shell 9/' shared.txt && echo A > a.txt"))
	person("line 15 of the file", "the person writes 15")
	b.ask("--session-id", other, "b1 "+edit("line 21 of the file", "B edits 21")+shell("echo B > b.txt"))
	person("line 33 of the file", "the person writes 33")
	put("mine.txt", "mine\n")
	b.ask("--resume", a, "a2 "+edit("line 27 of the file", "A edits 27")+shell("rm plain.txt"))
	var both sync.WaitGroup // at the same time, each in files of its own
	both.Go(func() {
		b.ask("--resume", a, "a3 "+tool("Write", map[string]any{"file_path": in("a3.txt"), "content": "a3\n"}))
	})
	both.Go(func() {
		b.ask("--resume", other, "b2 "+tool("Write", map[string]any{"file_path": in("b2.txt"), "content": "b2\n"}))
	})
	both.Wait()
	person("line 39 of the file", "the person writes 39")
	want := map[string]string{
		"/shared.txt": "644 " + text(map[int]string{15: "the person writes 15", 21: "B edits 21", 33: "the person writes 33", 39: "the person writes 39"}),
		"/plain.txt":  "644 plain\n", "/mine.txt": "644 mine\n", "/b.txt": "644 B\n", "/b2.txt": "644 b2\n",
	}
	before := b.tree()
	if before["/a.txt"] == "" || before["/a3.txt"] == "" || !strings.Contains(before["/shared.txt"], "A in a shell 9") {
		t.Fatalf("A did not do its work: %v", before)
	}
	t.Log(b.run(rewind, "revert", "--session", a, "--dry-run"))
	t.Log(b.run(rewind, "revert", "--session", a))
	after := b.tree()
	for name := range before {
		if _, ok := want[name]; !ok && after[name] != "" {
			t.Errorf("%s is still there: %q", name, after[name])
		}
	}
	for name, text := range want {
		if after[name] != text {
			t.Errorf("%s is\n%q\nwant\n%q", name, after[name], text)
		}
	}
	for session, says := range map[string]string{a: "took back what you did in your turns", other: "took back work of another session"} {
		n := b.model.count()
		b.ask("--resume", session, "what now")
		said := b.model.since(n)
		if len(said) == 0 || said[0].told() != 1 {
			t.Fatalf("%s is not told once", session)
		}
		if got := b.noticeIn(said[0].raw); !strings.Contains(got, says) {
			t.Errorf("%s is told %q", session, got)
		} else {
			t.Log(got)
		}
		n = b.model.count()
		b.ask("--resume", session, "and now")
		for _, r := range b.model.since(n) {
			if r.told() > 1 {
				t.Errorf("%s is told again", session)
			}
		}
	}
	b.run(rewind, "undo-restore")
	if got := b.tree(); got["/shared.txt"] != before["/shared.txt"] || got["/a.txt"] != before["/a.txt"] {
		t.Errorf("taken back, the tree is %v", got)
	}
	b.run(rewind, "verify")
}
