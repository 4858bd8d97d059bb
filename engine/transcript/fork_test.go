package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const forkID = "11111111-2222-4333-8444-555555555555"

var forkTime = time.Date(2026, 12, 24, 18, 0, 0, 5e6, time.UTC)

func forkOf(m *maker, x *Index, leaf string) *Fork {
	return &Fork{
		Index: x, Data: bytes.NewReader(m.buf.Bytes()), Leaf: leaf, Title: "try again",
		File:  filepath.Join("dir", m.session+".jsonl"),
		NewID: func() string { return forkID }, Now: func() time.Time { return forkTime },
	}
}

// forked returns the fork's lines.
func forked(t testing.TB, f *Fork) ([]string, *forking) {
	t.Helper()
	k, err := f.plan()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := k.write(&out, f.Data, false); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), k
}

func TestForkGolden(t *testing.T) {
	for _, m := range makers() {
		t.Run(m.version, func(t *testing.T) {
			scene(m)
			x := mustRead(t, m.agent, m.buf.Bytes())
			cut, err := x.PromptBefore(x.Leaf(), 1)
			if err != nil {
				t.Fatal(err)
			}
			lines, _ := forked(t, forkOf(m, x, cut))
			got := strings.Join(lines, "\n") + "\n"
			name := filepath.Join("testdata", "fork-"+string(m.agent)+"-"+m.version+".jsonl")
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil || got != string(want) {
				t.Errorf("the fork is not %s (%v)", name, err)
			}
		})
	}
}

// A fork is the ancestors, each line as it was but for the members that make
// it the new session's; it stands where it was cut, and is whole.
func TestForkProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMaker(t)
		grow(t, m)
		data := m.buf.Bytes()
		x, err := Read(m.agent, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		target := rapid.SampledFrom(m.order).Draw(t, "target")
		f := forkOf(m, x, target)
		k, err := f.plan()
		if errors.As(err, new(*NothingBeforeError)) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := k.write(&out, f.Data, false); err != nil {
			t.Fatal(err)
		}
		y, err := Read(m.agent, bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		chain, _ := y.Chain(k.sel.Leaf)
		if want := m.chain(k.sel.Leaf); !slices.Equal(y.ids(chain), want) {
			t.Fatalf("chain %q, want %q", y.ids(chain), want)
		}
		if !slices.Contains(m.chain(target), k.sel.Leaf) {
			t.Fatalf("the fork stands at %s, which is not before %s", k.sel.Leaf, target)
		}
		if y.Session != forkID || y.Parent != m.session {
			t.Fatalf("session %q, parent %q", y.Session, y.Parent)
		}
		// No call of the last message without its result.
		checkNoOpenCall(t, y, k.sel.Leaf)
		// Byte for byte, but for what had to change.
		old := map[string]string{}
		for i := range x.Lines {
			l := &x.Lines[i]
			old[l.ID] = string(data[l.Offset : l.Offset+l.Length-1])
		}
		for i := range y.Lines {
			l := &y.Lines[i]
			if !l.tree() {
				continue
			}
			line := out.String()[l.Offset : l.Offset+l.Length-1]
			was, ok := old[l.ID]
			if !ok {
				t.Fatalf("%s is not of the old session", l.ID)
			}
			if i := strings.Index(line, `,"forkedFrom":{`); m.agent == Claude {
				if want := fmt.Sprintf(`,"forkedFrom":{"sessionId":%q,"messageUuid":%q}}`, m.session, l.ID); i < 0 || line[i:] != want {
					t.Fatalf("%s, want forkedFrom %s", line, want)
				}
				line = line[:i] + "}"
				line = strings.Replace(line, `,"sessionId":"`+forkID+`","version"`, `,"sessionId":"`+m.session+`","version"`, 1)
			}
			if l.Time.Equal(forkTime) {
				line = strings.Replace(line, stamp(forkTime), stamp(x.Lines[x.byID[l.ID]].Time), 1)
			}
			if line != was {
				t.Fatalf("line changed:\n%s\n%s", was, line)
			}
		}
	})
}

func checkNoOpenCall(t interface{ Fatalf(string, ...any) }, y *Index, leaf string) {
	chain, _ := y.Chain(leaf)
	for i := len(chain) - 1; i >= 0; i-- {
		l := &y.Lines[chain[i]]
		if l.Prompt {
			return
		}
		if l.Role != Assistant {
			continue
		}
		for j := range y.Lines {
			o := &y.Lines[j]
			if o.ID != l.ID && (o.Message == "" || o.Message != l.Message) {
				continue
			}
			for _, call := range o.ToolUses {
				if len(y.done[call]) == 0 {
					t.Fatalf("call %s of %s has no result", call, o.ID)
				}
			}
		}
		return
	}
}

// Parallel calls: results that hang beside the way go along, and a batch that
// is not complete goes whole.
func TestForkParallelCalls(t *testing.T) {
	for _, m := range makers() {
		t.Run(m.version, func(t *testing.T) {
			m.say("one")
			m.reply("hi")
			calls := m.calls(3, 0, 2, 1)
			end := m.reply("done")
			x := mustRead(t, m.agent, m.buf.Bytes())
			lines, k := forked(t, forkOf(m, x, end))
			all := strings.Join(lines, "\n")
			for _, id := range calls {
				if n := strings.Count(all, id); n != 2 {
					t.Errorf("%s is %d times in the fork, want the call and its result", id, n)
				}
			}
			if k.sel.Leaf != end {
				t.Errorf("stands at %s, want %s", k.sel.Leaf, end)
			}
			m.say("two")
			prompt := m.leaf
			open := m.calls(2, 0)
			x = mustRead(t, m.agent, m.buf.Bytes())
			lines, k = forked(t, forkOf(m, x, m.leaf))
			all = strings.Join(lines, "\n")
			if k.sel.Leaf != prompt || strings.Contains(all, open[0]) || strings.Contains(all, open[1]) {
				t.Errorf("an open batch: stands at %s, want %s", k.sel.Leaf, prompt)
			}
		})
	}
}

func TestForkNothingBefore(t *testing.T) {
	for _, m := range makers() {
		first := m.say("one")
		m.reply("x")
		x := mustRead(t, m.agent, m.buf.Bytes())
		for _, leaf := range []string{m.parents[first], ""} {
			if _, err := forkOf(m, x, leaf).plan(); !errors.As(err, new(*NothingBeforeError)) {
				t.Errorf("%s, before the first prompt: %v", m.version, err)
			}
		}
		if _, err := forkOf(m, x, "zz").plan(); !errors.As(err, new(*NoEventError)) {
			t.Errorf("%s, unknown event: %v", m.version, err)
		}
	}
}

func TestForkFiles(t *testing.T) {
	for _, m := range makers() {
		t.Run(m.version, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "gone", ClaudeDirName(m.cwd))
			if m.agent == Droid {
				dir = filepath.Join(t.TempDir(), droidDirName(m.cwd))
			}
			m.say("one")
			end := m.reply("it's")
			x := mustRead(t, m.agent, m.buf.Bytes())
			f := forkOf(m, x, end)
			f.File = filepath.Join(dir, m.session+".jsonl")
			var given []string
			f.Owner = func(name string) error { given = append(given, name); return nil }
			f.Sidecar = func(suffix string) (io.ReadCloser, error) {
				if suffix != ".settings.json" {
					return nil, fs.ErrNotExist
				}
				return io.NopCloser(strings.NewReader(`{"model":"m"}`)), nil
			}
			got, err := f.Run()
			if err != nil {
				t.Fatal(err)
			}
			if got.File != filepath.Join(dir, forkID+".jsonl") || got.Session != forkID || got.Dir != m.cwd {
				t.Errorf("%+v", got)
			}
			want := InDir("/srv/a.b_c d+e", "claude --resume "+forkID)
			if m.agent == Droid {
				want = InDir("/srv/a.b_c d+e", "droid --resume "+forkID)
			}
			if got.Command() != want {
				t.Errorf("command %q, want %q", got.Command(), want)
			}
			entries, _ := os.ReadDir(dir)
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
				info, _ := e.Info()
				if runtime.GOOS != "windows" && info.Mode() != 0o600 {
					t.Errorf("%s has mode %v", e.Name(), info.Mode())
				}
			}
			wantNames := []string{forkID + ".jsonl"}
			if m.agent == Droid {
				wantNames = append(wantNames, forkID+".settings.json")
			}
			if !slices.Equal(names, wantNames) || len(given) != len(wantNames) || len(got.Files) != len(wantNames) {
				t.Errorf("files %q, want %q; given away %q", names, wantNames, given)
			}
			s, err := Describe(m.agent, got.File)
			if err != nil || s.ID != forkID || s.Parent != m.session || s.Title != "[Fork] try again" || s.Dir != m.cwd || s.Last != "one" {
				t.Errorf("%+v %v", s, err)
			}
			// The same id a second time replaces nothing, and leaves nothing.
			f.Data = bytes.NewReader(m.buf.Bytes())
			if _, err := f.Run(); !errors.Is(err, fs.ErrExist) {
				t.Errorf("again: %v", err)
			}
			// A source that ends early leaves no half session.
			last, _ := x.Line(end)
			f.Data = bytes.NewReader(m.buf.Bytes()[:last.Offset+last.Length-2])
			f.NewID = nil
			if _, err := f.Run(); !errors.Is(err, errShort) {
				t.Errorf("short source: %v", err)
			}
			if after, _ := os.ReadDir(dir); len(after) != len(entries) {
				t.Errorf("left behind: %v", after)
			}
		})
	}
}

// A fork of a fork comes from the fork, and has one prefix in its title.
func TestForkTwice(t *testing.T) {
	for _, m := range makers() {
		m.say("one")
		end := m.reply("x")
		lines, _ := forked(t, forkOf(m, mustRead(t, m.agent, m.buf.Bytes()), end))
		data := strings.Join(append(lines, ""), "\n")
		x := mustRead(t, m.agent, []byte(data))
		f := Fork{Index: x, Data: strings.NewReader(data), Leaf: end, File: "f"}
		lines, k := forked(t, &f)
		y := mustRead(t, m.agent, []byte(strings.Join(append(lines, ""), "\n")))
		if y.Parent != forkID || y.Title != "[Fork] try again" || !IsUUID(k.id) || y.Session != k.id {
			t.Errorf("%s: parent %q, title %q, session %q", m.version, y.Parent, y.Title, y.Session)
		}
		if strings.Contains(strings.Join(lines, "\n"), `"sessionId":"`+forkID+`","version"`) {
			t.Error("a line kept the old session")
		}
	}
}

// In place: the same lines, untouched, with the session's titles.
func TestLinear(t *testing.T) {
	for _, m := range makers() {
		t.Run(m.version, func(t *testing.T) {
			scene(m)
			data := m.buf.String()
			x := mustRead(t, m.agent, []byte(data))
			cut, err := x.PromptBefore(x.Leaf(), 2)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			leaf, err := Linear(&out, x, strings.NewReader(data), cut)
			if err != nil || leaf != cut {
				t.Fatalf("%s %v, want %s", leaf, err, cut)
			}
			y := mustRead(t, m.agent, []byte(out.String()))
			if y.Leaf() != cut || y.Session != m.session || y.Title != x.Title || y.Parent != "" {
				t.Errorf("leaf %q, session %q, title %q, parent %q", y.Leaf(), y.Session, y.Title, y.Parent)
			}
			chain, _ := y.Chain(cut)
			if !slices.Equal(y.ids(chain), m.chain(cut)) {
				t.Errorf("chain %q, want %q", y.ids(chain), m.chain(cut))
			}
			for line := range strings.Lines(out.String()) {
				if !strings.Contains(data, line) && !strings.Contains(line, `"last-prompt"`) {
					t.Errorf("a line that was not there: %s", line)
				}
			}
		})
	}
}

// A compaction between the cut and the next prompt belongs to what was before.
func TestForkMetadata(t *testing.T) {
	for _, c := range []struct {
		m    *maker
		line string
	}{
		{newMaker(Droid, "0.215"), `{"type":"compaction_state","id":"c-%d","summaryText":"s"}`},
		{newMaker(Claude, "2.1.329"), `{"type":"content-replacement","uuid":"c-%d","sessionId":"old","replacements":[]}`},
	} {
		c.m.say("one")
		c.m.raw(fmt.Sprintf(c.line, 1))
		end := c.m.reply("x")
		c.m.raw(fmt.Sprintf(c.line, 2))
		c.m.say("two")
		c.m.raw(fmt.Sprintf(c.line, 3))
		x := mustRead(t, c.m.agent, c.m.buf.Bytes())
		if x.Leaf() != c.m.leaf {
			t.Errorf("%s: stands at %s", c.m.agent, x.Leaf())
		}
		lines, _ := forked(t, forkOf(c.m, x, end))
		all := strings.Join(lines, "\n")
		for n, want := range map[string]bool{"c-1": true, "c-2": true, "c-3": false} {
			if strings.Contains(all, n) != want {
				t.Errorf("%s: line %s in the fork: %v", c.m.agent, n, !want)
			}
		}
		if c.m.agent == Claude && strings.Contains(all, `"sessionId":"old"`) {
			t.Error("a metadata line kept the old session")
		}
	}
}

// Run prepares a fork and publishes it.
func (f *Fork) Run() (Forked, error) {
	out, staged, err := f.Prepare()
	if err != nil {
		return Forked{}, err
	}
	for i, s := range staged {
		if err := s.Publish(); err != nil {
			for k, s := range staged {
				s.Discard()
				if k < i {
					os.Remove(s.Name) // it was made a moment ago, under an id that nobody knows
				}
			}
			return Forked{}, err
		}
	}
	return out, nil
}

// A session is opened where it began, also where that directory is gone: its agent finds it nowhere else.
func TestInDir(t *testing.T) {
	dir := t.TempDir()
	gone := filepath.Join(dir, "it's gone")
	quoted := "'" + dir + `/it'\''s gone'`
	for in, want := range map[string]string{"": "run", dir: "cd " + dir + " && run", gone: "mkdir -p " + quoted + " && cd " + quoted + " && run"} {
		if got := InDir(in, "run"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
