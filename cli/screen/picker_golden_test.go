package screen

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/graph"
)

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
	}, Graph: &graph.Graph{Columns: 2, Tracks: 1, Column: []int{0, 0, 0, 0, 1, 1, 1, 1, 1},
		Lanes: []graph.Lane{{Bottom: 3, Fork: 6}, {Column: 1, Top: 4, Bottom: 8, Fork: -1}}, Arcs: []graph.Arc{{From: 3, To: 6}}}}
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

// The picture is a function of the state: golden files of all sizes.
func TestGolden(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}} {
		for _, colour := range []bool{false, true} {
			name := fmt.Sprintf("%dx%d", size[0], size[1])
			if colour {
				name += "-colour"
			}
			var b strings.Builder
			for _, keys := range []string{"", "j", "j tab j", "j tab tab", "/ t e s t", "enter", "f space", "f down l", "f down l down space left", "?", "o", "j a", "j a down space", "j x", "j n", "/ t tab down", "F m", "F enter down", "i"} {
				rows, look := story()
				m := picking(rows, Painter{On: colour}, size[0], size[1])
				for i, k := range strings.Fields(keys) {
					if k == "space" {
						k = " "
					}
					if i == 0 && (k == "enter" || k == "f") {
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
						if a.What == AskAttempts {
							return Answer{Log: []Line{Text(Bold, "  Attempts since "+a.ID), Text(Plain, "  * 1 fix the failing test"), Text(Dim, "       ends with 2"), Text(Plain, "    2 fix the test")}, Tried: []Tried{{Line: 1, ID: "@"}, {Line: 3, ID: "k2"}}}
						}
						if a.What == AskSearch {
							return Answer{Found: &Found{Lines: []FoundLine{
								{Path: "a.go", Raw: "a.go", Line: 3, Text: "\tif t {", Came: "5 prompt add tz", CameID: "k5"},
								{Path: "a/directory/with/a/long/name/世界.go", Raw: "b", Line: 120, Text: "t: שלום", Came: "6 manual", CameID: "k7", Went: "3 prompt 世界", WentID: "k3"}}}}
						}
						if a.What == AskFiles {
							return Answer{Found: &Found{Lines: []FoundLine{{Path: "a.go", Raw: "a.go"}, {Path: "main/世界.go", Raw: "b"}, {Path: "README.md", Raw: "README.md"}}}}
						}
						if a.What == AskBlame {
							return Answer{Found: &Found{At: "after 5", Lines: []FoundLine{
								{Path: "a.go", Raw: "a.go", Line: 1, Text: "package a", Came: "not known"}, {Path: "a.go", Raw: "a.go", Line: 2, Text: "// שלום", Came: "5 prompt add tz", CameID: "k5"},
								{Path: "a.go", Raw: "a.go", Line: 3, Text: "// 世界", Came: "5 prompt add tz", CameID: "k5"}}}}
						}
						if a.What == AskInfo {
							return Answer{Log: []Line{Text(Bold, "  1 path is not in the newest checkpoint"), Text(Plain, "  debug.log")}}
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
