package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// rollout writes rows of Codex CLI, with numbers or, as older clients, without.
func rollout(numbered bool, rows ...string) []byte {
	var b strings.Builder
	for i, row := range rows {
		number := ""
		if numbered {
			number = fmt.Sprintf(`"ordinal":%d,`, i)
		}
		kind, payload, _ := strings.Cut(row, " ")
		fmt.Fprintf(&b, `{"timestamp":"2026-11-22T02:00:%02d.000Z",%s"type":%q,"payload":%s}`+"\n", i, number, kind, payload)
	}
	return []byte(b.String())
}

const (
	metaRow   = `session_meta {"id":"01234567-0000-4000-8000-000000000001","cwd":"/srv/proj","cli_version":"0.1"}`
	startRow  = `event_msg {"type":"task_started","turn_id":"t"}`
	endRow    = `event_msg {"type":"task_complete","turn_id":"t"}`
	aboutRow  = `response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}`
	answerRow = `response_item {"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}`
)

func typedRow(text string) string {
	return `event_msg {"type":"item_completed","turn_id":"t","item":{"type":"UserMessage","content":[{"type":"text","text":"` + text + `"}]}}`
}

func turnRows(text string) []string {
	return []string{startRow, aboutRow, `response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`, typedRow(text), answerRow, endRow}
}

func TestCodexTurns(t *testing.T) {
	older := func(text string) []string {
		return []string{`response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`,
			`event_msg {"type":"user_message","message":"` + text + `"}`, `turn_context {"cwd":"/srv/proj"}`, answerRow}
	}
	rows := func(parts ...[]string) []string { return append([]string{metaRow}, slices.Concat(parts...)...) }
	steered := turnRows("one")
	steered = slices.Insert(steered, 4, `response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"also"}]}`, typedRow("also"))
	for _, c := range []struct {
		name string
		data []byte
		want []string // nil: anything, as long as it ends
	}{
		{"two turns", rollout(true, rows(turnRows("one"), turnRows("two"))...), []string{"one", "two"}},
		{"an older client's", rollout(false, rows([]string{aboutRow}, older("one"), older("two"))...), []string{"one", "two"}},
		{"typed into a running turn", rollout(true, rows(steered, turnRows("two"))...), []string{"one", "two"}},
		{"rolled back", rollout(true, rows(turnRows("one"), turnRows("two"), []string{`event_msg {"type":"thread_rolled_back","num_turns":1}`}, turnRows("three"))...), []string{"one", "three"}},
		{"rolled back to the beginning", rollout(true, rows(turnRows("one"), []string{`event_msg {"type":"thread_rolled_back","num_turns":9}`}, turnRows("two"))...), []string{"two"}},
		{"only begun", rollout(true, rows(turnRows("one"), []string{startRow, aboutRow})...), []string{"one"}},
		{"two events with one number", slices.Concat(rollout(true, rows(turnRows("one"))...), rollout(true, metaRow, `event_msg {"type":"thread_rolled_back","num_turns":9}`)), nil},
	} {
		x := mustRead(t, Codex, c.data)
		if got := texts(t, x); c.want != nil && !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if len(c.want) < 2 || c.name == "rolled back to the beginning" {
			continue
		}
		leaf, err := x.PromptBefore(x.Leaf(), 1)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		sel, err := x.Cut(leaf)
		if err != nil {
			t.Fatal(err)
		}
		if last := x.Lines[sel.Lines[len(sel.Lines)-1]]; last.Role == User || strings.Contains(string(c.data[last.Offset:last.Offset+last.Length]), "task_started") {
			t.Errorf("%s: it ends with %s", c.name, c.data[last.Offset:last.Offset+last.Length])
		}
	}
}

// A fork that Codex made has only what was said in it. It can be gone on with before
// its first prompt too: what was before lies in the other file.
func TestCodexOwnFork(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "codex-0.169-forked.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	x := mustRead(t, Codex, data)
	if got := texts(t, x); !slices.Equal(got, []string{"in the native fork"}) || x.Parent != "01234567-0000-4000-8000-000000000001" || !x.refers {
		t.Errorf("%q of %q", got, x.Parent)
	}
	leaf, err := x.PromptBefore(x.Leaf(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if sel, err := x.Cut(leaf); err != nil || len(sel.Lines) != 1 {
		t.Errorf("%v, %v", sel, err)
	}
}

func TestForksOf(t *testing.T) {
	home := t.TempDir()
	day := filepath.Join(home, ".codex", "sessions", "2026", "11", "22")
	root := filepath.Join(home, "work")
	if err := os.MkdirAll(day, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"rollout-2026-11-22T02-36-58-01234567-0000-4000-8000-000000000001.jsonl": "codex-0.169.jsonl",
		"rollout-2026-11-22T02-37-23-0aaaaaaa-0000-4000-8000-000000000002.jsonl": "codex-0.169-forked.jsonl",
	} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(day, name), []byte(strings.ReplaceAll(string(data), "/srv/proj", root)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := Home{Dir: home}
	forks := ForksOf(Codex, h, filepath.Join(day, "rollout-2026-11-22T02-36-58-01234567-0000-4000-8000-000000000001.jsonl"))
	if !slices.Equal(forks, []string{"0aaaaaaa-0000-4000-8000-000000000002"}) {
		t.Errorf("%v", forks)
	}
	if all, err := Sessions(Codex, h, root); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	if all, err := Sessions(Codex, h, filepath.Join(home, "elsewhere")); err != nil || len(all) != 0 {
		t.Errorf("of another directory: %v, %v", all, err)
	}
	now := time.Date(2027, 1, 2, 3, 4, 5, 0, time.Local)
	if got, want := NewFile(Codex, day, forkID, now), filepath.Join(home, ".codex", "sessions", "2027", "01", "02", "rollout-2027-01-02T03-04-05-"+forkID+".jsonl"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// chat writes lines of Gemini CLI.
func chat(lines ...string) []byte {
	return []byte(`{"sessionId":"01234567-0000-4000-8000-000000000001","projectHash":"0","startTime":"2026-11-22T02:00:00.000Z","kind":"main"}` + "\n" +
		`{"$set":{"messages":[{"id":"ctx","type":"user","content":[{"text":"<session_context>"}]}],"lastUpdated":"2026-11-22T02:00:00.000Z"}}` + "\n" + strings.Join(lines, "\n") + "\n")
}

func said(id, kind, text string) string {
	return fmt.Sprintf(`{"id":%q,"timestamp":"2026-11-22T02:00:01.000Z","type":%q,"content":[{"text":%q}]}`, id, kind, text)
}

func TestGeminiChats(t *testing.T) {
	one, two := []string{said("u1", "user", "one"), said("g1", "gemini", "yes")}, []string{said("u2", "user", "two"), said("g2", "gemini", "yes")}
	again := `{"$set":{"messages":[` + said("ctx", "user", "<session_context>") + `,` + strings.Join(slices.Concat(one, two), ",") + `],"lastUpdated":"2026-11-22T02:10:00.000Z"}}`
	shorter := `{"$set":{"messages":[` + strings.Join(one, ",") + `],"lastUpdated":"2026-11-22T02:10:00.000Z"}}`
	compacted := `{"$set":{"messages":[` + said("s", "user", "summary") + `,` + said("k", "gemini", "ok") + `],"lastUpdated":"2026-11-22T02:10:00.000Z"}}`
	three := []string{said("u3", "user", "three"), said("g3", "gemini", "yes")}
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"resumed", slices.Concat(one, two, []string{again}, three), []string{"one", "two", "three"}},
		{"rewound", slices.Concat(one, two, []string{`{"$rewindTo":"u2"}`}, three), []string{"one", "three"}},
		{"rewound to nothing that is there", slices.Concat(one, []string{`{"$rewindTo":"x"}`}, three), []string{"three"}},
		{"shortened", slices.Concat(one, two, []string{shorter}, three), []string{"one", "three"}},
		{"compacted", slices.Concat(one, two, []string{compacted}, three), []string{"one", "two", "three"}},
		{"compacted and resumed", slices.Concat(one, []string{compacted, compacted}, three), []string{"one", "three"}},
		{"written twice", slices.Concat(one, []string{said("g1", "gemini", "longer")}, two), []string{"one", "two"}},
		{"a notice", slices.Concat(one, []string{said("i", "info", "updated")}, two), []string{"one", "two"}},
	} {
		data := chat(c.lines...)
		x := mustRead(t, Gemini, data)
		if got := texts(t, x); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		s := newSession(t, Gemini, t.TempDir())
		for at := range data {
			if data[at] != '\n' {
				continue
			}
			s.write(data[:at+1])
			if got, x := s.run(), mustRead(t, Gemini, data[:at+1]); got.Leaf != x.Leaf() {
				t.Fatalf("%s: after %d bytes at %q, captured as %q", c.name, at+1, x.Leaf(), got.Leaf)
			}
		}
	}
}

// When Gemini CLI resumes a session it begins another file for it first. That is not the
// session's; once the client has removed the real one, it is all that is left.
func TestGeminiFiles(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".gemini", "tmp", "work")
	chats := filepath.Join(dir, "chats")
	root := filepath.Join(home, "work")
	if err := os.MkdirAll(chats, 0o700); err != nil {
		t.Fatal(err)
	}
	real, stub := filepath.Join(chats, "session-2026-11-22T02-00-01234567.jsonl"), filepath.Join(chats, "session-2026-11-22T02-10-01234567.jsonl")
	begun := strings.Replace(string(chat()), "02:00:00", "02:10:00", 1)
	for file, text := range map[string]string{
		filepath.Join(dir, ".project_root"): root + "\n", real: string(chat(said("u1", "user", "one"), said("g1", "gemini", "yes"))), stub: strings.Repeat(begun, 9),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := Home{Dir: home}
	for _, want := range []string{real, stub} {
		all, err := Find(Gemini, h, root)
		if err != nil || len(all) != 1 || all[0].File != want || all[0].ID != "01234567-0000-4000-8000-000000000001" {
			t.Errorf("%+v, %v", all, err)
		}
		os.Remove(real)
	}
	if all, err := Find(Gemini, h, filepath.Join(home, "elsewhere")); err != nil || len(all) != 0 {
		t.Errorf("of another directory: %v, %v", all, err)
	}
	name := NewFile(Gemini, chats, "01234567-0000-4000-8000-000000000001", forkTime)
	if filepath.Dir(name) != chats || strings.Contains(name, "01234567") {
		t.Errorf("%s goes with what is left of another session", name)
	}
	x := &Index{Agent: Gemini}
	if got := x.Dir(real); got != root {
		t.Errorf("it works in %q", got)
	}
	if got := FolderFor(Gemini, real, "/was", root); got != chats {
		t.Errorf("a moved project's sessions are looked for in %q", got)
	}
}

// Whatever stands in a file, reading it ends.
func TestOddClientFiles(t *testing.T) {
	for _, c := range recorded {
		data := c.data(t)
		for _, odd := range []string{"", "\n\n", "{}\n", "[]\n", "{\"type\":\"x\"", strings.Repeat("[", 1000) + "\n", "{\"$set\":{\"messages\":[1,{},{\"id\":\"\"}]}}\n", "{\"payload\":7,\"timestamp\":1}\n"} {
			_, err := Read(c.agent, strings.NewReader(odd))
			_ = err // a FormatError, or nothing understood
			if x, err := Read(c.agent, strings.NewReader(string(data)+odd)); err != nil || len(texts(t, x)) != 3 {
				t.Errorf("%s and %.20q: %v", c.file, odd, err)
			}
		}
		for at := 0; at < len(data); at += 97 {
			if x, err := Read(c.agent, strings.NewReader(string(data[:at])+"\n"+string(data[at:]))); err == nil {
				texts(t, x)
			}
		}
	}
}

// A client that was killed at once left a prompt without an answer: the next one comes after it, and does not take its place.
func TestCodexPromptWithoutAnswer(t *testing.T) {
	older := func(text string) []string { // without a word of when turns begin and end
		return turnRows(text)[2:5]
	}
	aborted := []string{`response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"<turn_aborted>"}]}`, `event_msg {"type":"turn_aborted"}`}
	for name, rows := range map[string][][]string{
		"of a client that tells of turns": {turnRows("one"), turnRows("two")[:4], turnRows("three")[:4], turnRows("four")},
		"of an older one":                 {older("one"), older("two")[:2], older("three")[:2], older("four")},
		"interrupted":                     {older("one"), older("two")[:2], aborted, older("three")[:2], older("four")},
	} {
		data := rollout(true, append([]string{metaRow}, slices.Concat(rows...)...)...)
		x := mustRead(t, Codex, data)
		if got := texts(t, x); !slices.Equal(got, []string{"one", "two", "three", "four"}) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		leaf, err := x.PromptBefore(x.Leaf(), 2)
		if err != nil {
			t.Fatal(err)
		}
		sel, err := x.Cut(leaf)
		if err != nil {
			t.Fatal(err)
		}
		var kept []byte
		for _, i := range sel.Lines {
			kept = append(kept, data[x.Lines[i].Offset:x.Lines[i].Offset+x.Lines[i].Length]...)
		}
		if text := string(kept); !strings.Contains(text, `"one"`) || strings.Contains(text, `"three"`) || strings.Contains(text, `"four"`) {
			t.Errorf("%s: before the third is\n%s", name, text)
		}
	}
}
