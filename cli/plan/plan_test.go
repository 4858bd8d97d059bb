package plan

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
)

// describe is the plan that a dry run gives.
func describe(a *restoring, r *restore.Restored, to *project.Listed) *Plan {
	p := &Plan{Restored: r, Back: "u"}
	a.describe(p, r, *to)
	p.ask()
	return p
}

// Nothing that comes from outside is in a plan raw, but for its paths.
func TestPlanIsEscaped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hostile := func(what string) string {
			return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"say \x1b[2J", "\x1b]0;x\a", "世界 wide", "a\nb\tc", "\xff\x9b2J", "\u202eabc"})).Draw(t, what)
		}
		l := &project.Listed{N: rapid.IntRange(0, 2).Draw(t, "n")}
		l.Prompt, l.Description, l.Name, l.Tool = hostile("prompt"), hostile("description"), hostile("name"), hostile("tool")
		p := describe(&restoring{what: "restore to " + rows.Clipped(l)}, &restore.Restored{
			Create: []string{hostile("path")}, Delete: []string{hostile("path")}, Prompts: []string{hostile("undone")},
			Skip:         []problem.Problem{{Path: hostile("path"), Reason: hostile("reason")}},
			Others:       []restore.OtherWork{{Agent: "claude", Session: hostile("session"), Prompt: hostile("prompt"), Paths: 2}},
			Conversation: &conversation.Moved{},
			Git:          &restore.GitMoved{Branch: hostile("branch"), ThenBranch: hostile("other branch")},
		}, l)
		shown := append([]string{p.Title, p.Question}, append(p.Others, p.Notes...)...)
		for _, f := range p.Facts {
			shown = append(shown, f.Text)
		}
		for _, text := range shown {
			if at := app.FirstUnsafe(text); at >= 0 {
				t.Fatalf("raw control in %q", text)
			}
		}
	})
}

// The question names the checkpoint by number and prompt, what goes, whose, and how to take it back.
func TestQuestion(t *testing.T) {
	l := &project.Listed{N: 3}
	l.Prompt = "add tz\nto all of it"
	a := &restoring{what: "restore to " + rows.Clipped(l), words: report.RestoreCheckpoint}
	plan := describe(a, &restore.Restored{Delete: []string{"a", "b"}, Replace: []string{"c"},
		Others: []restore.OtherWork{{Agent: "claude", Session: "5db0d5f6-0000", Paths: 2, Prompt: "parser"}}}, l)
	if want := `restore to 3 "add tz" (deletes 2, replaces 1, 2 of claude 5db0d5f6)? u takes it back`; plan.Question != want {
		t.Errorf("the question is %q, want %q", plan.Question, want)
	}
	if nothing := describe(a, &restore.Restored{}, l); nothing.Question != "" {
		t.Errorf("nothing to do, and it asks %q", nothing.Question)
	}
}

// A list that is cut ends with how many more there are.
func TestPlanCountsWhatItDoesNotName(t *testing.T) {
	r := &restore.Restored{Delete: []string{"a"}}
	for i := range mostPrompts + 4 {
		r.Prompts = append(r.Prompts, fmt.Sprint("prompt ", i))
	}
	for i := range mostSkipped + 1 {
		r.Skip = append(r.Skip, problem.Problem{Path: fmt.Sprint("f", i), Reason: "busy"})
	}
	p := describe(&restoring{what: "restore", words: report.RestoreCheckpoint}, r, &project.Listed{N: 3})
	if got := p.Facts[len(p.Facts)-1].Text; got != "  and 4 more prompts" {
		t.Errorf("the prompts that are undone end with %q", got)
	}
	if got := p.Notes[len(p.Notes)-1]; got != "Skipped: 1 more path" {
		t.Errorf("what is skipped ends with %q", got)
	}
}

// Of paths or parts, a plan gives no advice about HEAD: that moves a whole branch.
func TestPlanGivesGitAdviceOfAllFilesOnly(t *testing.T) {
	for _, part := range []bool{false, true} {
		r := &restore.Restored{Replace: []string{"a"}, Git: &restore.GitMoved{Head: "1111", Branch: "main", ThenHead: "2222", ThenBranch: "main", Part: part}}
		p := describe(&restoring{what: "restore", words: report.RestoreCheckpoint}, r, &project.Listed{N: 3})
		if got := strings.Contains(fmt.Sprint(p.Facts), "git reset --soft"); got == part || !strings.Contains(fmt.Sprint(p.Facts), "HEAD is on branch main") {
			t.Errorf("part %v: %v", part, p.Facts)
		}
	}
}

// A plan promises a safety checkpoint where one is taken, and a key where there are keys.
func TestPlanSaysHowItIsTakenBack(t *testing.T) {
	files, talk := &restore.Restored{Delete: []string{"a"}}, &restore.Restored{Conversation: &conversation.Moved{}}
	for _, c := range []struct {
		r              *restore.Restored
		keyless        bool
		note, question string
	}{
		{files, false, "A safety checkpoint is taken first. Undo it with u here, or with rewind undo.", "u takes it back"},
		{talk, false, "Undo it with u here, or with rewind undo.", "u takes it back"},
		{files, true, "A safety checkpoint is taken first. Undo it with rewind undo.", "rewind undo takes it back"},
	} {
		p := &Plan{Restored: c.r, Back: "u", keyless: c.keyless}
		(&restoring{what: "restore", words: report.RestoreCheckpoint}).describe(p, c.r, project.Listed{N: 3})
		p.ask()
		if p.Notes[0] != c.note || !strings.HasSuffix(p.Question, "? "+c.question) {
			t.Errorf("%q, %q", p.Notes[0], p.Question)
		}
	}
}

// An undo takes back what was done before it, a redo an undo; an undo after another one goes on.
func TestTakesBack(t *testing.T) {
	done := map[string]*Done{"restore": {words: report.RestoreCheckpoint}, "undo": {words: report.UndoWords}, "redo": {words: report.RedoWords}, "revert": {}}
	takes := map[string]bool{"undo restore": true, "undo revert": true, "undo redo": true, "redo undo": true}
	for a, of := range done {
		for b, before := range done {
			if got := of.TakesBack(before); got != takes[a+" "+b] {
				t.Errorf("%s after %s: %v", a, b, got)
			}
		}
	}
}
