package maintain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
)

// Verify reads conversations too, and names the checkpoint whose one is damaged.
func TestVerifyMissesConversation(t *testing.T) {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	env := account.Env{Home: filepath.Join(base, "home"), Dir: filepath.Join(base, "project"), Getenv: func(string) string { return "" }}
	must(t, os.Mkdir(env.Home, 0o755))
	must(t, os.Mkdir(env.Dir, 0o755))
	p, _, err := stores.Init(t.Context(), stores.InitOptions{OpenOptions: project.OpenOptions{Env: env, Root: env.Dir}})
	must(t, err)
	defer p.Close()
	const session = "11111111-2222-4333-8444-555555555555"
	text := `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hello"},"uuid":"u1","timestamp":"2026-11-20T20:29:18.362Z","sessionId":"` + session + `","version":"2.1.329"}` + "\n"
	file := filepath.Join(env.Home, ".claude", "projects", "-p", session+".jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must(t, os.WriteFile(file, []byte(text), 0o600))
	must(t, p.BeginWriting(t.Context()))
	saved, err := checkpoint.Take(t.Context(), p, checkpoint.TakeOptions{Options: checkpoint.Options{
		By: conversation.Trigger{Agent: "claude", Session: session, Transcript: file},
	}})
	must(t, err)
	for _, bad := range []map[oid.ID]string{{}, {oid.Sum([]byte(text)): "gone"}} {
		w := &wholeness{p: p, bad: bad, good: map[oid.ID]bool{}, v: &Verified{}}
		must(t, w.checkpoint(t.Context(), saved.Checkpoint))
		damaged := w.v.Damaged
		if len(damaged) != len(bad) || len(bad) > 0 && (damaged[0].Checkpoint != saved.Checkpoint.ID || !strings.Contains(damaged[0].Reason, "conversation")) {
			t.Errorf("with %v: %+v", bad, damaged)
		}
	}
}
