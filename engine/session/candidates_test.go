package session

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// Of thousands of transcripts that no hook reported, a few are looked into.
func TestFewAreLookedInto(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	env := account.Env{Home: filepath.Join(base, "home"), Dir: filepath.Join(base, "project"), Getenv: func(string) string { return "" }}
	must(t, os.Mkdir(env.Home, 0o755))
	must(t, os.Mkdir(env.Dir, 0o755))
	p, _, err := stores.Init(t.Context(), stores.InitOptions{OpenOptions: project.OpenOptions{Env: env, Root: env.Dir}})
	must(t, err)
	defer p.Close()
	dir := filepath.Join(env.Home, ".claude", "projects", transcript.ClaudeDirName(env.Dir))
	must(t, os.MkdirAll(dir, 0o700))
	const count = 10_000
	for n := range count {
		id := fmt.Sprintf("%08d-2222-4333-8444-555555555555", n+1)
		line := fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"one"},"uuid":"u%d","timestamp":%q,"cwd":%q,"sessionId":%q,"version":"2.0.30"}`+"\n",
			n, time.Now().UTC().Format(time.RFC3339Nano), env.Dir, id)
		must(t, os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(line), 0o600))
	}
	r, err := readRoster(t.Context(), p, time.Now().Add(-activeFor))
	must(t, err)
	_, _, err = r.candidates(t.Context(), p, "")
	must(t, err)
	looked := 0
	for _, s := range r.list {
		if s.looked {
			looked++
		}
	}
	if len(r.list) != count || looked == 0 || looked > maxDescribed {
		t.Errorf("%d of %d were looked into", looked, len(r.list))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
