package screen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"
)

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
		{"\x1b", false, nil, "\x1b"},
		{"\x1b", true, []string{"esc"}, ""},
		{"x\x1b[", false, []string{"x"}, "\x1b["},
		{"\x1b[1;5A", false, []string{"other"}, ""},
		{"\x1bx", false, []string{"alt"}, ""},
		{"世", false, []string{"世"}, ""},
		{"\xe4\xb8", false, nil, "\xe4\xb8"},
		{"\xff", false, []string{"\xff"}, ""},
	} {
		keys, rest := decodeKeys([]byte(c.in), c.final)
		if !slices.Equal(keys, c.want) || string(rest) != c.rest {
			t.Errorf("%q: %q, rest %q; want %q, %q", c.in, keys, rest, c.want, c.rest)
		}
	}
}

func numbered(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i].ID = fmt.Sprintf("id%d", i+1)
		rows[i].Cells = []string{strconv.Itoa(i + 1), strconv.Itoa(i) + "m", "manual", fmt.Sprintf("number %d", i+1), ""}
		rows[i].Text = rows[i].ID + " " + rows[i].Cells[3]
	}
	return rows
}

func picking(rows []Row, p Painter) *Picker {
	return NewPicker([]Column{{Title: "#", Right: true}, {Title: "AGE", Right: true}, {Title: "WHY", Style: Cyan}, {Title: "TEXT", Flex: true}, {Title: "CHANGES"}}, rows, p)
}

func press(m *Picker, keys ...string) Action {
	for _, k := range keys {
		if a := m.key(k); a != stay {
			return a
		}
	}
	return stay
}

func TestPicker(t *testing.T) {
	m := picking(numbered(30), Painter{})
	selected := func() int { i, _ := m.Selected(); return i + 1 }
	check := func(what string, want int) {
		t.Helper()
		if got := selected(); got != want {
			t.Errorf("%s: on %d, want %d", what, got, want)
		}
	}
	check("at first", 1)
	press(m, "up")
	check("up at the top", 1)
	press(m, "down", "down")
	check("down twice", 3)
	press(m, "end", "down")
	check("end", 30)
	press(m, "home")
	press(m, "2", "9")
	check("filter 29", 29)
	if len(m.shown) != 1 || !strings.Contains(m.view()[0], "filter: 29") {
		t.Errorf("filter shows %v, %q", m.shown, m.view()[0])
	}
	if a := press(m, "q"); a != stay || len(m.shown) != 0 {
		t.Errorf("q in a filter is a letter: %v", a)
	}
	if a := press(m, "enter"); a != stay || m.asking {
		t.Error("enter on nothing asks")
	}
	if a := press(m, "esc"); a != stay || len(m.shown) != 30 {
		t.Error("escape clears the filter first")
	}
	if a := press(m, "/", "q"); a != stay || m.filter != "q" {
		t.Errorf("/ begins a filter: %v, %q", a, m.filter)
	}
	press(m, "backspace", "backspace")
	press(m, "down", "enter")
	if !m.asking || !strings.Contains(m.view()[0], "y/N") {
		t.Error("enter does not ask")
	}
	if a := press(m, "n"); a != stay || m.asking {
		t.Error("n does not go back")
	}
	if a := press(m, "enter", "y"); a != Restore {
		t.Errorf("y: %v", a)
	}
	check("chosen", 2)
	for k, want := range map[string]Action{"q": Quit, "esc": Quit, "ctrl-c": Interrupt} {
		if a := press(picking(numbered(3), Painter{}), k); a != want {
			t.Errorf("%s: %v, want %v", k, a, want)
		}
	}
}

// Whatever is pressed at whatever size: the picture fits the screen, the cursor
// is on it, and nothing that comes from outside reaches the terminal raw.
func TestPickerAlwaysFits(t *testing.T) {
	keys := []string{"up", "down", "pageup", "pagedown", "home", "end", "enter", "y", "n", "esc", "backspace", "ctrl-u", "/", "a", "1", "世", "\x1b", "other", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		rows := numbered(rapid.IntRange(0, 40).Draw(t, "rows"))
		for i := range rows {
			rows[i].Cells[3] = rapid.SampledFrom([]string{"", "a long text in which there is no escape", "世界 wide", "e\u0301\u0301"}).Draw(t, "text")
			rows[i].Text = rapid.String().Draw(t, "compared")
		}
		m := picking(rows, Painter{On: rapid.Bool().Draw(t, "colours")})
		for range 20 {
			m.w, m.h = rapid.IntRange(1, 200).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h")
			if i, ok := m.Selected(); ok && rapid.Bool().Draw(t, "preview") {
				m.previews[rows[i].ID] = slices.Repeat([]string{"delete 世界 " + strings.Repeat("x", 300)}, 30)
			}
			lines := m.view()
			if len(lines) > m.h {
				t.Fatalf("%d lines on %d", len(lines), m.h)
			}
			o := displaywidth.Options{ControlSequences: true}
			for _, l := range lines {
				if w := o.String(l); w > m.w {
					t.Fatalf("%d columns on %d: %q", w, m.w, l)
				}
				if strings.Contains(l, "\x1b\x1b") || !utf8.ValidString(l) {
					t.Fatalf("what was typed is on the screen as it is: %q", l)
				}
			}
			if m.cursor < m.top || m.cursor >= m.top+m.listHeight() && len(m.shown) > 0 {
				t.Fatalf("cursor %d outside %d+%d", m.cursor, m.top, m.listHeight())
			}
			if m.key(rapid.SampledFrom(keys).Draw(t, "key")) != stay {
				return
			}
		}
	})
}
