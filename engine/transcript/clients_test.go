package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// client is a conversation of three prompts as a real client wrote it down.
type client struct {
	agent   Agent
	file    string // in testdata
	name    string // as the client calls it
	session string
	dir     string
}

var recorded = []client{
	{Codex, "codex-0.169.jsonl", "sessions/2026/11/22/rollout-2026-11-22T02-36-58-01234567-0000-4000-8000-000000000001.jsonl", "01234567-0000-4000-8000-000000000001", "/srv/proj"},
	{Qwen, "qwen-0.24.jsonl", "projects/-srv-proj/chats/02468ace-0000-4000-8000-000000000002.jsonl", "02468ace-0000-4000-8000-000000000002", "/srv/proj"},
	{Pi, "pi-0.73.jsonl", "agent/sessions/--srv-proj--/2026-11-22T02-30-55-937Z_01a20117-0000-7000-8000-000000000003.jsonl", "01a20117-0000-7000-8000-000000000003", "/srv/proj"},
	{Pi, "pi-0.87.jsonl", "agent/sessions/--srv-proj--/2026-11-22T02-30-55-937Z_01a20117-0000-7000-8000-000000000003.jsonl", "01a20117-0000-7000-8000-000000000003", "/srv/proj"},
	{Copilot, "copilot-1.0.jsonl", "session-state/01234567-0000-4000-8000-000000000001/events.jsonl", "01234567-0000-4000-8000-000000000001", "/srv/proj"},
	{Gemini, "gemini-0.61.jsonl", "tmp/proj/chats/session-2026-11-22T02-46-01234567.jsonl", "01234567-0000-4000-8000-000000000001", ""},
}

func (c *client) data(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", c.file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// texts are the prompts on the way to where a conversation stands, the oldest first.
func texts(t testing.TB, x *Index) (said []string) {
	t.Helper()
	prompts, err := x.Prompts(x.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range slices.Backward(prompts) {
		word, _, _ := strings.Cut(x.Lines[i].Text, " %%")
		said = append(said, word)
	}
	return said
}

func TestRecordedPrompts(t *testing.T) {
	for _, c := range recorded {
		x := mustRead(t, c.agent, c.data(t))
		if got := texts(t, x); !slices.Equal(got, []string{"first", "second", "third"}) {
			t.Errorf("%s: %q", c.file, got)
		}
		if x.Dir(c.name) != c.dir {
			t.Errorf("%s: directory %q", c.file, x.Dir(c.name))
		}
		if id := SessionOf(c.agent, c.name); c.agent != Gemini && id != x.Session {
			t.Errorf("%s: session %q in the file, %q by its name", c.file, x.Session, id)
		}
		if AgentOf("/home/dev/."+string(c.agent)+"/"+c.name) != c.agent {
			t.Errorf("%s: the agent is not told by the name", c.file)
		}
	}
}

// A fork before the n-th last prompt has the prompts before it, says where it comes from, and
// stands where it was cut; going on in it counts on.
func TestRecordedForks(t *testing.T) {
	for _, c := range recorded {
		data := c.data(t)
		x := mustRead(t, c.agent, data)
		for n, want := range map[int][]string{1: {"first", "second"}, 2: {"first"}} {
			leaf, err := x.PromptBefore(x.Leaf(), n)
			if err != nil {
				t.Fatalf("%s: %v", c.file, err)
			}
			f := &Fork{
				Index: x, Data: bytes.NewReader(data), File: c.name, Leaf: leaf, Title: "again",
				NewID: func() string { return forkID }, Now: func() time.Time { return forkTime },
			}
			lines, k := forked(t, f)
			text := strings.Join(lines, "\n") + "\n"
			y := mustRead(t, c.agent, []byte(text))
			if got := texts(t, y); !slices.Equal(got, want) {
				t.Errorf("%s: before prompt %d from the end: %q", c.file, n, got)
			}
			if y.Session != forkID || y.Parent != x.Session {
				t.Errorf("%s: the fork is %s of %s", c.file, y.Session, y.Parent)
			}
			if strings.Contains(text, "third") || n == 2 && strings.Contains(text, "second") {
				t.Errorf("%s: a prompt that was cut is in the fork", c.file)
			}
			if last := mustRead(t, c.agent, data[:prefixOf(x, k)]); texts(t, last) == nil {
				t.Errorf("%s: nothing is left", c.file)
			}
			name := k.format.newFile(filepath.Dir(c.name), k.id, k.now)
			if c.agent != Gemini && SessionOf(c.agent, name) != forkID {
				t.Errorf("%s: the fork is called %s", c.file, name)
			}
			dir := filepath.Join(t.TempDir(), filepath.Base(c.name))
			if err := os.WriteFile(dir, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := Describe(c.agent, dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, said := range d.Prompts {
				if !said.Copy {
					t.Errorf("%s: %q counts as said in the fork", c.file, said.Text)
				}
			}
			old, err := Describe(c.agent, filepath.Join("testdata", c.file))
			if err != nil || d.Root != old.Root || d.Root == "" {
				t.Errorf("%s: the fork begins with %q, the session with %q (%v)", c.file, d.Root, old.Root, err)
			}
		}
		if _, err := x.PromptBefore(x.Leaf(), 3); err == nil {
			t.Errorf("%s: something to resume is before the first prompt", c.file)
		}
	}
}

func prefixOf(x *Index, k *forking) int64 {
	l := &x.Lines[k.sel.Lines[len(k.sel.Lines)-1]]
	return l.Offset + l.Length
}

// What a hook captures line by line says the same as the whole file.
func TestRecordedGrowth(t *testing.T) {
	for _, c := range recorded {
		data := c.data(t)
		s := newSession(t, c.agent, t.TempDir())
		for at := 0; at < len(data); {
			at += bytes.IndexByte(data[at:], '\n') + 1
			s.write(data[:at])
			got := s.run()
			x := mustRead(t, c.agent, data[:at])
			if got.Leaf != x.Leaf() {
				t.Fatalf("%s: after %d bytes the conversation stands at %q, captured as %q", c.file, at, x.Leaf(), got.Leaf)
			}
		}
	}
}

// In place a transcript keeps its id and loses what came later.
func TestRecordedInPlace(t *testing.T) {
	for _, c := range recorded {
		data := c.data(t)
		x := mustRead(t, c.agent, data)
		leaf, err := x.PromptBefore(x.Leaf(), 1)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := Linear(&out, x, bytes.NewReader(data), leaf); err != nil {
			t.Fatal(err)
		}
		y := mustRead(t, c.agent, out.Bytes())
		if got := texts(t, y); y.Session != x.Session || !slices.Equal(got, []string{"first", "second"}) {
			t.Errorf("%s: %s %q", c.file, y.Session, got)
		}
		if c.agent != Qwen && !bytes.HasPrefix(data, out.Bytes()) {
			t.Errorf("%s: it is not how the file began", c.file)
		}
	}
}

// A fork in another directory than the session's, as on another machine, says that directory wherever the client says where it works.
func TestForkElsewhere(t *testing.T) {
	const there = "/home/other/proj"
	check := func(name string, agent Agent, data []byte, file, dir string) {
		x := mustRead(t, agent, data)
		f := &Fork{Index: x, Data: bytes.NewReader(data), File: file, Leaf: x.Leaf(), Dir: there, NewID: func() string { return forkID }, Now: func() time.Time { return forkTime }}
		lines, _ := forked(t, f)
		y := mustRead(t, agent, []byte(strings.Join(lines, "\n")+"\n"))
		if dir != "" && (len(y.Dirs) != 1 || y.Dirs[0] != there) {
			t.Errorf("%s: the fork works in %q", name, y.Dirs)
		}
		if got, want := texts(t, y), texts(t, x); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, c := range recorded {
		check(c.file, c.agent, c.data(t), c.name, c.dir)
	}
	for _, m := range makers() {
		m.say("one")
		m.reply("x")
		check(m.version, m.agent, m.buf.Bytes(), m.session+".jsonl", m.cwd)
	}
}
