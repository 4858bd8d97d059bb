package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sdkScript lists the sessions of the directories given, and their messages.
const sdkScript = `
import { pathToFileURL } from "node:url";
const sdk = await import(pathToFileURL(process.argv[2]).href);
const out = {};
for (const dir of process.argv.slice(3)) {
  const listed = await sdk.listSessions({ dir });
  out[dir] = [];
  for (const s of listed) {
    const messages = await sdk.getSessionMessages(s.sessionId, { dir });
    out[dir].push({ id: s.sessionId, title: s.customTitle ?? "", messages: messages.map((m) => m.uuid) });
  }
}
console.log(JSON.stringify(out));
`

type sdkSession struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Messages []string `json:"messages"`
}

// The agent's own reader is the oracle: it lists the fork, under its title, and
// loads from it what it loads from the session itself up to the cut.
func TestAgentSDK(t *testing.T) {
	sdk := os.Getenv("REWIND_SDK")
	if sdk == "" {
		t.Skip("set REWIND_SDK to an unpacked @anthropic-ai/claude-agent-sdk (npm pack) to compare with the agent's own reader")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is needed to run the agent's own reader")
	}
	config := t.TempDir()
	script := filepath.Join(config, "script.mjs")
	if err := os.WriteFile(script, []byte(sdkScript), 0o600); err != nil {
		t.Fatal(err)
	}
	type trial struct {
		m    *maker
		leaf string
		sel  Selection
		x    *Index
	}
	trials := map[string]trial{}
	var dirs []string
	add := func(m *maker, back int) {
		t.Helper()
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(config, "projects", ClaudeDirName(dir), m.session+".jsonl")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		data := bytes.ReplaceAll(m.buf.Bytes(), mustJSON(m.cwd), mustJSON(dir))
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		x := mustRead(t, Claude, data)
		cut := x.Leaf()
		if back > 0 {
			if cut, err = x.PromptBefore(cut, back); err != nil {
				return
			}
		}
		f := Fork{Index: x, Data: bytes.NewReader(data), File: file, Leaf: cut, Title: "t", NewID: func() string { return forkID }}
		k, err := f.plan()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Run(); err != nil {
			t.Fatal(err)
		}
		trials[dir] = trial{m, x.Leaf(), k.sel, x}
		dirs = append(dirs, dir)
	}
	for back := range 4 {
		for _, version := range []string{"2.0.30", "2.1.50", "2.1.329"} {
			m := newMaker(Claude, version)
			scene(m)
			add(m, back)
		}
	}
	random := rapid.Custom(func(t *rapid.T) *maker {
		m := newMaker(Claude, rapid.SampledFrom([]string{"2.0.30", "2.1.50", "2.1.329"}).Draw(t, "version"))
		grow(t, m)
		return m
	})
	for i := range 60 {
		add(random.Example(i), i%3)
	}
	cmd := exec.Command(node, append([]string{script, filepath.Join(sdk, "sdk.mjs")}, dirs...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + config, "CLAUDE_CONFIG_DIR=" + config}
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string][]sdkSession
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		tr := trials[dir]
		name := fmt.Sprintf("%s %s", tr.m.version, dir)
		sessions := map[string]sdkSession{}
		for _, s := range got[dir] {
			sessions[s.ID] = s
		}
		fork, ok := sessions[forkID]
		if !ok || fork.Title != "[Fork] t" {
			t.Errorf("%s: the fork is not listed: %+v", name, fork)
			continue
		}
		// It loads, in an order of its own for parallel calls, the messages that
		// were selected since the last compaction, without the client's own.
		chain, _ := tr.x.Chain(tr.sel.Leaf)
		boundary := -1
		for _, i := range chain {
			if tr.x.Lines[i].Logical {
				boundary = i
			}
		}
		var want []string
		for _, i := range tr.sel.Lines {
			if l := &tr.x.Lines[i]; i > boundary && l.Role != NoRole && !l.is(isMeta) {
				want = append(want, l.ID)
			}
		}
		got := slices.Sorted(slices.Values(fork.Messages))
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the fork has messages\n%q, want\n%q", name, got, want)
		}
		old := sessions[tr.m.session].Messages
		if tr.sel.Leaf == tr.leaf && !slices.Equal(old, fork.Messages) {
			t.Errorf("%s: the whole session has messages\n%q, the fork\n%q", name, old, fork.Messages)
		}
	}
}
