package cli_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/transcript"
)

// said writes a transcript of prompts, each with an answer, where the agent
// keeps those of the terminal's project.
func (x *terminal) said(session string, prompts ...string) {
	x.t.Helper()
	dir := filepath.Join(filepath.Dir(x.dir), "home", ".claude", "projects", transcript.ClaudeDirName(x.dir))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		x.t.Fatal(err)
	}
	var text strings.Builder
	parent := "null"
	for i, prompt := range prompts {
		for j, role := range []string{"user", "assistant"} {
			id := fmt.Sprintf("00000000-0000-4000-8000-%012d", 2*i+j)
			said := prompt
			if role == "assistant" {
				said = "yes"
			}
			content, err := json.Marshal(said)
			if err != nil {
				x.t.Fatal(err)
			}
			fmt.Fprintf(&text, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"content":%s},"uuid":%q,"timestamp":"2026-11-20T20:29:18.362Z","sessionId":%q,"cwd":%q,"version":"2.1.329"}`+"\n",
				parent, role, role, content, id, session, x.dir)
			parent = `"` + id + `"`
		}
	}
	if err := os.WriteFile(filepath.Join(dir, session+".jsonl"), []byte(text.String()), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

// The prompts that back goes behind are put on the terminal's clipboard, oldest
// first, through tmux too; what a terminal would cut off is not sent.
func TestTerminalClipboard(t *testing.T) {
	const session = "11111111-2222-4333-8444-555555555555"
	x := newTerminal(t)
	x.mustRun("init")
	x.said(session, "first", "sag es \x1b[31mbesser", "third")
	back := func(words ...string) string {
		return x.mustRun(append([]string{"--session", session, "back", "2"}, words...)...)
	}
	want := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte("sag es \x1b[31mbesser\n\nthird")) + "\a"
	if screen := back("--copy"); strings.Count(screen, want) != 1 || strings.Contains(screen, "\x1b[31mbesser") {
		t.Errorf("%q", screen)
	}
	for _, words := range [][]string{nil, {"--copy", "--dry-run"}} {
		if screen := back(words...); strings.Contains(screen, "\x1b]52") {
			t.Errorf("%v: %q", words, screen)
		}
	}
	x.env = append(x.env, "TMUX=/tmp/tmux-0/default,1,0")
	if screen := back("--copy"); !strings.Contains(screen, "\x1bPtmux;\x1b"+want+"\x1b\\") {
		t.Errorf("in tmux: %q", screen)
	}
	x.said(session, "first", strings.Repeat("long ", 20_000), "third")
	if screen := back("--copy"); strings.Contains(screen, "\x1b]52") || !strings.Contains(screen, "too long for the terminal's clipboard") {
		t.Errorf("long: %.300q", screen[max(0, len(screen)-300):])
	}
}
