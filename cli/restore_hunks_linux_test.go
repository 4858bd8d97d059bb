package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRestoreHunks: at a terminal each hunk is asked for; what was chosen is restored, can be taken back,
// and nothing else is touched.
func TestRestoreHunks(t *testing.T) {
	x := newTerminal(t)
	var lines []string
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		lines = append(lines, "line "+string(c))
	}
	old := strings.Join(lines, "\n") + "\n"
	lines[0], lines[12], lines[14], lines[25] = "FIRST", "MIDDLE", "NEXT", "LAST"
	now := strings.Join(lines, "\n") + "\n"
	x.write("f", old)
	x.write("gone", "gone\n")
	x.mustRun("init")
	x.write("f", now)
	x.write("new", "new\n")
	os.Remove(filepath.Join(x.dir, "gone"))

	answer := func(want int, args []string, dialog ...string) string {
		t.Helper()
		cmd := x.start(args...)
		for i := 0; i < len(dialog); i += 2 {
			x.expect(dialog[i])
			x.take()
			x.send(dialog[i+1] + "\n")
		}
		if code := x.wait(cmd); code != want {
			t.Fatalf("%v: exit code %d: %s", args, code, x.take())
		}
		x.settle()
		return x.take()
	}
	restore := []string{"restore", "-p", "last", "--", "f"}

	screen := answer(0, restore, "(1/3) Restore this hunk [y,n,q,a,d,?]?", "?", "leave it as it is", "n", "(2/3) Restore this hunk [y,n,q,a,d,s,?]?", "s",
		"(2/4)", "y", "(3/4)", "n", "(4/4)", "y")
	want := strings.NewReplacer("MIDDLE", "line m", "LAST", "line z").Replace(now)
	if got := x.read("f"); got != want || !strings.Contains(screen, "Restored the chosen parts to 1 ") || !strings.Contains(screen, "1 replaced.") {
		t.Fatalf("restored %q\n%s", got, screen)
	}
	if x.read("new") != "new\n" || x.read("gone") != "" {
		t.Error("other files were touched")
	}
	x.mustRun("undo-restore")
	if got := x.read("f"); got != now {
		t.Fatalf("taken back: %q", got)
	}

	// q keeps what was chosen before; n everywhere does nothing.
	answer(0, restore, "(1/3)", "y", "(2/3)", "q")
	if got := x.read("f"); got != strings.Replace(now, "FIRST", "line a", 1) {
		t.Fatalf("%q", got)
	}
	if screen := answer(0, restore, "(1/2)", "d"); !strings.Contains(screen, "Nothing was chosen, and nothing changed.") {
		t.Errorf("%s", screen)
	}
	answer(0, restore, "(1/2)", "a")
	if got := x.read("f"); got != old {
		t.Fatalf("%q", got)
	}

	// A file that came, and one that went, are one question each.
	answer(0, []string{"restore", "-p", "last"}, "(1/1) Bring this back", "y", "(1/1) Delete this, which the checkpoint does not have", "n")
	if x.read("gone") != "gone\n" || x.read("new") != "new\n" {
		t.Error("whole files")
	}

	// What is edited while the person thinks is not overwritten.
	x.write("f", now)
	cmd := x.start(restore...)
	x.expect("(1/3)")
	x.write("f", now+"edited meanwhile\n")
	x.send("a\n")
	if code := x.wait(cmd); code != 8 {
		t.Errorf("exit code %d", code)
	}
	x.expect("changed since its hunks were shown")
	if got := x.read("f"); got != now+"edited meanwhile\n" {
		t.Errorf("%q", got)
	}

	// A Ctrl-C at a question ends it at once; what was chosen before is not restored.
	x.write("f", now)
	cmd = x.start(restore...)
	x.expect("(1/3)")
	x.take()
	x.send("y\n")
	x.expect("(2/3)")
	x.send("\x03")
	if code := x.wait(cmd); code != 130 {
		t.Errorf("exit code %d", code)
	}
	x.expect("the project is as it was")
	if got := x.read("f"); got != now {
		t.Errorf("%q", got)
	}
}
