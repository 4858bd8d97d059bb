package screen

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files")

func TestDecodeKeys(t *testing.T) {
	for _, c := range []struct {
		in    string
		final bool
		want  []string
		rest  string
	}{
		{"ab", false, []string{"a", "b"}, ""},
		{"\x1b[A\x1b[B\x1bOA\x1b[5~\x1b[6~\x1b[H\x1b[4~", false, []string{"up", "down", "up", "pageup", "pagedown", "home", "end"}, ""},
		{"\r\n\x7f\x08\x03\x15", false, []string{"enter", "enter", "backspace", "backspace", "ctrl-c", "ctrl-u"}, ""},
		{"\t\x1b[Z \x1a\x00", false, []string{"tab", "shift-tab", " ", "ctrl-z", "other"}, ""},
		{"\x1b", false, nil, "\x1b"},
		{"\x1b", true, []string{"esc"}, ""},
		{"x\x1b[", false, []string{"x"}, "\x1b["},
		{"\x1b[1;5A", false, []string{"other"}, ""},
		{"\x1b?", false, []string{"esc", "?"}, ""},
		{"\x1b\x1b[C\x1b[D", false, []string{"esc", "right", "left"}, ""},
		{"世", false, []string{"世"}, ""},
		{"\xe4\xb8", false, nil, "\xe4\xb8"},
		{"\xff", false, []string{"\xff"}, ""},
		{"a\x1b[200~y\ry\x1b[201~b", false, []string{"a", "paste:y\ry", "b"}, ""},
		{"\x1b[200~y\r", false, nil, "\x1b[200~y\r"},
		{"\x1b[200~y\r", true, nil, "\x1b[200~y\r"}, // its end is still to come: y is not a key
		{"\x1b[200~y\x03", true, []string{"ctrl-c"}, ""},
		{"\x1b[200~" + strings.Repeat("y", mostPaste+1), true, nil, ""},
	} {
		keys, rest := decodeKeys([]byte(c.in), c.final)
		if !slices.Equal(keys, c.want) || string(rest) != c.rest {
			t.Errorf("%q: %q, rest %q; want %q, %q", c.in, keys, rest, c.want, c.rest)
		}
	}
}

// numbered are n rows, each fifth of them a prompt, in one lane.
func numbered(n int) *Rows {
	rows := &Rows{List: make([]Row, n), Graph: &Graph{Columns: 1, Column: make([]int, n)}, Where: "proj", Total: n}
	for i := range rows.List {
		r := &rows.List[i]
		r.ID, r.N, r.Age, r.Why, r.Prompt = fmt.Sprintf("id%d", i+1), strconv.Itoa(i+1), strconv.Itoa(i%60)+"m", "manual", i%5 == 4
		r.Text = fmt.Sprintf("number %d", i+1)
	}
	return rows
}

// picking is a picker of rows, at a size.
func picking(rows *Rows, p Painter, w, h int) *Picker {
	m := NewPicker(InProject, "", p, false)
	m.w, m.h = w, h
	answer(m, func(Ask) Answer { return Answer{Rows: rows} })
	return m
}

// answer answers all that the picker asks, once.
func answer(m *Picker, say func(Ask) Answer) {
	for _, a := range m.questions() {
		r := say(a)
		r.Ask = a
		m.take(r)
	}
}

func press(m *Picker, keys ...string) Action {
	for _, k := range keys {
		if a := m.key(k); a != stay {
			return a
		}
	}
	return stay
}

func TestMoving(t *testing.T) {
	m := picking(numbered(30), Painter{}, 80, 24)
	check := func(want string, keys ...string) {
		t.Helper()
		press(m, keys...)
		if r, _ := m.selected(); r.N != want {
			t.Errorf("after %v: on %s, want %s", keys, r.N, want)
		}
	}
	check("1")
	check("1", "up")
	check("3", "down", "j")
	check("2", "k")
	check("30", "G", "down")
	check("1", "g")
	check("11", "pagedown")
	check("1", "pageup")
	check("5", "[")
	check("10", "[")
	check("5", "]")
	check("5", "]", "[", "]")
	check("29", "/", "2", "9")
	if len(m.shown) != 1 || !strings.Contains(m.foot().String(), "/29") {
		t.Errorf("the filter shows %v, %q", m.shown, m.foot())
	}
	if a := press(m, "q"); a != stay || len(m.shown) != 0 {
		t.Errorf("q in a filter is a letter: %v", a)
	}
	press(m, "esc")
	check("1")
	if len(m.shown) != 30 || m.mode != browsing {
		t.Error("escape does not show all again")
	}
	press(m, "/", "paste:number\t2\x1b[31m", "enter")
	if m.filter != "number 2[31m" || m.mode != browsing {
		t.Errorf("pasted: %q", m.filter)
	}
	for k, want := range map[string]Action{"q": Quit, "esc": Quit, "ctrl-c": Interrupt, "ctrl-z": Suspend} {
		if a := press(picking(numbered(3), Painter{}, 80, 24), k); a != want {
			t.Errorf("%s: %v, want %v", k, a, want)
		}
	}
	if a := press(picking(numbered(3), Painter{}, 80, 24), "paste:qy\r"); a != stay {
		t.Error("what is pasted beside a field does something")
	}
}

// What was not counted is asked for when it is on the screen, once.
func TestNotes(t *testing.T) {
	rows := numbered(100)
	for i := range rows.List {
		rows.List[i].NoNote = i > 50
	}
	m := picking(rows, Painter{}, 80, 24)
	m.view()
	if a, ok := m.uncounted(); ok {
		t.Errorf("asked %+v", a)
	}
	press(m, "G")
	m.view()
	a, ok := m.uncounted()
	if !ok || !strings.HasPrefix(a.Paths, "id90\x00") || !strings.HasSuffix(a.Paths, "id100\x00") {
		t.Errorf("asked %+v", a)
	}
	m.take(Answer{Ask: a, Notes: map[string]string{"id100": "+7"}})
	if _, again := m.uncounted(); again || !strings.Contains(strings.Join(m.view(), "\n"), "+7") {
		t.Errorf("asked again: %v", again)
	}
}

// What a filter finds as it was typed comes first; the words may stand anywhere.
func TestFilter(t *testing.T) {
	rows := numbered(4)
	for i, text := range []string{"tz: add", "add tz flag", "nothing", "ADD TZ"} {
		rows.List[i].Text = text
	}
	m := picking(rows, Painter{On: true}, 80, 24)
	press(m, "/", "a", "d", "d", " ", "t", "z")
	if !slices.Equal(m.shown, []int{1, 3, 0}) {
		t.Errorf("shown: %v", m.shown)
	}
	if v := strings.Join(m.view(), "\n"); !strings.Contains(v, "\x1b[7;1;4madd tz\x1b[0m") {
		t.Errorf("the match is not marked: %q", v)
	}
}

// Nothing is done without a plan that was shown, and what is done is that plan.
func TestPlanFirst(t *testing.T) {
	m := picking(numbered(9), Painter{}, 80, 24)
	press(m, "down", "enter")
	if press(m, "y", "enter", "paste:y"); m.mode != planning {
		t.Fatal("y before there is a plan")
	}
	asked := m.questions()
	if len(asked) != 1 || asked[0] != (Ask{What: AskPlan, ID: "id2"}) {
		t.Fatalf("asked %+v", asked)
	}
	plan := &Plan{Token: 7, Facts: []Line{Text(Bold, "Restore to 2")}, Files: []File{{Status: "delete", Path: "a", Raw: "a"}, {Status: "create", Path: "b", Raw: "b"}}, Question: "restore to 2?"}
	m.take(Answer{Ask: Ask{What: AskPlan, ID: "id1"}, Plan: plan})
	if m.plan != nil {
		t.Fatal("the plan of another row is taken")
	}
	m.take(Answer{Ask: asked[0], Plan: plan})
	if v := strings.Join(m.view(), "\n"); !strings.Contains(v, "delete  a") || !strings.Contains(v, "y/n restore to 2?") {
		t.Fatalf("the plan:\n%s", v)
	}
	press(m, "enter", "x", " ")
	if len(m.questions()) != 0 {
		t.Fatal("another key than y does it")
	}
	press(m, "c")
	if asked := m.questions(); len(asked) != 1 || asked[0].Half != Code || m.plan != nil {
		t.Fatalf("c asks %+v", asked)
	}
	m.take(Answer{Ask: Ask{What: AskPlan, ID: "id2", Half: Code}, Plan: plan})
	press(m, "y", "y")
	do := m.questions()
	if len(do) != 1 || do[0].What != AskDo || do[0].Plan != 7 {
		t.Fatalf("y asks %+v", do)
	}
	// The tree moved: the new plan is shown, and asks again.
	m.take(Answer{Ask: do[0], Plan: &Plan{Token: 8, Question: "restore to 2 now?"}, Said: "the files changed"})
	if v := strings.Join(m.view(), "\n"); m.mode != planning || !strings.Contains(v, "the files changed") {
		t.Fatalf("after the tree moved:\n%s", v)
	}
	press(m, "y")
	do = m.questions()
	if len(do) != 1 || do[0].Plan != 8 {
		t.Fatalf("y asks %+v", do)
	}
	m.take(Answer{Ask: do[0], Said: "Restored."})
	if m.mode != browsing || m.foot().String() != "Restored." {
		t.Errorf("done: mode %v, %q", m.mode, m.foot())
	}
	if asked := m.questions(); len(asked) != 1 || asked[0].What != AskAll {
		t.Errorf("the rows are not read again: %+v", asked)
	}
	for _, c := range []Answer{{Plan: &Plan{}}, {Err: "it is not to be"}} {
		press(m, "u")
		answer(m, func(Ask) Answer { return c })
		v := strings.Join(m.view(), "\n")
		press(m, "y")
		if asked := m.questions(); len(asked) != 0 || !strings.Contains(v, "nothing was changed") || !strings.Contains(v, c.Err) {
			t.Errorf("of %+v y asks %+v\n%s", c, asked, v)
		}
		press(m, "esc")
	}
}

func TestChoose(t *testing.T) {
	m := picking(numbered(3), Painter{}, 80, 24)
	press(m, "f", "enter", " ")
	plan := &Plan{Files: []File{{Status: "delete", Path: "a", Raw: "a"}, {Status: "create", Path: "b", Raw: "b\xff"}, {Status: "replace", Path: "c", Raw: "c"}}, Question: "?"}
	answer(m, func(Ask) Answer { return Answer{Plan: plan} })
	press(m, "enter")
	if m.mode != choosing {
		t.Fatal("nothing was chosen, and there is a plan")
	}
	press(m, " ", " ", "up", " ", " ") // a, b; b no longer; c
	if v := strings.Join(m.view(), "\n"); !strings.Contains(v, "[x] delete  a") || !strings.Contains(v, "[ ] create  b") {
		t.Errorf("chosen:\n%s", v)
	}
	press(m, "a", "a", " ", "enter")
	if asked := m.questions(); len(asked) != 1 || asked[0].Paths != "c\x00" || asked[0].Half != Code {
		t.Errorf("asked %+v", asked)
	}
}

func TestMarksNamesScopes(t *testing.T) {
	m := picking(numbered(9), Painter{}, 80, 24)
	press(m, " ", "down", "down", " ")
	if a, _ := m.wanted(); a != (Ask{What: AskLook, ID: "id1", Other: "id3"}) {
		t.Errorf("two marks: %+v", a)
	}
	if !strings.Contains(m.view()[0], "comparing 1 with 3") {
		t.Errorf("head: %q", m.view()[0])
	}
	press(m, "down", " ", "esc")
	if a, _ := m.wanted(); a.Other != "" || len(m.marks) != 0 {
		t.Errorf("marks are left: %+v", a)
	}
	press(m, "d")
	if a, _ := m.wanted(); !a.Now {
		t.Errorf("d: %+v", a)
	}
	press(m, "esc")
	if a, _ := m.wanted(); a.Now || m.key("esc") != Quit {
		t.Errorf("esc: %+v", a)
	}
	press(m, "n", "v", "1", "enter", "p", "s", "u", "esc", "U")
	got := append([]Ask(nil), m.questions()...)
	want := []Ask{{What: AskName, ID: "id4", Text: "v1"}, {What: AskPin, ID: "id4"}, {What: AskRows, Scope: WithSafety, ID: "id4"},
		{What: AskPlan, Verb: Undo}, {What: AskPlan, Verb: Redo}}
	if !slices.Equal(got, want) {
		t.Errorf("asked %+v\nwant %+v", got, want)
	}
}

// story is a project with everything that a row can have.
func story() (*Rows, *Look) {
	rows := &Rows{Where: "rewind-demo", Total: 9, List: []Row{
		{ID: "@", Is: IsNow, Why: "now", Text: "2 files changed since 1"},
		{ID: "k1", N: "1", Age: "2m", Why: "prompt", Text: "fix the failing test", Note: "+1 ~3", Prompt: true},
		{ID: "k2", N: "2", Age: "3m", Why: "Bash", Text: "go test ./...", Note: "~1"},
		{ID: "#7", Is: IsOperation, Age: "4m", Why: "restore", Text: `to 5 "add tz"`},
		{ID: "k3", N: "3", Age: "9m", Why: "prompt", Text: "世界: 文字化けを直して 👩‍👩‍👧 e\u0301\u0301", Note: "+12 ~3 -110", Prompt: true},
		{ID: "k4", N: "4", Age: "11m", Why: "manual", Text: "[v1] שלום עולם", Pinned: true, Name: "v1"},
		{ID: "k5", N: "5", Age: "1h", Why: "prompt", Text: "add tz", Note: "+1", Prompt: true},
		{ID: "k6", Age: "2h", Why: "safety", Text: "before restore", Dim: true},
		{ID: "k7", N: "6", Age: "14d", Why: "mcp__a_tool_with_a_long_name", Text: `a\x1b[31m name ` + strings.Repeat("that does not end ", 20)},
	}, Graph: &Graph{Columns: 2, Tracks: 1, Column: []int{0, 0, 0, 0, 1, 1, 1, 1, 1},
		Lanes: []GraphLane{{0, 0, 3, 6}, {1, 4, 8, -1}}, Arcs: []GraphArc{{0, 3, 6, false}}}}
	look := &Look{Title: "what it did", Files: []File{
		{Path: "cli/screen/a_directory_with_a_long_name/picker.go", Status: "M", Plus: 4, Minus: 1},
		{Path: "engine/世界.go", Status: "A", Plus: 120, At: 9}, {Path: "old", Status: "D", Minus: 2, At: 30}},
		Talk: []Line{Text(Bold, "> fix the failing test"), nil, Text(Plain, "I look at it first, since it may well be that the test is right and the code is wrong; that would not be the first time."), Text(Dim, "  Bash go test ./...")}}
	look.Diff = append(look.Diff, Text(Bold, "+++ b/cli/screen/picker.go"), Text(Cyan, "@@ -12,3 +12,6 @@"))
	for i := range 40 {
		style, mark := Plain, " "
		switch i % 3 {
		case 1:
			style, mark = Green, "+"
		case 2:
			style, mark = Red, "-"
		}
		look.Diff = append(look.Diff, Text(style, Ordered(Untab(fmt.Sprintf("%s\tif 世 == %d { // שלום", mark, i)))))
	}
	return rows, look
}

func numberedLines(n int) (out []Line) {
	for i := range n {
		out = append(out, Text(Plain, strconv.Itoa(i)))
	}
	return out
}

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

// Where no conversation is held, one line says so, and the diff has the room.
func TestQuiet(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		m := picking(numbered(3), Painter{}, size[0], size[1])
		_, look := story()
		a, _ := m.wanted()
		m.take(Answer{Ask: a, Look: look})
		m.view()
		with := m.layout().size
		look.Talk = nil
		m.view()
		if without := m.layout().size; with[talkPane].h < 5 || without[talkPane].h != 1 || without[diffPane].h*without[diffPane].w <= with[diffPane].h*with[diffPane].w {
			t.Errorf("%v: with a conversation %v, without %v", size, with, without)
		}
		if v := strings.Join(m.view(), "\n"); !strings.Contains(v, "no conversation is held here") {
			t.Errorf("it is not said:\n%s", v)
		}
	}
}

// The picture is a function of the state: golden files of all sizes.
func TestGolden(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}} {
		for _, colour := range []bool{false, true} {
			name := fmt.Sprintf("%dx%d", size[0], size[1])
			if colour {
				name += "-colour"
			}
			var b strings.Builder
			for _, keys := range []string{"", "j", "j tab j", "j tab tab", "/ t e s t", "enter", "f space", "f down l", "f down l down space left", "?", "o", "j n"} {
				rows, look := story()
				m := picking(rows, Painter{On: colour}, size[0], size[1])
				for _, k := range strings.Fields(keys) {
					if k == "space" {
						k = " "
					}
					if k == "enter" || k == "f" {
						m.key("j")
					}
					m.key(k)
					if a, ok := m.wanted(); ok {
						m.take(Answer{Ask: a, Look: look})
					}
					m.view() // sizes what moves
					answer(m, func(a Ask) Answer {
						if a.What == AskLog {
							return Answer{Log: []Line{Text(Bold, "  Operations"), Text(Plain, "  restore to 5")}}
						}
						if a.What == AskHunks {
							return Answer{Hunks: hunked()}
						}
						return Answer{Plan: &Plan{Token: 1, Question: `restore to 1 "fix the failing test" (deletes 1, 3 of claude 5db0)? u takes it back`,
							Facts: []Line{Text(Bold, `Restore to 1 "fix the failing test"`), nil, Text(Yellow, "From another session, and undone too: claude 5db0: 3 paths, parser")},
							Files: []File{{Status: "delete", Path: "b/世界.go", Raw: "b"}, {Status: "replace", Path: "a.go", Raw: "a.go", Plus: 3, Minus: 1}}}}
					})
				}
				fmt.Fprintf(&b, "== %s\n", keys)
				for _, l := range m.view() {
					b.WriteString(strings.ReplaceAll(l, "\x1b", "␛") + "|\n")
				}
			}
			file := filepath.Join("testdata", "picker", name+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != b.String() {
				t.Errorf("%s: go test ./cli/screen -run Golden -update makes it so\n%s", name, b.String())
			}
		}
	}
}

// Whatever is pressed and answered at whatever size: the picture fills the screen exactly, the cursor
// is on it, and nothing that is typed or pasted reaches the terminal raw.
func TestPickerAlwaysFits(t *testing.T) {
	keys := []string{"up", "down", "pageup", "pagedown", "g", "G", "enter", "y", "n", "esc", "backspace", "ctrl-u", "ctrl-d", "/", "a", "1", "世", "\x1b", "other", "\xff",
		"tab", "shift-tab", "[", "]", " ", "s", "p", "b", "c", "t", "f", "d", "u", "U", "o", "?", "left", "right", "s", "paste:\x1b[2Jx\ny", "e\u0301"}
	rapid.Check(t, func(t *rapid.T) {
		rows, look := story()
		if rapid.Bool().Draw(t, "many") {
			rows = numbered(rapid.IntRange(0, 40).Draw(t, "rows"))
		}
		m := picking(rows, Painter{On: rapid.Bool().Draw(t, "colours")}, 80, 24)
		m.ascii = rapid.Bool().Draw(t, "ascii")
		for range 30 {
			m.w, m.h = rapid.IntRange(1, 210).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h")
			if a, ok := m.wanted(); ok && rapid.Bool().Draw(t, "look") {
				m.take(Answer{Ask: a, Look: look})
			}
			if rapid.Bool().Draw(t, "answer") {
				answer(m, func(a Ask) Answer {
					return Answer{Hunks: rapid.SampledFrom([]*Hunks{nil, {}, hunked()}).Draw(t, "hunks"), Rows: rows, Log: []Line{Text(Plain, "x")}, Said: "said",
						Plan: rapid.SampledFrom([]*Plan{nil, {}, {Question: "?", Files: look.Files, Facts: look.Talk}}).Draw(t, "plan"),
						Err:  rapid.SampledFrom([]string{"", "", "it failed"}).Draw(t, "err")}
				})
			}
			lines := m.view()
			if len(lines) != m.h {
				t.Fatalf("%d lines on %d", len(lines), m.h)
			}
			o := displaywidth.Options{ControlSequences: true}
			for _, l := range lines {
				if w := o.String(l); w != m.w {
					t.Fatalf("%d columns on %d: %q", w, m.w, l)
				}
				if strings.Contains(l, "\x1b\x1b") || strings.Contains(l, "\x1b[2J") || !utf8.ValidString(l) {
					t.Fatalf("what was typed is on the screen as it is: %q", l)
				}
			}
			if s := m.layout().size[listPane]; m.mode == browsing && s.h > 0 && len(m.shown) > 0 && (m.cursor < m.top || m.cursor >= m.top+s.h) {
				t.Fatalf("cursor %d outside %d+%d", m.cursor, m.top, s.h)
			}
			if m.key(rapid.SampledFrom(keys).Draw(t, "key")) != stay {
				return
			}
		}
	})
}

// Ten thousand rows: the log says how long it is from a key to the lines.
func TestKeyToLines(t *testing.T) {
	m := picking(numbered(10000), Painter{On: true}, 200, 60)
	for _, keys := range [][]string{{"down"}, {"G"}, {"pageup"}, {"/"}, {"9"}, {"9"}, {"esc"}, {"["}} {
		began := time.Now()
		press(m, keys...)
		lines := m.view()
		t.Logf("%v: %v, %d lines", keys, time.Since(began), len(lines))
	}
}

func BenchmarkKeyToLines(b *testing.B) {
	m := picking(numbered(10000), Painter{On: true}, 200, 60)
	_, look := story()
	for b.Loop() {
		if a, ok := m.wanted(); ok {
			m.keepLook(a, look)
		}
		press(m, "down")
		m.view()
	}
}
