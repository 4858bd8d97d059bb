package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"
)

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

func render(t table, p painter) []string {
	var out []string
	t.write(p, func(s string) { out = append(out, s) })
	return out
}

func TestTable(t *testing.T) {
	tab := table{
		columns: []column{{title: "#", right: true}, {title: "ID"}, {title: "TEXT", flex: true}, {title: "EMPTY"}, {title: "CHAT"}},
		rows: [][]string{
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
		tab.width = c.width
		if got := strings.Join(render(tab, painter{}), "\n"); got != c.want {
			t.Errorf("width %d:\n%s\nwant\n%s", c.width, got, c.want)
		}
	}
}

// No line is wider than the screen, as long as the fixed columns fit, and
// colours change no width.
func TestTableFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := table{columns: []column{{title: "A", right: true}, {title: "B", flex: true, style: red}, {title: "C"}}}
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			tab.rows = append(tab.rows, []string{
				escape(rapid.StringN(0, 5, 8).Draw(t, "a")), escape(rapid.String().Draw(t, "b")), escape(rapid.StringN(0, 5, 8).Draw(t, "c"))})
		}
		tab.width = rapid.IntRange(100, 200).Draw(t, "width")
		plainLines, painted := render(tab, painter{}), render(tab, painter{on: true})
		for i, l := range plainLines {
			if w := displaywidth.String(l); w > tab.width {
				t.Fatalf("%d columns on a screen of %d: %q", w, tab.width, l)
			}
			if stripped := colours.ReplaceAllString(painted[i], ""); stripped != l {
				t.Fatalf("colours change more than colours: %q, %q", painted[i], l)
			}
		}
	})
}
