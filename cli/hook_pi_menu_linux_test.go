package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/hookio"
)

func TestPiList(t *testing.T) {
	p := newPiLab(t)
	p.turn("one", func() { p.write("a", "1") })
	p.ask(hookio.PiPrompt, map[string]any{"prompt": "two"}) // two answers, and no change
	p.add("message", "user")
	p.add("message", "assistant")
	p.add("message", "assistant")
	p.ask(hookio.PiTurnEnd, p.since())
	var newest []string
	for i, e := range p.branch {
		p.branch[i].Text = fmt.Sprintf("%s\nof %d", e.Role, i)
		if e.Point() {
			newest = append([]string{e.ID}, newest...)
		}
	}
	list := p.ask(hookio.PiPoints, map[string]any{"entries": p.branch})
	var got []string
	for _, row := range list.Points {
		got = append(got, row.Entry)
	}
	if !slices.Equal(got, newest) {
		t.Fatalf("rows of %q, want %q", got, newest)
	}
	for i, want := range []string{"answer  assistant of 5", "answer  assistant of 4", "prompt  user of 3", "answer  assistant of 1", "prompt  user of 0"} {
		if row := list.Points[i]; !strings.Contains(row.Label, want) || !strings.HasSuffix(row.Label, "  entry "+row.Entry) {
			t.Errorf("row %q has no %q", row.Label, want)
		}
	}
	// An older extension does not say what the entries are.
	if list := p.ask(hookio.PiPoints, nil); len(list.Points) != 5 || !strings.Contains(list.Points[4].Label, "prompt  one") {
		t.Fatalf("%+v", list)
	}
	first := list.Points[4].Entry
	if got := p.options("rewind", first); !slices.Equal(got, []string{hookio.PiCodeOnly}) {
		t.Errorf("options %q", got)
	}
	p.choose("rewind", first, hookio.PiCodeOnly)
	p.has("")
}

// The preview names what it counts: a directory comes and goes with the files in it.
func TestPiPreviewNamesWhatItCounts(t *testing.T) {
	p := newPiLab(t)
	user, _ := p.turn("one", func() { p.write("x/y/1", "1"); p.write("x/y/2", "2"); p.write("b", "1") })
	look := p.ask(hookio.PiOptions, map[string]any{"menu": "fork", "entry": user})
	if want := "Restore options\nRestoring would change: 3 deleted\n  - b\n  - x/y/1\n  - x/y/2"; look.Title != want {
		t.Errorf("the preview is\n%s\nwant\n%s", look.Title, want)
	}
}

// The dialog and the notice say that git's HEAD is elsewhere than in the state that the files go back to.
func TestPiNamesGit(t *testing.T) {
	p := newPiLab(t)
	git := func(words ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", p.root}, words...)...).CombinedOutput(); err != nil {
			t.Skipf("NOT TESTED HERE: git: %v %s", err, out)
		}
	}
	git("init", "-q", "-b", "main")
	user, _ := p.turn("one", func() { p.write("a", "1") })
	git("symbolic-ref", "HEAD", "refs/heads/topic")
	look := p.ask(hookio.PiOptions, map[string]any{"menu": "fork", "entry": user})
	if want := "\nGit: HEAD is on branch topic without a commit, and was on branch main without a commit in that state: "; !strings.Contains(look.Title, want) || !strings.Contains(look.Title, "would show") {
		t.Errorf("the dialog says %q", look.Title)
	}
	a := p.choose("fork", user, hookio.PiCodeOnly)
	if len(a.Notices) != 1 || !strings.Contains(a.Notices[0].Text, "1 deleted. Git: HEAD is on branch topic ") {
		t.Errorf("the notices are %+v", a.Notices)
	}
}

// A restore that leaves a path says what it did, and what can be done.
func TestPiRestoresInPart(t *testing.T) {
	p := newPiLab(t)
	for _, name := range []string{"a", "b", "c"} {
		p.write(name, "0")
	}
	user, _ := p.turn("one", func() {
		for _, name := range []string{"a", "b", "c"} {
			p.write(name, "1")
		}
	})
	lock := func(mode string, names ...string) {
		for _, name := range names {
			if out, err := exec.Command("chattr", mode+"i", filepath.Join(p.root, name)).CombinedOutput(); err != nil {
				t.Skipf("NOT TESTED HERE: chattr: %v %s", err, out)
			}
		}
	}
	t.Cleanup(func() { lock("-", "a", "b", "c") })
	said := func(menu, choice, level, want string) {
		t.Helper()
		a := p.choose(menu, user, choice)
		if !a.Cancel || len(a.Notices) != 1 || a.Notices[0].Level != level || a.Notices[0].Text != want {
			t.Errorf("%s in %s: %+v\nwant %s", choice, menu, a, want)
		}
	}
	const undo = `; "Undo last file rewind" takes it back`
	lock("+", "a")
	said("fork", hookio.PiRestoreAll, "warning", "rewind: 2 paths were restored, 1 could not be: a (it is immutable); the fork was cancelled"+undo)
	p.has("a=1 b=0 c=0")
	said("tree", hookio.PiRestoreFiles, "error", "rewind: nothing was restored, 1 could not be: a (it is immutable); the navigation was cancelled")
	p.choose("fork", user, hookio.PiUndo)
	p.has("a=1 b=1 c=1")
	lock("+", "b")
	said("fork", hookio.PiCodeOnly, "warning", "rewind: 1 path was restored, 2 could not be: a (it is immutable), b (it is immutable)"+undo)
	p.has("a=1 b=1 c=0")
}

// After an undo the same words redo: the dialog says so, as long as it is so.
func TestPiSaysThatUndoRedoes(t *testing.T) {
	const redoes = `"Undo last file rewind" (the last restore was an undo: this redoes it) would change: 1 changed`
	p := newPiLab(t)
	p.write("a", "0")
	user, _ := p.turn("one", func() { p.write("a", "1") })
	for i, want := range []bool{false, true, false, true} {
		choice := hookio.PiUndo
		if i == 0 {
			choice = hookio.PiCodeOnly
		}
		p.choose("fork", user, choice)
		p.has([]string{"a=0", "a=1"}[i%2])
		look := p.ask(hookio.PiOptions, map[string]any{"menu": "fork", "entry": user})
		if strings.Contains(look.Title, redoes) != want || strings.Contains(look.Title, "Undoing the last rewind would change") == want {
			t.Errorf("after %d restores: %s", i+1, look.Title)
		}
		if !slices.Contains(look.Options, hookio.PiUndo) {
			t.Errorf("options %q", look.Options)
		}
	}
}

// As a package alone pi calls rewind: status and validate say so, and name the older extension beside it.
func TestPiPackageIsRegistered(t *testing.T) {
	p := newPiLab(t)
	p.turn("one", func() {})
	settings := filepath.Join(p.home, ".pi/agent/settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		t.Fatal(err)
	}
	for packages, want := range map[string]string{
		`"npm:pi-rewind-checkpoints"`: `"registered"`,
		`"npm:other"`:                 `"not-registered"`,
		`"npm:pi-rewind-checkpoints", "npm:pi-rewind-hook"`: `"incomplete"`,
	} {
		if err := os.WriteFile(settings, []byte(`{"packages":[`+packages+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		out := strings.Join(strings.Fields(p.rewind("status", "--json")), "")
		if !strings.Contains(out, `"agent":"pi","title":"pi","state":`+want) {
			t.Errorf("%s: status is not %s: %s", packages, want, out)
		}
		found, _ := p.command("validate").CombinedOutput() // its exit code is about all that it finds
		if strings.Contains(string(found), "pi does not call rewind") != (want == `"not-registered"`) {
			t.Errorf("%s: validate: %s", packages, found)
		}
	}
}
