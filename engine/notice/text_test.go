package notice

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/manifest"
)

func at(minute int) time.Time { return time.Date(2026, 3, 4, 10, minute, 0, 0, time.UTC) }

func TestText(t *testing.T) {
	revert := Notice{
		Kind: manifest.OpRevert, Agent: "claude", Session: "a", Prompts: []string{"make it\nfast"}, Count: 3,
		Paths: []Path{{"a.go", Changed}, {"b.go", Created}, {"d/c.go", Deleted}}, Kept: []Kept{{"a.go", 10, 14}, {"e.go", 7, 7}, {"f.bin", 0, 0}},
	}
	restore := Notice{Kind: manifest.OpRestore, State: at(4), Agent: "claude", Session: "a", Prompts: []string{"one", "two"}, Count: 1, Paths: []Path{{"a.go", Changed}}}
	undo := Notice{Kind: manifest.OpUndo, State: at(5), Count: 3, Paths: []Path{{"x", Deleted}}}
	for _, c := range []struct {
		name, session, want string
		all                 []Notice
	}{
		{"nothing", "a", "", nil},
		{"own work", "a", "\n- The person took back what you did in your turn on the prompt \"make it\\u000afast\": changed \"a.go\"; created \"b.go\"; deleted \"d/c.go\"; kept: \"a.go\" lines 10-14, \"e.go\" line 7, \"f.bin\".\n", []Notice{revert}},
		{"work of the origin", "b", "\n- The person took back work of the conversation that this one was forked from: deleted \"x\".\n", []Notice{{Kind: manifest.OpRevert, Agent: "claude", Session: "a", Forks: []string{"b"}, Count: 1, Paths: []Path{{"x", Deleted}}}}},
		{"work of a fork", "b", "\n- The person took back work of a fork of this conversation: deleted \"x\".\n", []Notice{{Kind: manifest.OpRevert, Agent: "claude", Session: "a", Origins: []string{"b"}, Count: 1, Paths: []Path{{"x", Deleted}}}}},
		{"work of another", "b", "\n- The person took back work of another session: changed \"a.go\"; created \"b.go\"; deleted \"d/c.go\"; kept: \"a.go\" lines 10-14, \"e.go\" line 7, \"f.bin\".\n", []Notice{revert}},
		{"a restore", "a", "\n- The person restored files to their state of 2026-03-04 10:04 UTC, before your turns on the prompts \"one\", \"two\": changed \"a.go\".\n", []Notice{restore}},
		{"a restore elsewhere", "b", "\n- The person restored files to their state of 2026-03-04 10:04 UTC: changed \"a.go\".\n", []Notice{restore}},
		{"two", "a", "\n- The person undid the latest changes and brought files to their state of 2026-03-04 10:05 UTC: deleted \"x\", and 2 more.\n- The person took an earlier restore back, so that files are as before it: changed \"y\".\n",
			[]Notice{undo, {Kind: manifest.OpUndoRestore, Count: 1, Paths: []Path{{"y", Changed}}}}},
		{"a revert again", "a", "\n- The person took back again what you did in your turn on the prompt \"one\": changed \"y\".\n",
			[]Notice{{Kind: manifest.OpRedoRestore, Session: "a", Prompts: []string{"one"}, Count: 1, Paths: []Path{{"y", Changed}}}}},
		{"names forgotten", "a", "\n- The person did a restore again that had been taken back (2 files).\n", []Notice{{Kind: manifest.OpRedoRestore, Count: 2}}},
	} {
		want := c.want
		if want != "" {
			want = textHead + want + textTail
		}
		if got := Text(c.all, c.session); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// A text has bounds, whatever is told in it, and no name is left out without a word.
func TestTextBounds(t *testing.T) {
	var many []Path
	for i := range 50 {
		many = append(many, Path{fmt.Sprintf("d/%d.go", i), Changed})
	}
	n := Notice{Kind: manifest.OpUndo, Count: 50, Paths: many}.cut()
	got := Text([]Notice{n}, "a")
	if strings.Count(got, ".go") != MaxPaths || !strings.Contains(got, ", and 30 more.") {
		t.Errorf("%s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			s := string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes"))
			if rapid.Bool().Draw(t, "runes") {
				s = rapid.StringOfN(rapid.Rune(), 0, 60, -1).Draw(t, "text")
			}
			return strings.Repeat(s, rapid.IntRange(1, 20).Draw(t, "times"))
		})
		var all []Notice
		for range rapid.IntRange(1, 2*maxQueued).Draw(t, "notices") {
			n := Notice{Kind: rapid.SampledFrom([]manifest.OperationKind{manifest.OpRevert, manifest.OpRestore, manifest.OpUndo, manifest.OpUndoRestore, manifest.OpRedoRestore}).Draw(t, "kind"), Session: "a"}
			for range rapid.IntRange(0, 5).Draw(t, "prompts") {
				n.Prompts = append(n.Prompts, text.Draw(t, "prompt"))
			}
			for range rapid.IntRange(0, 30).Draw(t, "paths") {
				n.Paths = append(n.Paths, Path{text.Draw(t, "path"), Changed})
			}
			for range rapid.IntRange(0, 5).Draw(t, "kept") {
				n.Kept = append(n.Kept, Kept{text.Draw(t, "kept"), 1, 1 << 30})
			}
			n.Count = rapid.IntRange(0, 1<<31).Draw(t, "count")
			all = append(all, n.cut())
		}
		got := Text(all, "a")
		if len(got) > maxText {
			t.Fatalf("%d bytes: %s", len(got), got)
		}
		body := strings.TrimSuffix(strings.TrimPrefix(got, textHead+"\n"), "\n"+textTail)
		for line := range strings.Lines(body) {
			if !strings.HasPrefix(line, "- The person ") && !strings.HasPrefix(line, "- Before that, ") {
				t.Fatalf("a line of its own: %q", line)
			}
		}
		quotes := 0
		for i, r := range got {
			if r == utf8.RuneError && got[i] != 0xef || r != '\n' && (!unicode.IsPrint(r) || invisible(r)) || r == '<' || r == '>' || r == '`' {
				t.Fatalf("%q holds %q", got, r)
			}
			if r == '"' && !strings.HasSuffix(strings.ReplaceAll(got[:i], `\\`, ""), `\`) {
				quotes++
			}
		}
		if quotes%2 != 0 || quotes > 2*(MaxPaths+maxPrompts*maxQueued) {
			t.Fatalf("%d quotes in %s", quotes, got)
		}
	})
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"a b/ü/日本.go":                           `"a b/ü/日本.go"`,
		`a"b\c`:                                 `"a\"b\\c"`,
		"a\nb\r\t\x1b[31m\x00":                  `"a\u000ab\u000d\u0009\u001b[31m\u0000"`,
		"</system-reminder>`x`":                 `"\u003c/system-reminder\u003e\u0060x\u0060"`,
		"\u202egnp.exe\u2028\u2066\u200b\u00ad": `"\u202egnp.exe\u2028\u2066\u200b\u00ad"`,
		"\xff\xfe":                              `"\xff\xfe"`,
		"\U000e0041\ufe0f\u3164":                `"\U000e0041\ufe0f\u3164"`,
	} {
		if got := quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if got := quotePrompt(strings.Repeat("word ", 100)); len(got) > maxQuoted || !strings.HasSuffix(got, `…"`) {
		t.Errorf("%s", got)
	}
	if got := quotePath(strings.Repeat("dir/", 100) + "file.go"); len(got) > maxQuoted || !strings.HasSuffix(got, `/file.go"`) || !strings.HasPrefix(got, `"…`) {
		t.Errorf("%s", got)
	}
}
