package screen

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/rewind-cli/rewind/engine/graph"
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
	rows := &Rows{List: make([]Row, n), Graph: &graph.Graph{Columns: 1, Column: make([]int, n)}, Where: "proj", Total: n}
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
	press(m, "/", "2", "9", "enter", "esc")
	check("29") // of all rows, the one that was chosen among fewer
	press(m, "/")
	if !strings.Contains(m.foot().String(), "tab then searches") {
		t.Errorf("an empty filter does not tell of the search: %q", m.foot())
	}
	press(m, "esc", "g")
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

// What git has lost returns with g, where the plan offers it, and y does that plan.
func TestPlanWithGit(t *testing.T) {
	m := picking(numbered(9), Painter{}, 80, 24)
	press(m, "down", "enter")
	asked := m.questions()
	m.take(Answer{Ask: asked[0], Plan: &Plan{Token: 1}})
	if press(m, "g"); len(m.questions()) != 0 {
		t.Fatal("g asks where nothing is offered")
	}
	m.plan = &Plan{Token: 1, Git: true}
	if v := strings.Join(m.view(), "\n"); !strings.Contains(v, "g with git") {
		t.Errorf("git is not offered:\n%s", v)
	}
	press(m, "g")
	asked = m.questions()
	if len(asked) != 1 || asked[0] != (Ask{What: AskPlan, ID: "id2", Git: true}) {
		t.Fatalf("g asks %+v", asked)
	}
	m.take(Answer{Ask: asked[0], Plan: &Plan{Token: 2, Git: true, Question: "restore to 2 (with git)?"}})
	if v := strings.Join(m.view(), "\n"); !strings.Contains(v, "g without git") {
		t.Errorf("the way back is not offered:\n%s", v)
	}
	press(m, "y")
	if do := m.questions(); len(do) != 1 || do[0].Plan != 2 || !do[0].Git {
		t.Errorf("y asks %+v", do)
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
	m.take(Answer{Ask: do[0], Plan: &Plan{Token: 8, Question: "restore to 2 now?"}, Summary: "the files changed"})
	if v := strings.Join(m.view(), "\n"); m.mode != planning || !strings.Contains(v, "the files changed") {
		t.Fatalf("after the tree moved:\n%s", v)
	}
	press(m, "y")
	do = m.questions()
	if len(do) != 1 || do[0].Plan != 8 {
		t.Fatalf("y asks %+v", do)
	}
	m.take(Answer{Ask: do[0], Summary: "Restored."})
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

// Of attempts two are chosen, and are compared, the earlier one first; the files as they are come last.
func TestAttemptsAreCompared(t *testing.T) {
	open := func() *Picker {
		m := picking(numbered(9), Painter{}, 80, 24)
		press(m, "a")
		answer(m, func(Ask) Answer {
			return Answer{Log: numberedLines(60), Tried: []Tried{{Line: 2, ID: "@"}, {Line: 20}, {Line: 40, ID: "id8"}, {Line: 50, ID: "elsewhere"}}}
		})
		return m
	}
	m := open()
	press(m, "down", " ")
	if v := m.view(); !strings.Contains(v[23], "was removed") || !strings.Contains(strings.Join(v, "\n"), "> [ ]20") {
		t.Errorf("one without an end:\n%s", strings.Join(v, "\n"))
	}
	press(m, "G", " ")
	if v := strings.Join(m.view(), "\n"); !strings.Contains(v, "> [x]50") || !strings.Contains(v, "59") {
		t.Errorf("the last one:\n%s", v)
	}
	press(m, "up", " ")
	if a, _ := m.wanted(); a != (Ask{What: AskLook, ID: "id8", Other: "elsewhere"}) || m.mode != browsing {
		t.Errorf("two attempts: %+v", a)
	}
	m = open()
	press(m, " ", " ", " ", "G", " ")
	if a, _ := m.wanted(); a != (Ask{What: AskLook, ID: "elsewhere", Other: "@"}) {
		t.Errorf("with the files as they are: %+v", a)
	}
}

// The session of a row is written as a page to the file that is typed.
func TestShare(t *testing.T) {
	m := picking(numbered(9), Painter{}, 80, 24)
	press(m, "x", "enter")
	if asked := m.questions(); len(asked) != 1 || asked[0] != (Ask{What: AskShare, ID: "id1", Text: "session.html"}) {
		t.Errorf("asked %+v", asked)
	}
	press(m, "x", "ctrl-u", "enter", "x", "esc")
	if asked := m.questions(); len(asked) != 0 {
		t.Errorf("asked without a name: %+v", asked)
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
					return Answer{Hunks: rapid.SampledFrom([]*Hunks{nil, {}, hunked()}).Draw(t, "hunks"), Rows: rows, Log: []Line{Text(Plain, "x")}, Summary: "said",
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

// The keys fit a usual terminal.
func TestKeysFit(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		m := NewPicker(InProject, "", Painter{}, ascii)
		lines := m.helpLines(80)
		if len(lines) > 22 {
			t.Errorf("%d lines of keys", len(lines))
		}
		for _, l := range lines {
			if displaywidth.String(l.String()) > 80 {
				t.Errorf("too wide: %s", l)
			}
		}
	}
}

// The conversation is shown from where the row's turn begins, and scrolls as all else does.
func TestTalkOfTurn(t *testing.T) {
	m := picking(numbered(5), Painter{}, 200, 24)
	look := &Look{Talk: numberedLines(100), Here: 40}
	a, _ := m.wanted()
	m.take(Answer{Ask: a, Look: look})
	first := func(want string) {
		t.Helper()
		if got := strings.Fields(m.pane(talkPane, 50, 20)[0])[0]; got != want {
			t.Errorf("the conversation begins with %s, want %s", got, want)
		}
	}
	first("40")
	m.view()
	press(m, "tab", "tab", "tab", "down")
	first("41")
	press(m, "up", "up")
	first("39")
	press(m, "g")
	first("0")
	press(m, "G", "up")
	m.view()
	if got := m.pane(talkPane, 50, m.body(talkPane)); strings.TrimSpace(got[len(got)-1]) != "98" {
		t.Errorf("it ends with %q", got[len(got)-1])
	}
	look.Here = 0
	m.offset[talkPane] = 0
	if got := m.pane(talkPane, 50, m.body(talkPane)); strings.TrimSpace(got[len(got)-1]) != "99" {
		t.Errorf("a turn without a beginning ends with %q", got[len(got)-1])
	}
}

// A line that was found leads to its row, with the file that has it, and out of a scope that lacks the row.
func TestGoToFound(t *testing.T) {
	m := picking(numbered(30), Painter{}, 120, 40)
	press(m, "/", "x", "tab")
	answer(m, func(a Ask) Answer {
		if a.What != AskSearch || a.Text != "x" {
			t.Errorf("asked %+v", a)
		}
		return Answer{Found: &Found{Lines: []FoundLine{{Raw: "b", CameID: "id20", WentID: "hidden"}}}}
	})
	press(m, "enter")
	r, _ := m.selected()
	a, _ := m.wanted()
	m.take(Answer{Ask: a, Look: &Look{Files: []File{{Raw: "a"}, {Raw: "b", At: 7}}, Diff: numberedLines(50)}})
	if r.ID != "id20" || m.file != 1 || m.offset[diffPane] != 7 || m.filter != "" {
		t.Errorf("at %s, file %d, line %d, filter %q", r.ID, m.file, m.offset[diffPane], m.filter)
	}
	press(m, "/", "x", "tab")
	answer(m, func(Ask) Answer {
		return Answer{Found: &Found{Lines: []FoundLine{{Raw: "b", CameID: "id20", WentID: "hidden"}}}}
	})
	press(m, "w")
	answer(m, func(a Ask) Answer {
		rows := numbered(30)
		rows.List[25].ID = "hidden"
		if a.What != AskAll || a.Scope != WithSafety {
			t.Errorf("asked %+v", a)
		}
		return Answer{Rows: rows}
	})
	if r, _ := m.selected(); r.ID != "hidden" {
		t.Errorf("at %s", r.ID)
	}
	press(m, "/", "x", "tab")
	answer(m, func(Ask) Answer { return Answer{Found: &Found{Lines: []FoundLine{{Raw: "b", CameID: "gone"}}}} })
	press(m, "enter")
	if !strings.Contains(m.foot().String(), "not in the timeline") {
		t.Errorf("of a row that is gone: %s", m.foot())
	}
}

// TestOneColourUnderTheCursor: the line that the cursor is on has one colour, and counts have their own in all other lines.
func TestOneColourUnderTheCursor(t *testing.T) {
	rows, _ := story()
	m := picking(rows, Painter{On: true}, 80, 24)
	m.key("j")
	for _, l := range m.view()[1:8] {
		on := strings.Contains(l, "fix the failing test")
		for _, part := range strings.Split(l, "\x1b[")[1:] {
			style, _, _ := strings.Cut(part, "m")
			if on && style != "0" && style != "7" && style != "7;1" {
				t.Errorf("style %s in the line of the cursor: %q", style, l)
			}
		}
		if strings.Contains(l, "-110") && !(strings.Contains(l, "\x1b[32m+12 ") && strings.Contains(l, "\x1b[33m~3 ") && strings.Contains(l, "\x1b[31m-110")) {
			t.Errorf("counts without their colours: %q", l)
		}
	}
}

// TestPageAtARow: w opens the page at the checkpoint under the cursor, and says where; in a row that is none, at the newest.
func TestPageAtARow(t *testing.T) {
	rows, _ := story()
	m := picking(rows, Painter{}, 80, 24)
	for i, r := range rows.List {
		want := ""
		if r.Is == IsCheckpoint {
			want = r.ID
		}
		m.asks = nil
		m.key("w")
		if !slices.Contains(m.asks, Ask{What: AskPage, ID: want}) {
			t.Errorf("row %d asks %+v, not for the page at %q", i, m.asks, want)
		}
		m.take(Answer{Ask: Ask{What: AskPage, ID: want}, Summary: "it opens"})
		if len(m.message) == 0 || m.message[0].Text != "it opens" {
			t.Errorf("row %d: %v", i, m.message)
		}
		m.key("j")
	}
}

// A filter that was kept is what the next letter replaces, and backspace takes away; after another key, letters are added to it.
func TestKeptFilterIsReplaced(t *testing.T) {
	m := picking(numbered(30), Painter{}, 120, 40)
	for _, c := range []struct{ keys, want string }{{"/ 2 9 enter / 1 7", "17"}, {"enter / backspace", ""}, {"2 9 enter / paste:18", "18"}, {"enter / end 9", "189"}, {"enter / ctrl-u 5", "5"}, {"enter / enter", "5"}} {
		press(m, strings.Fields(c.keys)...)
		if m.filter != c.want {
			t.Errorf("%s: the filter is %q, not %q", c.keys, m.filter, c.want)
		}
	}
}

// Of several words, each begins a word of a row, where the row does not have them as they were typed.
func TestWordsBeginWords(t *testing.T) {
	rows := numbered(3)
	for i, text := range []string{"fix it in the scanner", "commit the prefix", "cli/screen_fix.go, then IT"} {
		rows.List[i].Text = text
	}
	m := picking(rows, Painter{}, 120, 40)
	press(m, "/", "f", "i", "x", " ", "i", "t")
	if got := fmt.Sprint(m.shown); got != "[0 2]" {
		t.Errorf("shown are %s", got)
	}
}

// A number of a row is found whole, and is no part of another number.
func TestNumberOfRowIsFoundWhole(t *testing.T) {
	rows := numbered(300)
	for i := range rows.List {
		rows.List[i].Text = fmt.Sprint("prompt number ", 1000+i)
	}
	rows.List[7].Text = "prompt number 25"
	m := picking(rows, Painter{}, 120, 40)
	press(m, strings.Fields("/ n u m b e r")...)
	press(m, " ", "2", "5")
	if len(m.shown) != 2 || m.shown[0] != 7 || rows.List[m.shown[1]].N != "25" {
		t.Errorf("shown are %v", m.shown)
	}
}

// All files are found by what is typed of their paths; a line of one leads to the row that wrote it.
func TestFilesLeadToRows(t *testing.T) {
	m := picking(numbered(30), Painter{}, 120, 40)
	press(m, "F")
	answer(m, func(a Ask) Answer {
		return Answer{Found: &Found{Lines: []FoundLine{{Path: "README.md", Raw: "README.md"}, {Path: "src/q.go", Raw: "src/q.go"}, {Path: "src/w.go", Raw: "src/w.go"}}}}
	})
	press(m, "G", "O", "backspace", "o", "ctrl-u", "s", "r", "c", " ", "W", "down", "down") // letters are a part of a path here
	press(m, "enter")
	answer(m, func(a Ask) Answer {
		if a.What != AskBlame || a.Text != "src/w.go" || a.ID != "id1" {
			t.Errorf("asked %+v", a)
		}
		return Answer{Found: &Found{Lines: []FoundLine{{Path: "src/w.go", Raw: "src/w.go", Line: 1, Came: "not known"}, {Path: "src/w.go", Raw: "src/w.go", Line: 2, CameID: "id20"}}}}
	})
	press(m, "enter") // no row is known
	if m.mode != searching {
		t.Errorf("a line of no row leads somewhere")
	}
	press(m, "j", "enter")
	if r, _ := m.selected(); r.ID != "id20" || m.mode != browsing || m.filter != "" {
		t.Errorf("at %s, filter %q", r.ID, m.filter)
	}
}

// A message that is longer than the window is wide is shown on more lines, and not cut.
func TestMessageIsNotCut(t *testing.T) {
	m := picking(numbered(30), Painter{}, 40, 20)
	const text = "Restored to 3 \"clean up the docs\": 12 created. u takes it back, q leaves"
	m.message = Text(Plain, text)
	shown := m.view()
	if len(shown) != 20 {
		t.Fatalf("%d lines", len(shown))
	}
	if got := strings.Join(strings.Fields(strings.Join(shown[18:], " ")), " "); got != text {
		t.Errorf("the last lines are %q", got)
	}
}

// TestPathTypedAhead: enter chooses the file that was typed, also before the list of files has come.
func TestPathTypedAhead(t *testing.T) {
	m := picking(numbered(30), Painter{}, 120, 40)
	press(m, "F", "w", "enter")
	files := func(a Ask) Answer {
		return Answer{Found: &Found{Lines: []FoundLine{{Path: "a.go", Raw: "a.go"}, {Path: "w.go", Raw: "w.go"}}}}
	}
	answer(m, files)
	if a := m.asks; len(a) != 1 || a[0].What != AskBlame || a[0].Text != "w.go" {
		t.Errorf("asked %+v", a)
	}
	press(m, "esc", "F", "w", "enter", "backspace") // what is typed after it takes it back
	answer(m, files)
	if m.finding != AskFiles {
		t.Error("a file was chosen while its path was typed")
	}
}
