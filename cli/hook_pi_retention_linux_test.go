package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/hookio"
)

// pi's own settings say what expires; a label in the session's file holds what its entry is bound to.
func TestPiRetention(t *testing.T) {
	p := newPiLab(t)
	settings := filepath.Join(p.home, ".pi/agent/settings.json")
	file := sessionFile(p.home, p.session)
	for _, dir := range []string{filepath.Dir(settings), filepath.Dir(file)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var users []string
	for i := range 6 {
		user, _ := p.turn(fmt.Sprint("prompt ", i), func() { p.write("a", fmt.Sprint(i)) })
		users = append(users, user)
	}
	label := fmt.Sprintf(`{"type":"session","version":3,"id":%q}
{"type":"label","id":"1","targetId":%q,"label":"gone"}
{"type":"label","id":"2","targetId":%q,"label":"good"}
{"type":"label","id":"3","targetId":%q}
`, p.session, users[2], users[1], users[2])
	if err := os.WriteFile(file, []byte(label), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep := func() int {
		for range 3 { // never more than half at once
			p.ask(hookio.PiShutdown, map[string]any{"reason": "quit"})
			p.settle()
		}
		return len(p.list())
	}
	if n := sweep(); n != 12 {
		t.Errorf("%d checkpoints of 12 are left although nothing is to expire", n)
	}
	if err := os.WriteFile(settings, []byte(`{"rewind":{"retention":{"maxSnapshots":1,"pinLabeledEntries":true}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep()
	for i, there := range []bool{false, true, false, false, false, true} {
		if got := slices.Contains(p.options("fork", users[i]), hookio.PiCodeOnly); got != there {
			t.Errorf("prompt %d can be gone back to: %v, want %v", i, got, there)
		}
	}
	if p.ask(hookio.PiStatus, nil); !strings.HasSuffix(p.footer, "3 snapshots") {
		t.Errorf("footer %q", p.footer)
	}
}

// The store that the first prompt makes captures what the account's settings say of ignored files.
func TestPiCapturesIgnored(t *testing.T) {
	p := newPiLab(t)
	account := filepath.Join(p.home, ".rewind")
	if err := os.MkdirAll(account, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(account, "config.json"), []byte(`{"captureIgnored":"all"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p.write(".gitignore", "*.log\n")
	p.write("a.log", "0")
	user, _ := p.turn("one", func() { p.write("a.log", "1") })
	p.choose("fork", user, hookio.PiCodeOnly)
	p.has(".gitignore=*.log\n a.log=0")
}
