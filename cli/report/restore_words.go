package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/work"
)

// ConfirmAbove is how many deletions make restore ask at a terminal.
const ConfirmAbove = 20

// RestoreWords are what differs between the commands of the restore family: the arguments that each takes, and its words.
type RestoreWords struct {
	TakesCheckpoint bool
	TakesSteps      bool   // a number, how many
	TakesTo         bool   // --to, an operation's number
	TakesGit        bool   // --git and --git-only
	Forward         bool   // git's own state goes along where the undo took it along; --git asks for nothing more
	Done            string // "Restored%p to %s.", %p: the part of it, if it was only that
	Would           string // on a dry run
	of              string // instead of done, where one operation was taken back or done again, %v: "Undid the %v: %a as before it.", %a: files are
	wouldOf         string // on a dry run, %f: files
	Part            part
	Attempt         *attempts.Attempt // that restore goes to the end of; nil for another checkpoint
	TakeBack        string            // the command that undoes it
	Onward          string            // instead of "Undo with", in front of it
}

// part is what the verb is given, where that is not all files: the names of paths, or other words; "" for all.
type part struct {
	Text string
	many bool
}

// PartOf says what of a checkpoint a command line asks for.
func PartOf(paths []string, patch bool) part {
	if patch {
		return part{"the chosen parts", true}
	}
	return part{somePaths(paths, 3), len(paths) > 1}
}

func (p part) after(text string) string {
	if p.Text == "" {
		return ""
	}
	return text + p.Text
}

func (p part) subject() string { return cmp.Or(p.Text, "files") }

func (p part) are() string {
	if p.Text != "" && !p.many {
		return p.Text + " is"
	}
	return p.subject() + " are"
}

// RestoreCheckpoint are the words of restore and of the picker.
var RestoreCheckpoint = RestoreWords{
	TakesCheckpoint: true,
	TakesGit:        true,
	Done:            "Restored%p to %s.",
	Would:           "Would restore%p to %s.",
	TakeBack:        "rewind undo",
}

// UndoWords and RedoWords are also those of the picker and the page.
var (
	UndoWords = RestoreWords{
		TakesSteps: true,
		TakesTo:    true,
		TakesGit:   true,
		Done:       "Restored%p to %s.",
		Would:      "Would restore%p to %s.",
		of:         "Undid the %v: %a as before it.",
		wouldOf:    "Would undo the %v: %f as before it.",
		TakeBack:   "rewind redo",
		Onward:     "Go forward again",
	}
	RedoWords = RestoreWords{
		TakesSteps: true,
		Forward:    true,
		Done:       "Redone: back at %s.",
		Would:      "Would redo: back to %s.",
		of:         "Redid the %v: %a as after it.",
		wouldOf:    "Would redo the %v: %f as after it.",
		TakeBack:   "rewind undo",
	}
)

// RevertFlags are those of revert.
type RevertFlags struct {
	Tool, Since, Subagent string
	Conflicts             string
	Shared                bool
	DryRun, Yes, Glob     bool
}

// work is what the flags name, in a sentence.
func (r *RevertFlags) work(session string) string {
	switch {
	case r.Tool != "":
		return "this call"
	case session != "":
		return "this session"
	}
	return "this turn"
}

// Check refuses what contradicts itself.
func (r *RevertFlags) Check(c *app.Call) error {
	named := len(c.Args)
	if r.Tool != "" {
		named++
	}
	if r.Since != "" {
		named++
	}
	prompt := false
	if len(c.Args) == 1 {
		_, prompt = conversation.PromptNumber(c.Args[0])
	}
	if err := c.NotEmpty("tool", "subagent", "since"); err != nil {
		return err
	}
	switch {
	case named == 0 && c.Session == "" && r.Subagent != "":
		return &app.UsageError{Msg: "--subagent does not say of which session", Hint: "rewind revert --session S --subagent " + app.ShellQuote(r.Subagent) + "; rewind sessions lists the sessions"}
	case named == 0 && c.Session == "":
		return &app.UsageError{Msg: "nothing says whose work to take back", Hint: "rewind revert prompt~1 is the last turn; rewind sessions lists the sessions for --session"}
	case named > 1:
		return app.Usagef("a prompt, a checkpoint, --tool and --since exclude each other")
	case r.Tool != "" && r.Subagent != "":
		return app.Usagef("--tool names one call: --subagent does not go with it")
	case len(c.Args) == 1 && !prompt && c.Session != "":
		msg, hint := "a checkpoint cannot be combined with --session", "rewind revert "+app.ShellQuote(c.Args[0])+" takes back the turn of that checkpoint"
		if n, err := strconv.Atoi(c.Args[0]); err == nil && n > 0 {
			hint += fmt.Sprintf("; the session's turn is rewind revert prompt~%d --session %s", n, app.ShellQuote(c.Session))
		}
		return &app.UsageError{Msg: msg, Hint: hint}
	case r.Conflicts != "" && !slices.Contains(work.ConflictChoices(), work.ConflictChoice(r.Conflicts)):
		return app.Usagef("--conflicts must be refuse, keep, keep-file, undo or markers, not %s", app.Quote(r.Conflicts))
	}
	if r.Since != "" {
		if n, ok := conversation.PromptNumber(r.Since); !ok || n < 1 {
			return app.Usagef("--since must be of the form prompt~N, not %s", app.Quote(r.Since))
		}
	}
	return nil
}
