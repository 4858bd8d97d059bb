package cli_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// driveDroid has Droid make a file and change it in a fork of its own. The fork
// restores a point of its ancestor, and Droid goes on from there.
func driveDroid(t *testing.T, rewind, client string) {
	b := newBench(t, rewind, []string{client})
	factory := b.droid()
	b.run(rewind, "init", "-q")
	ask := func(words ...string) []any {
		t.Helper()
		n := b.model.count()
		b.run(append([]string{client, "exec", "--skip-permissions-unsafe", "-m", "custom:Fake-0"}, words...)...)
		said := b.model.since(n)
		if len(said) == 0 || len(said[0].messages) == 0 {
			t.Fatalf("no request for %q", words)
		}
		return said[0].messages[:len(said[0].messages)-1]
	}
	sessions := func() map[string]bool {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(factory, "sessions", "*", "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, f := range files {
			ids[strings.TrimSuffix(filepath.Base(f), ".jsonl")] = true
		}
		return ids
	}
	ask("make it " + tool("Create", map[string]any{"file_path": filepath.Join(b.dir, "a.txt"), "content": "one\n"}))
	first := slices.Collect(maps.Keys(sessions()))
	if len(first) != 1 {
		t.Fatalf("sessions: %v", first)
	}
	made := b.tree()
	want := ask("--fork", first[0], "change it "+tool("Execute", map[string]any{"command": "echo two > a.txt && rm -f x", "summary": "x", "timeout": 10, "riskLevel": "low", "riskLevelReason": "x"}))
	if maps.Equal(b.tree(), made) {
		t.Fatal("the second prompt changed nothing")
	}
	var list struct {
		Checkpoints []struct{ ID, Kind string } `json:"checkpoints"`
	}
	if err := json.Unmarshal([]byte(b.run(rewind, "list", "--json", "--session", first[0])), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Checkpoints) == 0 || list.Checkpoints[0].Kind != "stop" {
		t.Fatalf("checkpoints of the first session: %v", list)
	}
	b.droidPrompts()
	done := b.restore("restore", list.Checkpoints[0].ID)
	if got := b.tree(); !maps.Equal(got, made) {
		t.Errorf("the tree was\n%v\nand is restored as\n%v", made, got)
	}
	if done.Transcript == nil || !sessions()[done.Transcript.SessionID] {
		t.Fatalf("no fork: %+v", done)
	}
	if got := ask("--fork", done.Transcript.SessionID, "go on from here"); !reflect.DeepEqual(got, want) {
		t.Errorf("the client had sent\n%v\nand sends in the fork\n%v", want, got)
	}
	for _, r := range b.model.since(0) {
		if strings.Contains(r.raw, "REWIND") || strings.Contains(r.raw, ".agent/rewind") || strings.Contains(r.raw, rewind) {
			t.Error("something of ours is in a request")
		}
	}
	b.run(rewind, "verify")
}

// droid makes Droid ask the model and call our hooks. It gives its directory.
func (b *bench) droid() string {
	b.t.Helper()
	b.environment = append(b.environment, "FACTORY_API_KEY=fk-fake")
	factory := filepath.Join(b.home, ".factory")
	hook := []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "'" + b.rewind + "' hook droid", "timeout": 10}}}}
	settings, err := json.Marshal(map[string]any{
		"customModels": []any{map[string]any{"model": "fake-1", "id": "custom:Fake-0", "index": 0, "displayName": "Fake",
			"baseUrl": b.model.URL, "apiKey": "x", "provider": "anthropic", "maxOutputTokens": 4096}},
		"hooks": map[string]any{"SessionStart": hook, "PreToolUse": hook, "PostToolUse": hook, "Stop": hook},
	})
	if err == nil {
		err = os.Mkdir(factory, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(factory, "settings.json"), settings, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return factory
}
