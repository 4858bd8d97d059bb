package conversation_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// A transcript names long outputs of tools by their paths, and a fork keeps those
// paths: after the agent deleted them they are there again, and an undo takes
// them away.
func TestToolResultsComeBack(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		c := testlab.NewChat(t)
		session := strings.TrimSuffix(c.Transcript.File, ".jsonl")
		files := map[string]string{
			filepath.Join(session, "tool-results", "b1.txt"):        strings.Repeat("long output without an end of line ", 1000),
			filepath.Join(session, "tool-results", "b2.txt"):        "",
			filepath.Join(session, "subagents", "agent-a1.jsonl"):   "{\"type\":\"user\",\"isSidechain\":true}\n",
			filepath.Join(session, "tool-results", "other", "x.md"): "",
		}
		for file, content := range files {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c.Turn("one", "1")
		last := c.SaveBy(c.Transcript.Trigger()).Checkpoint
		last.Kind = manifest.Stop
		if err := os.RemoveAll(filepath.Join(c.Home, ".claude")); err != nil {
			t.Fatal(err)
		}
		kept := filepath.Join(session, "tool-results", "b2.txt")
		if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(kept, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		there := func(name string) (string, bool) {
			data, err := os.ReadFile(filepath.Join(session, name))
			return string(data), err == nil
		}
		c.Restore(restore.Options{Checkpoint: last, Half: conversation.ConversationOnly, InPlace: inPlace})
		long, ok := there("tool-results/b1.txt")
		if !ok || long != files[filepath.Join(session, "tool-results", "b1.txt")] {
			t.Errorf("in place %v: the output is back: %v, %d bytes", inPlace, ok, len(long))
		}
		if mine, _ := there("tool-results/b2.txt"); mine != "mine" {
			t.Errorf("in place %v: a file that was there holds %q", inPlace, mine)
		}
		if _, ok := there("subagents/agent-a1.jsonl"); ok != inPlace {
			t.Errorf("in place %v: the subagent's transcript is back: %v", inPlace, ok)
		}
		c.TakeBack(restore.UndoRestore, restore.Options{})
		_, back := there("tool-results/b1.txt")
		if _, sub := there("subagents/agent-a1.jsonl"); back || sub {
			t.Errorf("in place %v: the undo leaves the output %v, the subagent's %v", inPlace, back, sub)
		}
		if mine, _ := there("tool-results/b2.txt"); mine != "mine" {
			t.Errorf("in place %v: after the undo it holds %q", inPlace, mine)
		}
		c.TakeBack(restore.RedoRestore, restore.Options{})
		if again, _ := there("tool-results/b1.txt"); again != long {
			t.Errorf("in place %v: the redo gives %d bytes", inPlace, len(again))
		}
	}
}
