package page

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The numbers of a plan are those of its paths, also where directories come and go with what is in them, and the result's
// are the same; and a plan speaks of what would be, not of what was.
func TestUIPlanAddsUp(t *testing.T) {
	l := newLab(t)
	dir := l.env.Dir
	l.write(filepath.Join(dir, "old", "deep", "x.txt"), "x\n")
	l.write(filepath.Join(dir, "old", "y.txt"), "y\n")
	if err := os.MkdirAll(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.run(l.env, "save", "with old")
	for _, gone := range []string{"old", "empty"} {
		if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
			t.Fatal(err)
		}
	}
	l.write(filepath.Join(dir, "new", "a", "b", "z.txt"), "z\n")
	l.write(filepath.Join(dir, "a.txt"), "changed\n")
	l.run(l.env, "save", "with new")
	place := l.logIn(l.ui(l.env).URL)
	var target string
	for _, r := range l.rows(place) {
		if strings.Contains(r.Text, "with old") {
			target = r.ID
		}
	}
	var plan planView
	if code := l.ask("POST", "/api/v1"+place+"/plans", action{Verb: "restore", ID: target, Half: "code"}, &plan); code != 200 {
		t.Fatal(code)
	}
	listed, all := map[string]int{}, 0
	for _, f := range plan.Files {
		all++
		if !f.Directory {
			listed[f.Action]++
		}
	}
	facts := strings.Join(plan.Facts, "\n")
	for action, n := range map[string]int{"create": 2, "delete": 1, "replace": 1} {
		if listed[action] != n || !strings.Contains(facts, fmt.Sprintf("%d to %s", n, action)) {
			t.Errorf("%s: %d paths are listed of %d; facts: %s", action, listed[action], n, facts)
		}
	}
	if !strings.Contains(facts, "1 empty directory to create") {
		t.Errorf("the empty directory is not counted: %s", facts)
	}
	if all != 10 { // with the six directories
		t.Errorf("%d paths are named: %+v", all, plan.Files)
	}
	past := regexp.MustCompile(`(?i)\b(created|replaced|deleted|restored|undone|reverted|taken back)\b`)
	for _, text := range append(append([]string{plan.Title, plan.Question}, plan.Facts...), plan.Notes...) {
		if said := past.FindString(text); said != "" {
			t.Errorf("the plan says %q before anything is: %s", said, text)
		}
	}
	var done struct{ Said string }
	if code := l.ask("POST", "/api/v1"+place+"/plans/"+plan.ID+"/apply", nil, &done); code != 200 {
		t.Fatal(code)
	}
	for _, want := range []string{"2 created, 1 empty directory created", "1 deleted", "1 replaced"} {
		if !strings.Contains(done.Said, want) {
			t.Errorf("the result says %q, not %s", done.Said, want)
		}
	}
}

// What is no longer to be done, because it was done elsewhere or because nothing is left to do, is no fault of the server.
func TestUIPlanDoneElsewhere(t *testing.T) {
	l := newLab(t)
	l.write(filepath.Join(l.env.Dir, "a.txt"), "changed\n")
	l.run(l.env, "save")
	l.run(l.env, "restore", "2", "--yes", "--code-only")
	place := l.logIn(l.ui(l.env).URL)
	plans := "/api/v1" + place + "/plans"
	var plan planView
	if code := l.ask("POST", plans, action{Verb: "undo"}, &plan); code != 200 || plan.Question == "" {
		t.Fatal(code, plan)
	}
	l.run(l.env, "undo-restore", "--yes")
	var again struct{}
	if code := l.ask("POST", plans+"/"+plan.ID+"/apply", nil, &again); code != 409 {
		t.Errorf("an undo that would do something else now: %d", code)
	}
	if code := l.ask("POST", plans, action{Verb: "redo"}, &plan); code != 200 || plan.Question == "" {
		t.Fatal(code, plan)
	}
	l.run(l.env, "redo-restore", "--yes")
	l.fails("POST", plans+"/"+plan.ID+"/apply", nil, 409, "nothing to redo", "(o)")
	l.fails("POST", plans, action{Verb: "redo"}, 409, "nothing to redo", "(o)")
}

// What is left out stays, with what is below it; a directory around it neither comes nor goes as a whole. Without
// anything else there is nothing to do, and never everything.
func TestUIPlanWithout(t *testing.T) {
	l := newLab(t)
	dir := l.env.Dir
	for _, name := range []string{"d/x", "d/y", "e/deep/z", "k"} {
		l.write(filepath.Join(dir, name), "x\n")
	}
	l.run(l.env, "save", "with all")
	for _, name := range []string{"d", "e", "k"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	place := l.logIn(l.ui(l.env).URL)
	var target string
	for _, r := range l.rows(place) {
		if strings.Contains(r.Text, "with all") {
			target = r.ID
		}
	}
	plans := "/api/v1" + place + "/plans"
	for _, c := range []struct {
		without []string
		want    string
	}{
		{[]string{"d/x"}, "d d/y e e/deep e/deep/z k"},
		{[]string{"e/deep/z"}, "d d/x d/y k"},
		{[]string{"e", "k"}, "d d/x d/y"},
		{[]string{"nowhere", "*"}, "d d/x d/y e e/deep e/deep/z k"},
		{[]string{"d", "e", "k"}, ""},
		{[]string{"."}, ""},
		{[]string{""}, ""},
	} {
		var plan planView
		if code := l.ask("POST", plans, action{Verb: "restore", ID: target, Without: c.without}, &plan); code != 200 {
			t.Fatal(code)
		}
		var got []string
		for _, f := range plan.Files {
			got = append(got, f.Path)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want || (c.want == "") != (plan.Question == "") {
			t.Errorf("without %q: %q, %q", c.without, got, plan.Question)
		}
	}
	l.fails("POST", plans, action{Verb: "restore", ID: target, Paths: []string{"d"}, Without: []string{"d/x"}}, 400, "not both", "")
}

// The plan of a restore, and what was done, say what the checkpoint is without, and which of it is gone.
func TestUIPlanSaysWhatIsGone(t *testing.T) {
	l := newLab(t)
	dir := l.env.Dir
	l.write(filepath.Join(dir, ".rewindignore"), "build/\n")
	l.write(filepath.Join(dir, "build", "result"), "lost\n")
	l.write(filepath.Join(dir, "docs", "x.txt"), "x\n")
	l.run(l.env, "save", "with docs")
	for _, gone := range []string{"docs", "build"} {
		if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
			t.Fatal(err)
		}
	}
	place := l.logIn(l.ui(l.env).URL)
	var target string
	for _, r := range l.rows(place) {
		if strings.Contains(r.Text, "with docs") {
			target = r.ID
		}
	}
	var plan planView
	if code := l.ask("POST", "/api/v1"+place+"/plans", action{Verb: "restore", ID: target, Half: "code"}, &plan); code != 200 {
		t.Fatal(code)
	}
	const gone = "Not captured, and gone since: build; it does not come back."
	facts := strings.Join(plan.Facts, "\n")
	if !strings.Contains(facts, gone) || !regexp.MustCompile(`Not captured: \d+ paths?\. To list them: rewind show [k-z]{8} --coverage`).MatchString(facts) {
		t.Errorf("the plan says: %s", facts)
	}
	var done struct{ Said string }
	if code := l.ask("POST", "/api/v1"+place+"/plans/"+plan.ID+"/apply", nil, &done); code != 200 || !strings.Contains(done.Said, gone) {
		t.Errorf("%d, %s", code, done.Said)
	}
}

// The undo of what was changed since a restore goes to no checkpoint: its plan names none, and compares with none.
func TestUIPlanOfUndoAfterAnEdit(t *testing.T) {
	l := newLab(t)
	l.write(filepath.Join(l.env.Dir, "a.txt"), "second\n")
	l.run(l.env, "save", "second")
	l.run(l.env, "restore", "2", "--yes")
	l.write(filepath.Join(l.env.Dir, "a.txt"), "by hand\n")
	place := l.logIn(l.ui(l.env).URL)
	var plan planView
	if code := l.ask("POST", "/api/v1"+place+"/plans", action{Verb: "undo"}, &plan); code != 200 {
		t.Fatal(code)
	}
	if plan.Target != "" || plan.Title != "Undo what was changed since the last restore" {
		t.Errorf("%q, compared with %q", plan.Title, plan.Target)
	}
}
