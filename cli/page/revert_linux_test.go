package page

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A revert that finds nothing says why: the turn changed nothing and the row's changes are the person's, or a restore has
// taken them back already. The page says what the command line says.
func TestUIRevertOfNothing(t *testing.T) {
	l := newTurnsLab(t)
	l.play(pageTurn{"add a test", "calc_test.go", "package calc\n", "Done."})
	l.play(pageTurn{prompt: "only think", said: "I thought."})
	for i := range 6 {
		l.write(fmt.Sprintf("mine%d.txt", i), "mine\n")
	}
	l.play(pageTurn{prompt: "and again", said: "Again."})
	u := &lab{t: t, env: l.env}
	place := u.logIn(u.ui(l.env).URL)
	revert := func(text string) (plan planView) {
		t.Helper()
		for _, r := range u.rows(place) {
			if r.Prompt && strings.Contains(r.Text, text) {
				if code := u.ask("POST", "/api/v1"+place+"/plans", action{Verb: "revert", ID: r.ID}, &plan); code != 200 {
					t.Fatal(code, plan)
				}
				return plan
			}
		}
		t.Fatalf("no row %q: %+v", text, u.rows(place))
		return plan
	}
	says := func(text string, want ...string) {
		t.Helper()
		plan := revert(text)
		shown := strings.Join(append(append([]string{plan.Title}, plan.Facts...), plan.Notes...), "\n")
		for _, w := range want {
			if !strings.Contains(shown, w) {
				t.Errorf("of %q the plan says %q, not %q", text, shown, w)
			}
		}
		if strings.Contains(shown, "It changed no file") || plan.Question != "" {
			t.Errorf("of %q the plan says %q", text, shown)
		}
	}
	says("only think", "this turn changed no file")
	l.rewind("restore", "prompt~3", "--code-only", "--session", pageSession)
	says("add a test", "nothing of it is left where it was written")
}

// Every row of a turn leads to the same plan, with the lines that it changes: not those of parts that stay because somebody
// else built on them. A directory has none.
func TestUIRevertHasLines(t *testing.T) {
	l := newTurnsLab(t)
	l.play(pageTurn{"make Add faster", "calc.go", "// fast\npackage calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return a - b }\n", "Done."},
		pageTurn{"and a file below", "deep/er/x.txt", "one\n", "Done."})
	l.write("calc.go", strings.Replace(l.read("calc.go"), "return a - b", "return a - b // mine", 1))
	u := &lab{t: t, env: l.env}
	place := u.logIn(u.ui(l.env).URL)
	plans := map[string]string{}
	var all timelineView
	u.get("/api/v1"+place+"/timeline?safety=1", &all)
	ends := 0
	for _, r := range all.Rows {
		if r.Session == "" || r.Why == "session-start" {
			continue
		}
		if r.Why == "stop" {
			ends++
		}
		var plan planView
		if code := u.ask("POST", "/api/v1"+place+"/plans", action{Verb: "revert", ID: r.ID}, &plan); code != 200 {
			t.Fatal(code, plan)
		}
		shown := ""
		for _, f := range plan.Files {
			if shown += f.Path + "\n"; f.Lines != nil {
				shown += f.Lines.Patch
			}
			if f.Directory != (f.Lines == nil) {
				t.Errorf("row %s: %+v has the lines %+v", r.Why, f, f.Lines)
			}
		}
		turn := "make Add faster"
		if strings.Contains(shown, "deep") {
			turn = "and a file below"
		}
		if before, ok := plans[turn]; ok && before != shown {
			t.Errorf("row %s has another plan:\n%s\nnot\n%s", r.Why, shown, before)
		}
		plans[turn] = shown
	}
	if ends != 2 {
		t.Errorf("%d rows are the end of a turn", ends)
	}
	if got := plans["make Add faster"]; !strings.Contains(got, "-// fast\n") || strings.Contains(got, "-func Sub") {
		t.Errorf("the plan's lines are %s", got)
	}
	if got := plans["and a file below"]; !strings.Contains(got, "-one\n") || !strings.Contains(got, "deep/er\n") {
		t.Errorf("the plan's lines are %s", got)
	}
}

// The page says of each verb, before and after, that git's HEAD is elsewhere than in the state that it goes to.
func TestUIPlanNamesGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	l := newTurnsLab(t)
	git := func(words ...string) {
		t.Helper()
		words = append([]string{"-C", l.root, "-c", "user.name=x", "-c", "user.email=x@example.com"}, words...)
		if out, err := exec.Command("git", words...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("add", "calc.go")
	git("commit", "-qm", "one")
	l.play(pageTurn{"add a test", "calc_test.go", "package calc\n", "Done."})
	git("switch", "-q", "-c", "topic")
	u := &lab{t: t, env: l.env}
	place := u.logIn(u.ui(l.env).URL)
	id := ""
	for _, r := range u.rows(place) {
		if r.Prompt {
			id = r.ID
		}
	}
	for _, a := range []action{{Verb: "revert", ID: id}, {Verb: "undo"}, {Verb: "redo"}, {Verb: "undo"}, {Verb: "restore", ID: id}} {
		var plan planView
		if code := u.ask("POST", "/api/v1"+place+"/plans", a, &plan); code != 200 || plan.Question == "" {
			t.Fatal(a.Verb, code, plan)
		}
		var done struct{ Said string }
		if code := u.ask("POST", "/api/v1"+place+"/plans/"+plan.ID+"/apply", nil, &done); code != 200 {
			t.Fatal(a.Verb, code)
		}
		elsewhere := a.Verb == "revert" || a.Verb == "restore" // the others go between states of this branch
		i := slices.IndexFunc(plan.Facts, func(f string) bool { return strings.HasPrefix(f, "Git: HEAD is on branch topic at ") })
		if (i >= 0) != elsewhere || i >= 0 && !(strings.HasSuffix(plan.Facts[i], ".") && strings.Contains(plan.Facts[i], "would show") && !strings.Contains(plan.Facts[i], "; .")) {
			t.Errorf("%s: the plan says %q", a.Verb, plan.Facts)
		}
		if strings.Contains(done.Said, " Git: HEAD is on branch topic at ") != elsewhere || strings.Contains(done.Said, "would show") {
			t.Errorf("%s: the result says %q", a.Verb, done.Said)
		}
	}
}

// A binary file has no lines to be opened in a plan: the plan says that it is binary, and shows a picture before and after.
func TestPagePlanOfBinaries(t *testing.T) {
	const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\b\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"
	l := newTurnsLab(t)
	l.play(pageTurn{"begin", "calc_test.go", "package calc\n", "Done."}, pageTurn{"a dot", "dot.png", pixel, "Done."}, pageTurn{"data", "some.bin", "a\x00b", "Done."})
	l.serve()
	l.look()
	l.click(".row.k-prompt", "a dot")
	l.click(".right .buttons button", "Restore…")
	l.until(`document.querySelector("dialog .go:not([disabled])") && [...document.querySelectorAll("dialog .paths li")].map((e) => e.textContent.trim()).some((t) => /^some.bin\s+binary$/.test(t)) && document.querySelector("dialog .pictures img")?.naturalWidth === 1 && !document.querySelector("dialog").textContent.includes("Binary file")`)
	l.picture("plan-binary")
	l.press("Escape")
	l.until(`!document.querySelector("dialog")`)
	l.clean()
}
