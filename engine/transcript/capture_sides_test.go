package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
)

func TestCaptureSides(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, Claude, dir)
	m := newMaker(Claude, "2.1.329")
	m.say("one")
	s.write(m.buf.Bytes())
	sub := filepath.Join(strings.TrimSuffix(s.file, ".jsonl"), "subagents")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(name, data string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(sub, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("agent-1.jsonl", "{\"a\":1}\n{\"tor")
	put("agent-1.meta.json", `{"agentType":"x"}`)
	put("other.txt", "no")
	got := s.run()
	if len(got.Missed) > 0 {
		t.Fatalf("missed %v", got.Missed)
	}
	base := m.session + "/subagents/"
	check := func(id oid.ID, want map[string]string) {
		t.Helper()
		h, err := Open(s.Store, id)
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]string{}
		for _, side := range h.Sides {
			have[side.Name] = string(s.store().content(t, side.Content))
		}
		if fmt.Sprint(have) != fmt.Sprint(want) {
			t.Errorf("holds %q, want %q", have, want)
		}
	}
	first := got.Content
	want := map[string]string{base + "agent-1.jsonl": "{\"a\":1}\n", base + "agent-1.meta.json": `{"agentType":"x"}`}
	check(first, want)
	puts := s.store().puts
	if again := s.run(); again.Content != first || again.Change != Same || s.store().puts != puts {
		t.Errorf("nothing changed: %+v, %d objects stored", again, s.store().puts-puts)
	}
	// Only a side file grew, another came, and one vanished: it is kept.
	put("agent-1.jsonl", "{\"a\":1}\n{\"torn\":2}\n")
	put("agent-2.jsonl", "{\"b\":1}\n")
	os.Remove(filepath.Join(sub, "agent-1.meta.json"))
	got = s.run()
	if got.Change != Same || got.Content == first || got.Added != int64(len("{\"torn\":2}\n{\"b\":1}\n")) {
		t.Errorf("%v, added %d", got.Change, got.Added)
	}
	second := map[string]string{
		base + "agent-1.jsonl": "{\"a\":1}\n{\"torn\":2}\n", base + "agent-1.meta.json": `{"agentType":"x"}`, base + "agent-2.jsonl": "{\"b\":1}\n",
	}
	check(got.Content, second)
	check(first, want)
	// The sides stay when the transcript grows on.
	for range 2 * listEntries {
		m.reply("more")
		s.write(m.buf.Bytes())
		got = s.run()
	}
	check(got.Content, second)
	part := newMemory()
	if err := Walk(s.Store, got.Content, func(id oid.ID) (bool, error) { part.objects[id] = s.store().objects[id]; return true, nil }); err != nil {
		t.Fatal(err)
	}
	s.Store = part
	check(got.Content, second)
}

// Subagents of the oldest client lie beside the sessions, named by their lines only.
func TestCaptureOldSides(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, Claude, dir)
	m := newMaker(Claude, "2.0.30")
	m.say("one")
	s.write(m.buf.Bytes())
	for name, session := range map[string]string{"agent-1": m.session, "agent-2": "another"} {
		line := fmt.Sprintf(`{"type":"user","uuid":"u","parentUuid":null,"isSidechain":true,"sessionId":%q}`+"\n", session)
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := filepath.Join(dir, "agent-3.jsonl")
	if err := os.WriteFile(past, []byte(fmt.Sprintf(`{"type":"user","uuid":"u","sessionId":%q}`+"\n", m.session)), 0o600); err != nil {
		t.Fatal(err)
	}
	old := m.now.Add(-24 * time.Hour)
	if err := os.Chtimes(past, old, old); err != nil {
		t.Fatal(err)
	}
	s.run()
	h, err := Open(s.Store, s.Previous)
	if err != nil || len(h.Sides) != 1 || h.Sides[0].Name != "agent-1.jsonl" {
		t.Errorf("%+v %v", h, err)
	}
}

func TestCaptureDroidSettings(t *testing.T) {
	s := newSession(t, Droid, t.TempDir())
	m := newMaker(Droid, "0.215")
	m.say("one")
	s.write(m.buf.Bytes())
	settings := strings.TrimSuffix(s.file, ".jsonl") + ".settings.json"
	for _, data := range []string{`{"model":"a"}`, `{"model":"b"}`, `{}`} {
		if err := os.WriteFile(settings, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		s.run()
		h, err := Open(s.Store, s.Previous)
		if err != nil || len(h.Sides) != 1 || h.Sides[0].Name != filepath.Base(settings) {
			t.Fatalf("%+v %v", h, err)
		}
		if have := s.store().content(t, h.Sides[0].Content); string(have) != data {
			t.Errorf("holds %q, want %q", have, data)
		}
	}
}
