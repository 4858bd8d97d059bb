package cli_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// event gives an agent's hook an event.
func (x *terminal) event(payload string) {
	x.t.Helper()
	cmd := exec.Command("rewind", "hook", "generic")
	cmd.Dir, cmd.Env, cmd.Stdin = x.dir, x.env, strings.NewReader(payload)
	if out, err := cmd.CombinedOutput(); err != nil {
		x.t.Fatalf("hook: %v: %s", err, out)
	}
}

// TestRevertAsks: at a terminal each conflict is shown with both texts and whose they are, and asked for.
func TestRevertAsks(t *testing.T) {
	x := newTerminal(t)
	base := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
	text := func(changes ...string) string {
		return strings.NewReplacer(changes...).Replace(strings.Join(base, "\n") + "\n")
	}
	old, worked := text(), text("b\n", "own b\n", "h\n", "own h\n")
	built := text("b\n", "b of the person\x1b[2J\n", "h\n", "h of the person\n")
	x.write("f", old)
	x.write("g", old)
	x.mustRun("init")
	x.mustRun("config", "antiSpam.enabled", "false")
	x.event(`{"event":"prompt","session_id":"aaaa-s","prompt":"Hostile \u001b]0;title\u0007 and ` + strings.Repeat("long ", 40) + `"}`)
	x.write("f", worked)
	x.write("g", worked)
	x.event(`{"event":"stop","session_id":"aaaa-s"}`)
	x.write("f", built)
	x.write("g", built)
	x.mustRun("save")

	answer := func(want int, dialog ...string) string {
		t.Helper()
		cmd := x.start("revert", "--session", "aaaa")
		all := ""
		for i := 0; i < len(dialog); i += 2 {
			x.expect(dialog[i])
			all += x.take()
			x.send(dialog[i+1] + "\n")
		}
		if code := x.wait(cmd); code != want {
			t.Fatalf("exit code %d: %s", code, x.take())
		}
		x.settle()
		return all + x.take()
	}
	files := func(f, g string) {
		t.Helper()
		if x.read("f") != f || x.read("g") != g {
			t.Fatalf("f %q\ng %q", x.read("f"), x.read("g"))
		}
	}

	// What is asked, and the help; q after answers leaves all as it was.
	screen := answer(1, "(1/4) What becomes of it [k keep, f file, u undo, m markers, q quit, ?]?", "?", "q - quit: nothing is changed", "x", "(1/4)", "u", "(2/4)", "q")
	for _, part := range []string{"f:2: it was changed again since", "goes: ", "for \"Hostile ", "since:", "you, or something outside this project's sessions", "now:", "-b of the person", "before the work:", "+b", "keep the block as it is now", "note:", "nothing was changed"} {
		if !strings.Contains(screen, part) {
			t.Errorf("no %q in\n%q", part, screen)
		}
	}
	for _, raw := range []string{"\x1b[2J", "\x1b]0;", "\a"} {
		if strings.Contains(screen, raw) {
			t.Errorf("%q came through", raw)
		}
	}
	files(built, built)

	// The plan is shown before the question; n leaves all as it was.
	agree := "A safety checkpoint is taken first. Continue? [y/N]"
	screen = answer(1, "(1/4)", "u", "(2/4)", "u", "(3/4)", "u", "(4/4)", "u", agree, "n")
	for _, part := range []string{"Would revert 1 turn", "2 to replace.", "replace\x1b[0m f", "replace\x1b[0m g", "Would merge f: ", "Would also discard: f:2", "note:", "nothing was changed"} {
		if !strings.Contains(screen, part) {
			t.Errorf("no %q in\n%q", part, screen)
		}
	}
	files(built, built)

	// A dry run asks nothing: the conflicts are in its plan.
	screen = ""
	if code := x.wait(x.start("revert", "--session", "aaaa", "--dry-run")); code != 8 {
		t.Errorf("exit code %d", code)
	}
	x.settle()
	screen = x.take()
	if !strings.Contains(screen, "Conflict: f:2: it was changed again since, by ") || strings.Contains(screen, "What becomes") {
		t.Errorf("%q", screen)
	}

	// Each block as it was chosen; a file as a whole is asked for once.
	if screen = answer(3, "(1/4)", "u", "(2/4)", "k", "(3/4)", "f", agree, "y"); !strings.Contains(screen, "2 places that were to go stay, as chosen") || strings.Contains(screen, "error") || strings.Contains(screen, "Kept f") {
		t.Errorf("%q", screen)
	}
	files(text("h\n", "h of the person\n"), built)
	x.mustRun("undo-restore")
	files(built, built)
	answer(3, "(1/4)", "m", "(2/4)", "U", "(3/4)", "u", "(4/4)", "u", agree, "y")
	files(text("b\n", "<<<<<<< now\nb of the person\x1b[2J\n||||||| what is taken back\nown b\n=======\nb\n>>>>>>> before it\n"), old)
	x.mustRun("undo-restore")

	// What the person types while they think is neither lost nor overwritten.
	cmd := x.start("revert", "--session", "aaaa")
	x.expect("(1/4)")
	meanwhile := strings.Replace(built, "e\n", "e, meanwhile\n", 1)
	x.write("f", meanwhile)
	for _, at := range []string{"(1/4)", "(2/4)", "(3/4)", "(4/4)"} {
		x.expect(at)
		x.take()
		x.send("u\n")
	}
	x.expect(agree)
	x.send("y\n")
	if code := x.wait(cmd); code != 0 {
		t.Fatalf("exit code %d: %s", code, x.take())
	}
	files(text("e\n", "e, meanwhile\n"), old)
	x.mustRun("undo-restore")
	files(meanwhile, built)
	cmd = x.start("revert", "--session", "aaaa")
	x.expect("(1/4)")
	another := strings.Replace(meanwhile, "h of the person", "h of the person, again", 1)
	x.write("f", another)
	for _, at := range []string{"(1/4)", "(2/4)", "(3/4)", "(4/4)"} {
		x.expect(at)
		x.take()
		x.send("u\n")
	}
	if code := x.wait(cmd); code != 8 {
		t.Fatalf("exit code %d: %s", code, x.take())
	}
	files(another, built)

	// Ctrl-C at a question.
	cmd = x.start("revert", "--session", "aaaa")
	x.expect("(1/4)")
	time.Sleep(10 * time.Millisecond)
	x.send("\x03")
	if code := x.wait(cmd); code != 130 {
		t.Errorf("exit code %d", code)
	}
	x.expect("the project is as it was")
	files(another, built)
}
