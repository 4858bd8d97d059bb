package picker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/plan"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// Nothing that comes from outside reaches the picker raw: it shows what it is given.
func TestPickIsEscaped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hostile := func(what string) string {
			return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"say \x1b[2J", "\x1b]0;x\a", "世界 wide", "a\nb\tc", "\xff\x9b2J", "\u202eabc"})).Draw(t, what)
		}
		var shown []string
		line := func(l screen.Line) { shown = append(shown, l.String()) }
		l := &project.Listed{N: rapid.IntRange(0, 2).Draw(t, "n")}
		l.Prompt, l.Description, l.Name, l.Tool = hostile("prompt"), hostile("description"), hostile("name"), hostile("tool")
		for _, kind := range []timeline.Kind{timeline.Now, timeline.Prompt, timeline.Tool, timeline.Stop, timeline.Manual, timeline.Operation} {
			r := &timeline.Row{Kind: kind, Tool: l.Tool, Summary: hostile("summary"), Text: l.Prompt, Ends: hostile("ends"), Target: l, Checkpoint: l}
			if kind == timeline.Now || kind == timeline.Operation {
				r.Operation, r.Checkpoint = &manifest.Operation{Verb: hostile("verb")}, nil
			}
			row := Row(r, timeline.Counts{Added: 1}, true, time.Now())
			shown = append(shown, row.N, row.Why, row.Text, row.Note)
		}
		for _, f := range planOnScreen(&plan.Plan{Files: []plan.File{{Action: "create", Path: hostile("path")}}}).Files {
			shown = append(shown, f.Path)
		}
		tried := &attempts.Fork{Base: *l, Attempts: []attempts.Attempt{{N: 1, Prompt: *l, End: l, Open: true}, {N: 2, Prompt: *l}}}
		text, _ := attemptLines(&rows.Attempts{Fork: tried, Tried: app.Map(tried.Attempts, func(a attempts.Attempt) rows.Tried { return rows.Tried{Attempt: a} })}, time.Now())
		for _, d := range text {
			line(d)
		}
		look := &screen.Look{}
		showFiles(look, []inspect.FileDiff{{Change: manifest.Change{Path: hostile("path"), New: &manifest.Entry{}}, Patch: "+++ b\n@@ -1 +1 @@\n+" + hostile("content")}})
		shown = append(shown, look.Files[0].Path)
		for _, d := range append(look.Diff, talkLines([]conversation.LastMessage{{Person: true, Text: hostile("said")}, {Text: "# **" + hostile("answer") + "** `" + hostile("code") + "`"}, {Tool: hostile("tool"), Text: hostile("input")}}, "/p")...) {
			line(d)
		}
		for _, text := range shown {
			if at := app.FirstUnsafe(strings.ReplaceAll(text, "\u200e", "")); at >= 0 {
				t.Fatalf("raw control in %q", text)
			}
		}
	})
}

// The attempts say how often each was asked something, what others wrote beside it, and of one whose end the files are not
// another end, too.
func TestAttemptLines(t *testing.T) {
	prompt, end := project.Listed{N: 9}, &project.Listed{N: 4}
	prompt.Prompt, prompt.Kind, end.Kind = "again", manifest.Prompt, manifest.Safety
	tried := attempts.Attempt{N: 2, Prompt: prompt, End: end, Prompts: 1, Open: true}
	first := attempts.Attempt{N: 1, Prompt: prompt, End: end, Prompts: 2}
	var got []string
	lines, ends := attemptLines(&rows.Attempts{Fork: &attempts.Fork{Base: prompt, At: 2, Attempts: []attempts.Attempt{first, tried}},
		Tried: []rows.Tried{{Attempt: first}, {Attempt: tried, Changes: &inspect.Totals{Modified: 1, LinesAdded: 51, LinesDeleted: 1}, Others: 2, Also: 1}}}, prompt.Time)
	if want := []screen.Tried{{Line: 2, ID: end.ID.String()}, {Line: 5, ID: "@"}}; !slices.Equal(ends, want) {
		t.Errorf("ends %v, want %v", ends, want)
	}
	for _, l := range lines {
		if text := strings.TrimSpace(l.String()); text != "" {
			got = append(got, text)
		}
	}
	want := `Attempts since 9 "again", the oldest first|1  now  9 "again"|2 prompts; what it changed is not known|ends with 4|` +
		`*  2  now  9 "again"|1 prompt; files ~1, lines +51 -1|2 more paths that only you or other sessions changed meanwhile are not counted.|` +
		`Lines that you or other sessions wrote in the same files are counted, too.|* has the files as they are.`
	if text := strings.Join(got, "|"); !strings.HasPrefix(text, want) {
		t.Errorf("\n got %s\nwant %s", text, want)
	}
}

// Each file has its name in the diff, whatever was done to it: a patch itself names /dev/null instead of a file that was
// deleted, and an empty file nowhere but in its first line.
func TestLookNamesFiles(t *testing.T) {
	e := &manifest.Entry{}
	look := &screen.Look{}
	showFiles(look, []inspect.FileDiff{
		{Change: manifest.Change{Path: "gone.txt", Old: e}, Patch: "diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"},
		{Change: manifest.Change{Path: "empty.txt", New: e}, Patch: "diff --git a/empty.txt b/empty.txt\nnew file mode 100644\n"},
		{Change: manifest.Change{Path: "a.txt", Old: e, New: e}, Patch: "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+++ b\n"},
	})
	var got []string
	for _, l := range look.Diff {
		got = append(got, l.String())
	}
	want := "D gone.txt|deleted file mode 100644|@@ -1 +0,0 @@|-gone|A empty.txt|new file mode 100644|M a.txt|@@ -1 +1 @@|-a|+++ b"
	if text := strings.Join(got, "|"); text != want {
		t.Errorf("the diff is\n%s, want\n%s", text, want)
	}
	for i, at := range []int{0, 4, 6} {
		if look.Files[i].At != at {
			t.Errorf("%s begins at line %d, not %d", look.Files[i].Path, look.Files[i].At, at)
		}
	}
}

func TestUTF8Locale(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"LANG": "de_DE.UTF-8"}, true},
		{map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, false},
		{map[string]string{"LANG": "de_DE.ISO-8859-1"}, false},
		{map[string]string{"LANG": "en_US"}, true},
		{map[string]string{"TERM": "xterm"}, true},
		{map[string]string{"TERM": "linux"}, false},
	} {
		if got := utf8Locale(func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}
