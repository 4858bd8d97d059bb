package screen

import (
	"strings"
	"testing"
)

// hunked is a file of three hunks, of which the second can be cut.
func hunked() *Hunks {
	h := &Hunks{Head: []Line{Text(Bold, "--- a/a.go"), Text(Bold, "+++ b/a.go")}}
	part := func(id string, lines ...Line) Hunk { return Hunk{ID: id, Lines: lines} }
	minus, plus := Text(Red, "-	was := \"世界\""), Text(Green, "+	will := 1 // "+strings.Repeat("that does not end ", 20))
	h.Parts = []Hunk{part("1", Text(Cyan, "@@ -1,3 +1,3 @@"), minus, plus),
		part("2", Text(Cyan, "@@ -20,9 +20,8 @@ func x() {"), plus, Text(Plain, " between"), minus),
		part("5", Text(Cyan, "@@ -40 +40,12 @@"), plus, plus, plus, plus, plus, plus, plus, plus, plus, plus, plus, plus)}
	for _, p := range h.Parts {
		for i, l := range p.Lines {
			p.Lines[i] = Text(l[0].Style, Ordered(Untab(l[0].Text)))
		}
	}
	h.Parts[1].Split = []Hunk{part("3", h.Parts[1].Lines[:2]...), part("4", Text(Cyan, "@@ -29 +28,0 @@"), minus)}
	return h
}

// Of a file single hunks can be chosen, and split; all of them are the file. What is one choice is all or nothing.
func TestChooseHunks(t *testing.T) {
	m := picking(numbered(3), Painter{}, 80, 24)
	press(m, "f", "l")
	if m.mode != choosing {
		t.Fatal("hunks before there are files")
	}
	plan := &Plan{Files: []File{{Status: "delete", Path: "a", Raw: "a"}, {Status: "replace", Path: "b", Raw: "b\xff"}}, Question: "?"}
	answer(m, func(Ask) Answer { return Answer{Plan: plan} })
	see := func(want ...string) {
		t.Helper()
		v := strings.Join(m.view(), "\n")
		for _, text := range want {
			if !strings.Contains(v, text) {
				t.Errorf("no %q in\n%s", text, v)
			}
		}
	}
	asks := func(paths, parts string) {
		t.Helper()
		press(m, "enter")
		want := Ask{What: AskPlan, ID: "id1", Half: Code, Paths: paths, Parts: parts}
		if asked := m.questions(); len(asked) != 1 || asked[0] != want {
			t.Errorf("asked %+v, want %+v", asked, want)
		}
		m.take(Answer{Ask: want, Plan: plan})
		press(m, "c") // no half of it
		if len(m.questions()) != 0 {
			t.Error("c makes another plan")
		}
		press(m, "f") // begins anew
		answer(m, func(Ask) Answer { return Answer{Plan: plan} })
	}
	open := func(h *Hunks) {
		t.Helper()
		press(m, "right")
		asked := m.questions()
		if len(asked) != 1 || asked[0].What != AskHunks || asked[0].ID != "id1" {
			t.Fatalf("asked %+v", asked)
		}
		press(m, " ", "a", "s", "x") // nothing is there yet
		m.view()
		m.take(Answer{Ask: asked[0], Hunks: h})
	}
	press(m, "down")
	open(hunked())
	see("Hunks of b, as in 1: 0 of 3 chosen", "┃ [ ] @@ -1,3", "  [ ] @@ -20,9")
	press(m, " ")
	see("1 of 3 chosen", "  [x] @@ -1,3", "┃ [ ] @@ -20,9")
	press(m, "esc")
	see("[~] replace 1 of 3 hunks  b", "0 of 2 chosen, parts of 1")
	press(m, "up", " ")
	asks("a\x00", "1\x00")

	press(m, "down")
	open(hunked())
	press(m, "down", " ", "up", "s") // chosen, then cut
	see("┃ [x] @@ -20,9", "  [x] @@ -29", "2 of 4 chosen")
	press(m, " ", "s")
	see("this hunk cannot be split")
	asks("", "4\x00")

	press(m, "down")
	open(hunked())
	press(m, " ", " ", " ", "h")
	see("[x] replace b")
	press(m, "l", "g", " ") // known: it is not asked for again
	see("2 of 3 chosen", "  [ ] @@ -1,3", "┃ [x] @@ -20,9")
	press(m, "left", " ", "l")
	see("3 of 3 chosen")
	press(m, "left", " ")
	press(m, "enter")
	if m.mode != choosing || m.foot().String() != "space chooses" {
		t.Errorf("nothing is chosen: mode %v, %q", m.mode, m.foot())
	}
	press(m, "up")
	open(&Hunks{Head: []Line{Text(Bold, "deleted")}})
	see("All or nothing of a: not chosen", "deleted")
	if press(m, "down"); m.view() == nil || m.hunks.top != 0 {
		t.Errorf("one line scrolls to %d", m.hunks.top)
	}
	m.hunks.files["a"].Head = numberedLines(50)
	if press(m, "down", "j"); m.view() == nil || m.hunks.top != 2 {
		t.Errorf("50 lines scroll to %d", m.hunks.top)
	}
	press(m, "g")
	press(m, " ")
	see("All or nothing of a: chosen")
	asks("a\x00", "")

	press(m, "l")
	asked := m.questions()
	m.take(Answer{Ask: asked[0], Err: "it is gone"})
	if m.mode != choosing || !strings.Contains(m.foot().String(), "it is gone") {
		t.Errorf("no hunks: mode %v, %q", m.mode, m.foot())
	}
}

// The hunk under the cursor is on the screen, and pages take the cursor along.
func TestHunksScroll(t *testing.T) {
	m := picking(numbered(3), Painter{}, 40, 10)
	press(m, "f")
	answer(m, func(Ask) Answer { return Answer{Plan: &Plan{Files: []File{{Path: "a", Raw: "a"}}}} })
	press(m, "l")
	answer(m, func(Ask) Answer { return Answer{Hunks: hunked()} })
	for _, c := range []struct {
		key     string
		at, top int
	}{{"up", 0, 0}, {"down", 1, 2}, {"down", 2, 9}, {"down", 2, 9}, {"up", 1, 5}, {"up", 0, 0}, {"pagedown", 2, 7}, {"pagedown", 2, 14}, {"pagedown", 2, 15}, {"pageup", 2, 8}, {"g", 0, 0}, {"G", 2, 9}} {
		press(m, c.key)
		m.view()
		if m.hunks.at != c.at || m.hunks.top != c.top {
			t.Errorf("%s: hunk %d, line %d; want %d, %d", c.key, m.hunks.at, m.hunks.top, c.at, c.top)
		}
	}
}
