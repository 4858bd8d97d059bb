package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"

	"pgregory.net/rapid"
)

// session is a transcript on disk with what was captured of it last.
type session struct {
	t    testing.TB
	file string
	Capture
}

func newSession(t testing.TB, agent Agent, dir string) *session {
	file := filepath.Join(dir, "61933d95-0000-4000-8000-000000000001.jsonl")
	return &session{t, file, Capture{Store: newMemory(), Agent: agent, File: file}}
}

func (s *session) store() *memory { return s.Store.(*memory) }

func (s *session) write(data []byte) {
	s.t.Helper()
	if err := os.WriteFile(s.file, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) run() Captured {
	s.t.Helper()
	got, err := s.Run()
	if err != nil {
		s.t.Fatal(err)
	}
	s.Previous, s.PreviousLeaf = got.Content, got.Leaf
	return got
}

func complete(data []byte) []byte { return data[:bytes.LastIndexByte(data, '\n')+1] }

// Whatever happens to a file, each capture holds its complete lines, and the
// earlier captures still hold what they held.
func TestCaptureModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		s := newSession(t, Claude, dir)
		var now []byte
		type past struct {
			id   oid.ID
			data []byte
		}
		var held []past
		for range rapid.IntRange(1, 16).Draw(rt, "steps") {
			exists := true
			change := Grown
			size := rapid.SampledFrom([]int{1, 30, 1000, edge - 1, edge, 3 * edge}).Draw(rt, "size")
			line := []byte(fmt.Sprintf(`{"x":"%s%d"}`+"\n", strings.Repeat("y", size), rapid.IntRange(0, 1<<30).Draw(rt, "n")))
			before := complete(now)
			switch rapid.IntRange(0, 8).Draw(rt, "event") {
			case 0, 1, 2, 3:
				now = append(complete(now), line...)
			case 4:
				now = append(complete(now), line[:len(line)-rapid.IntRange(1, len(line)-1).Draw(rt, "torn")]...)
			case 5: // truncated
				now = now[:rapid.IntRange(0, len(now)).Draw(rt, "left")]
			case 6: // a byte in the middle differs
				if len(now) > 0 {
					now = bytes.Clone(now)
					// Only the edges are compared: a change is seen there.
					at := rapid.IntRange(0, min(len(complete(now)), edge)-1+map[bool]int{true: 1}[len(complete(now)) == 0]).Draw(rt, "at")
					if now[at] != '\n' {
						now[at] ^= 1
						if now[at] == '\n' {
							now[at] ^= 3
						}
					}
				}
			case 7:
				exists = false
				now = nil
			case 8:
				now = line
			}
			if exists {
				s.write(now)
			} else {
				os.Remove(s.file)
			}
			got, err := s.Run()
			if err != nil {
				rt.Fatal(err)
			}
			want := complete(now)
			if !exists {
				change = Missing
			} else if bytes.Equal(want, before) {
				change = Same
			} else if !bytes.HasPrefix(want, before) {
				change = Rewritten
			}
			if got.Change != change || got.Offset != int64(len(want)) || (got.Content == oid.ID{}) != (len(want) == 0) {
				rt.Fatalf("%v, %d bytes, want %v, %d", got.Change, got.Offset, change, len(want))
			}
			if have := s.store().content(t, got.Content); !bytes.Equal(have, want) {
				rt.Fatalf("holds %d bytes %.60q, want %d %.60q", len(have), have, len(want), want)
			}
			if change == Grown && got.Added != int64(len(want)-len(before)) {
				rt.Fatalf("added %d bytes of %d new ones", got.Added, len(want)-len(before))
			}
			s.Previous = got.Content
			held = append(held, past{got.Content, bytes.Clone(want)})
		}
		for i, p := range held {
			if !bytes.Equal(s.store().content(t, p.id), p.data) {
				rt.Fatalf("capture %d no longer holds what it did", i)
			}
			// What Walk visits is enough for it, and nothing else is needed.
			part := newMemory()
			err := Walk(s.Store, p.id, func(id oid.ID) (bool, error) {
				part.objects[id] = s.store().objects[id]
				return true, nil
			})
			if err != nil || !bytes.Equal(part.content(t, p.id), p.data) {
				rt.Fatalf("capture %d is not whole in what Walk visits (%v)", i, err)
			}
		}
	})
}

// 27 MB in 500 captures: the store stays under 8 MB, and no capture stores more
// than its own delta and a list of bounded size.
func TestCaptureGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a 27 MB transcript")
	}
	const size, turns = 27 << 20, 500
	data := realistic(t, size)
	s := newSession(t, Claude, t.TempDir())
	f, err := os.Create(s.file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lists int64
	for at, i := 0, 1; i <= turns; i++ {
		end := i * len(data) / turns
		if i < turns {
			end = bytes.LastIndexByte(data[:end], '\n') + 1
		}
		f.Write(data[at:end])
		puts := s.store().puts
		got := s.run()
		if got.Added != int64(end-at) || s.store().puts-puts > 2 {
			t.Fatalf("turn %d: added %d of %d bytes in %d objects", i, got.Added, end-at, s.store().puts-puts)
		}
		list := s.store().objects[got.Content]
		if len(list) > 500 {
			t.Fatalf("turn %d: a list of %d bytes", i, len(list))
		}
		lists += int64(len(list))
		at = end
	}
	if !bytes.Equal(s.store().content(t, s.Previous), data) {
		t.Error("the conversation is not as it was")
	}
	t.Logf("%d bytes in %d captures: store %d, of it lists %d", len(data), turns, s.store().packed, lists)
	if s.store().packed > 8<<20 {
		t.Errorf("the store takes %d bytes", s.store().packed)
	}
	x := mustRead(t, Claude, data)
	if s.PreviousLeaf != x.Leaf() {
		t.Errorf("leaf %s, want %s", s.PreviousLeaf, x.Leaf())
	}
}

// A client that cuts its last line costs the last segments, not all of them.
func TestCaptureTruncatedKeepsPrefix(t *testing.T) {
	s := newSession(t, Claude, t.TempDir())
	var data []byte
	for i := range 30 {
		data = append(data, fmt.Sprintf(`{"type":"user","uuid":"u%d","x":"%s"}`+"\n", i, strings.Repeat("z", 10_000))...)
		s.write(data)
		s.run()
	}
	puts := s.store().puts
	short := complete(data[:len(data)-5])
	s.write(append(bytes.Clone(short), `{"type":"user","uuid":"other"}`+"\n"...))
	got := s.run()
	if got.Change != Rewritten || got.Added != int64(len(`{"type":"user","uuid":"other"}`)+1) || s.store().puts-puts != 2 {
		t.Errorf("%v: added %d bytes, %d objects", got.Change, got.Added, s.store().puts-puts)
	}
	if got.Leaf != "other" {
		t.Errorf("leaf %q", got.Leaf)
	}
	s.write(short)
	if got := s.run(); got.Change != Rewritten || got.Added != 0 || got.Leaf != "u28" {
		t.Errorf("cut at a border: %v, added %d, leaf %s", got.Change, got.Added, got.Leaf)
	}
	if !bytes.Equal(s.store().content(t, s.Previous), short) {
		t.Error("the conversation is not as it was")
	}
}

func TestCaptureLeaf(t *testing.T) {
	m := newMaker(Claude, "2.1.329")
	s := newSession(t, Claude, t.TempDir())
	if got := s.run(); got.Change != Missing || got.Content != (oid.ID{}) || got.Leaf != "" {
		t.Errorf("no file: %+v", got)
	}
	step := func(name, leaf, prompt string) {
		t.Helper()
		s.write(m.buf.Bytes())
		if got := s.run(); got.Leaf != leaf || got.PromptID != prompt {
			t.Errorf("%s: leaf %q, prompt %q, want %q, %q", name, got.Leaf, got.PromptID, leaf, prompt)
		}
	}
	m.raw(`{"type":"queue-operation","operation":"enqueue","content":"x"}`)
	step("queue only", "", "")
	m.say("one")
	step("a prompt", m.leaf, m.prompt)
	m.reply("x")
	step("a reply", m.leaf, "")
	old := m.leaf
	m.raw(`{"type":"tools-used","tools":[]}`)
	step("metadata", old, "")
	m.say("two")
	m.reply("y")
	step("another", m.leaf, m.prompt)
	m.raw(fmt.Sprintf(`{"type":"last-prompt","leafUuid":%q,"explicit":true}`, old))
	step("explicitly back", old, "")
	m.raw(`{"type":"last-prompt","leafUuid":"` + noEvent + `","explicit":true}`)
	step("taken back", m.leaf, "")
	m.raw(`{"type":"last-prompt","leafUuid":null,"explicit":true}`)
	step("explicitly empty", "", "")
}

// What cannot be read back is captured anew; a store that fails fails the capture.
func TestCaptureDamage(t *testing.T) {
	s := newSession(t, Claude, t.TempDir())
	m := newMaker(Claude, "2.0.30")
	for range 3 * listEntries {
		m.reply("x")
		s.write(m.buf.Bytes())
		s.run()
	}
	good := s.Previous
	used := map[oid.ID]bool{}
	if err := Walk(s.Store, good, func(id oid.ID) (bool, error) { used[id] = true; return true, nil }); err != nil {
		t.Fatal(err)
	}
	for id, b := range s.store().objects {
		bad := *s
		part := newMemory()
		for k, v := range s.store().objects {
			part.objects[k] = v
		}
		if b[0] == listMagic {
			part.objects[id] = []byte("T junk")
		} else {
			delete(part.objects, id)
		}
		bad.Store, bad.Previous = part, good
		got := bad.run()
		if id == good && (got.Change != Grown || got.Added != int64(m.buf.Len())) {
			t.Errorf("newest list damaged: %v, added %d", got.Change, got.Added)
		}
		if r, err := Open(part, good); err == nil {
			if _, err := io.ReadAll(r.Reader()); err == nil && used[id] {
				t.Errorf("object %x is missing and nobody noticed", id[:4])
			}
		}
	}
	s.write(append(bytes.Clone(m.buf.Bytes()), "{}\n"...))
	s.store().fail = errors.New("disk full")
	if _, err := s.Run(); !errors.Is(err, s.store().fail) {
		t.Errorf("full disk: %v", err)
	}
}

func TestCaptureOddFiles(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, Claude, dir)
	if err := os.Mkdir(s.file, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(); err == nil {
		t.Error("a directory was captured")
	}
	os.Remove(s.file)
	s.write([]byte("no newline at all"))
	if got := s.run(); got.Change != Same || got.Content != (oid.ID{}) {
		t.Errorf("torn only: %+v", got)
	}
	s.write([]byte("not JSON\n"))
	if got := s.run(); got.Change != Grown || string(s.store().content(t, got.Content)) != "not JSON\n" {
		t.Errorf("not understood: %+v", got)
	}
	s.Agent = "cursor"
	if _, err := s.Run(); !errors.As(err, new(*FormatError)) {
		t.Errorf("unknown agent: %v", err)
	}
}
