package report

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	table := NewTable("what", ">time")
	table.Row("a | b", "1.00 ms")
	table.Row("ünïcode × 2")
	const want = "" +
		"| what        |    time |\n" +
		"|-------------|--------:|\n" +
		"| a \\| b      | 1.00 ms |\n" +
		"| ünïcode × 2 |         |\n"
	if got := table.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Millis(0).String(), "–"},
		{Millis(0.424).String(), "0.42 ms"},
		{Millis(9.996).String(), "10.0 ms"},
		{Millis(99.96).String(), "100 ms"},
		{Millis(999.6).String(), "1.00 s"},
		{Millis(1320).String(), "1.32 s"},
		{Millis(34_000).String(), "34.0 s"},
		{Millis(123_456).String(), "123 s"},
		{ToMillis(1500 * time.Microsecond).String(), "1.50 ms"},
		{Bytes(0), "–"},
		{Bytes(812), "812 B"},
		{Bytes(999), "999 B"},
		{Bytes(4100), "4.10 KB"},
		{Bytes(999_600), "1.00 MB"},
		{Bytes(232_000_000), "232 MB"},
		{Bytes(5_000_000_000), "5.00 GB"},
		{Ratio(3, 2), "1.50 ×"},
		{Ratio(3, 0), "–"},
		{Ratio(0, 3), "–"},
		{Count(7), "7"},
		{Count(1000), "1,000"},
		{Count(15036), "15,036"},
		{Count(1234567), "1,234,567"},
		{Count(-100), "-100"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func sample() *Report {
	return &Report{Machine: "2 × processor", Command: "make bench", Took: 61_000, Tools: []string{"git 2"}, Notes: []string{"borg is not installed"},
		Lines: []*Line{
			{What: "save", Tree: "10 files", Subjects: []*Subject{
				{Name: "raw walk", Role: Floor, Times: []Millis{10}, Min: 10, Median: 10, P90: 10},
				{Name: "rewind", Role: Ours, Times: []Millis{15}, Min: 15, Median: 15, P90: 15, Syscalls: 1200, Fsyncs: 1},
				{Name: "slow", Role: Peer, Times: []Millis{60}, Median: 60},
				{Name: "quick", Role: Peer, Times: []Millis{30}, Median: 30},
				{Name: "broken", Role: Peer, Failed: "exit code 1"},
			}, Budgets: []Budget{{What: "≤ 20 ms", Got: 15, Limit: 20, Unit: "ms"}, {What: "≤ 1 KB", Got: 1200, Limit: 1000, Unit: "bytes"}}},
		}}
}

func TestShort(t *testing.T) {
	const want = "" +
		"| what           |  rewind |   floor |  ratio | best peer | its time | budget            |            |\n" +
		"|----------------|--------:|--------:|-------:|-----------|---------:|-------------------|------------|\n" +
		"| save, 10 files | 15.0 ms | 10.0 ms | 1.50 × | quick     |  30.0 ms | ≤ 20 ms: 15.0 ms  | met        |\n" +
		"|                |         |         |        |           |          | ≤ 1 KB: 1.20 KB   | **missed** |\n"
	got := sample().Short()
	if normal(got) != normal(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestHeadlines(t *testing.T) {
	r := sample()
	r.Lines[0].What, r.Lines[0].Tree = headlines[0].what, headlines[0].tree+", 10 files"
	got := r.Headlines()
	const want = "" +
		"| what | rewind | floor | ratio | best peer | its time |\n" +
		"|------|-------:|------:|------:|-----------|---------:|\n" +
		"| save, nothing changed, kernel source, 10 files | 15.0 ms | 10.0 ms | 1.50 × | quick | 30.0 ms |\n"
	if normal(got) != normal(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if met, all := r.Kept(); met != 1 || all != 2 {
		t.Errorf("%d of %d budgets met", met, all)
	}
}

// normal takes the padding away.
func normal(s string) string {
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '-' || r == ':' })
	return strings.Join(fields, " ")
}

func TestFullTellsWhatFailed(t *testing.T) {
	full := sample().Full()
	for _, want := range []string{"exit code 1", "1,200", "3.00 ×", "0.50 ×"} {
		if !strings.Contains(full, want) {
			t.Errorf("no %q in\n%s", want, full)
		}
	}
	if page := sample().Page(); !strings.Contains(page, "borg is not installed") {
		t.Errorf("the page does not tell what was left out:\n%s", page)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	data, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(sample(), &back) {
		t.Errorf("not the same after JSON: %+v", back)
	}
}

func TestReplaceIn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a\n" + begin + "\nold\n" + end + "\nb\n")
	for range 2 { // again, and nothing more changes
		if err := ReplaceIn(file, "new\n\n"); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if want := "a\n" + begin + "\nnew\n" + end + "\nb\n"; string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	write("no marks\n")
	if err := ReplaceIn(file, "new"); !errors.Is(err, ErrNoMarks) {
		t.Errorf("without marks: %v", err)
	}
	if got, _ := os.ReadFile(file); string(got) != "no marks\n" {
		t.Errorf("a file without marks was changed: %q", got)
	}
}

// A run of some parts takes the place of what it measured before, and of nothing else.
func TestPartInto(t *testing.T) {
	line := func(what string, ms Millis) *Line {
		return &Line{What: what, Tree: "a", Subjects: []*Subject{{Name: "rewind", Role: Ours, Times: []Millis{ms}, Median: ms}}}
	}
	whole := &Report{Command: "make bench", Tools: []string{"git"}, Notes: []string{"busy"}, Lines: []*Line{line("save", 1), line("push", 2)}, Curves: []*Curve{{Name: "x"}}}
	part := &Report{Command: "make bench BENCHFLAGS='-run=push'", Started: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Machine: "a machine", Tools: []string{"git", "kopia"}, Notes: []string{"no peer"}, LoadMin: 1, LoadMax: 2, Lines: []*Line{line("push", 3), line("pull", 4)}}
	for range 2 {
		part.Into(whole)
	}
	var got []string
	for _, l := range whole.Lines {
		got = append(got, l.What+" "+l.Subjects[0].Median.String())
	}
	if text := strings.Join(got, ", "); text != "save 1.00 ms, push 3.00 ms, pull 4.00 ms" {
		t.Error(text)
	}
	want := &Report{Command: "make bench", Tools: []string{"git", "kopia"}, Lines: whole.Lines, Curves: []*Curve{{Name: "x"}}, Notes: []string{"busy",
		"`make bench BENCHFLAGS='-run=push'`: its lines were measured on 2026-11-30, a machine, load average 1.0 to 2.0", "`make bench BENCHFLAGS='-run=push'`: no peer"}}
	if !reflect.DeepEqual(whole, want) {
		t.Errorf("%+v", whole)
	}
}
