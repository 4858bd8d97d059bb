package screen

import (
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"
)

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

func render(t Table, p Painter) []string {
	var out []string
	t.Write(p, func(s string) { out = append(out, s) })
	return out
}

func TestTable(t *testing.T) {
	tab := Table{
		Columns: []Column{{Title: "#", Right: true}, {Title: "ID"}, {Title: "TEXT", Flex: true}, {Title: "EMPTY"}, {Title: "CHAT"}},
		Rows: [][]string{
			{"1", "kmno", "short", "", ""},
			{"10*", "pq", "a text that is rather long, and 世界 is wide", "", "2 KiB"},
		},
	}
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "" +
			"  #  ID    TEXT                                          CHAT\n" +
			"  1  kmno  short\n" +
			"10*  pq    a text that is rather long, and 世界 is wide  2 KiB"},
		{40, "" +
			"  #  ID    TEXT                    CHAT\n" +
			"  1  kmno  short\n" +
			"10*  pq    a text that is rather…  2 KiB"},
		{10, "" + // too narrow: the text keeps 12 columns
			"  #  ID    TEXT          CHAT\n" +
			"  1  kmno  short\n" +
			"10*  pq    a text that…  2 KiB"},
	} {
		tab.Width = c.width
		if got := strings.Join(render(tab, Painter{}), "\n"); got != c.want {
			t.Errorf("width %d:\n%s\nwant\n%s", c.width, got, c.want)
		}
	}
}

// Where nothing is cut, a long text makes its own row longer, and no other one.
func TestTableWithoutAScreen(t *testing.T) {
	long := strings.Repeat("w", 200)
	tab := Table{Columns: []Column{{Title: "A", Flex: true}, {Title: "B"}}, Rows: [][]string{{long, "b"}, {"short", "b"}}}
	got := render(tab, Painter{})
	if want := long + "  b"; got[1] != want {
		t.Errorf("%q, want %q", got[1], want)
	}
	if want := "short" + strings.Repeat(" ", maxFlexPad-5+Gap) + "b"; got[2] != want {
		t.Errorf("%q, want %q", got[2], want)
	}
}

// What a flexible column cannot give, the others do.
func TestTableFitsByAllColumns(t *testing.T) {
	tab := Table{Width: 40, Columns: []Column{{Title: "WIDE", Flex: true}, {Title: "LESS", Flex: true}, {Title: "NOTE", Flex: true}},
		Rows: [][]string{{strings.Repeat("w", 30), strings.Repeat("l", 13), strings.Repeat("n", 13)}}}
	for _, l := range render(tab, Painter{}) {
		if w := displaywidth.String(l); w > tab.Width {
			t.Errorf("%d columns on a screen of %d: %q", w, tab.Width, l)
		}
	}
}

// No line is wider than the screen, as long as the fixed columns fit, and
// colours change no width.
func TestTableFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := Table{Columns: []Column{{Title: "A", Right: true}, {Title: "B", Flex: true, Style: Red}, {Title: "C"}}}
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			tab.Rows = append(tab.Rows, []string{
				printable(rapid.StringN(0, 5, 8).Draw(t, "a")), printable(rapid.String().Draw(t, "b")), printable(rapid.StringN(0, 5, 8).Draw(t, "c"))})
		}
		tab.Width = rapid.IntRange(100, 200).Draw(t, "width")
		plainLines, painted := render(tab, Painter{}), render(tab, Painter{On: true})
		for i, l := range plainLines {
			if w := displaywidth.String(l); w > tab.Width {
				t.Fatalf("%d columns on a screen of %d: %q", w, tab.Width, l)
			}
			if stripped := colours.ReplaceAllString(painted[i], ""); stripped != l {
				t.Fatalf("colours change more than colours: %q, %q", painted[i], l)
			}
		}
	})
}

// printable is a cell as a command gives it: without what must not reach a screen.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && Unsafe(r) {
			return '?'
		}
		return r
	}, s)
}
