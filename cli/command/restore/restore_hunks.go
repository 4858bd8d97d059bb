package restore

import (
	"bufio"
	"context"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
)

// checkPatch refuses what does not go with restore --patch.
func (r *restoreFlags) checkPatch(c *app.Call, h conversation.Half) error {
	switch {
	case h == conversation.ConversationOnly || r.inPlace || r.resume || r.copy:
		return app.Usagef("--patch concerns the files alone")
	case c.JSON:
		return app.Usagef("--patch and --json cannot be combined")
	case !c.Out.Interactive():
		return &app.UsageError{Msg: "--patch asks at a terminal, and this is none",
			Hint: "rewind restore " + app.ShellQuote(c.Args[0]) + " -- path… restores whole files; rewind diff -R " + app.ShellQuote(c.Args[0]) + " -- path… shows what that changes"}
	}
	return nil
}

// restoreHunks asks for each hunk whether it is to be restored, and restores those.
func restoreHunks(ctx context.Context, c *app.Call, p *project.Project, o restore.Options, glob bool) error {
	var err error
	if o.Paths, err = c.Patterns(ctx, p, c.Paths, glob, o.Checkpoint); err != nil {
		return err
	}
	files, err := restore.Hunks(ctx, p, inspect.DiffOptions{A: o.Checkpoint, Paths: o.Paths})
	if err != nil {
		return err
	}
	c.Out.EndProgress()
	a := hunkAsker{dialog: dialog{c, bufio.NewReader(c.Out.Stdin), map[string]string{"s": "This hunk cannot be split."}}}
	var choices []restore.HunkChoice
	for _, f := range files {
		chosen, err := a.file(ctx, f)
		if err != nil {
			return err
		}
		if chosen != nil {
			choices = append(choices, *chosen)
		}
		if a.quit {
			break
		}
	}
	switch {
	case len(files) == 0:
		c.Out.Summary("Nothing differs.")
		return nil
	case len(choices) == 0:
		c.Out.Summary("Nothing was chosen, and nothing changed.")
		return nil
	}
	done, err := restore.RestoreHunks(ctx, p, o, choices)
	if err != nil {
		return err
	}
	v := report.RestoreCheckpoint
	v.Part = report.PartOf(nil, true)
	return report.ReportRestored(c, done, v)
}

// hunkAsker goes through hunks with a person.
type hunkAsker struct {
	dialog
	quit bool
}

// file asks for one path; nil: nothing of it.
func (a *hunkAsker) file(ctx context.Context, f *restore.FileHunks) (*restore.HunkChoice, error) {
	a.Out.Buf.WriteString(rows.PaintPatch(a.Out.Color, f.Head))
	if len(f.Hunks) == 0 {
		key, err := a.ask(ctx, a.wholeQuestion(f), hunkKeys(false), 1, 1)
		a.quit = a.quit || key == "q"
		if err != nil || key != "y" && key != "a" {
			return nil, err
		}
		return &restore.HunkChoice{File: f, Whole: true}, nil
	}
	choice := &restore.HunkChoice{File: f, Whole: true}
	left := f.Hunks
	for n := 1; len(left) > 0; n++ {
		h := left[0]
		a.Out.Buf.WriteString(rows.PaintPatch(a.Out.Color, f.Hunk(h)))
		key, err := a.ask(ctx, "Restore this hunk", hunkKeys(len(h.Changes) > 1), n, n+len(left)-1)
		if err != nil {
			return nil, err
		}
		switch key {
		case "y":
			choice.Hunks = append(choice.Hunks, h)
		case "a":
			choice.Hunks = append(choice.Hunks, left...)
			left = left[:1]
		case "n":
			choice.Whole = false
		case "s":
			left = append(f.Split(h), left[1:]...)
			a.Out.Line("Split into %d hunks.", len(h.Changes))
			n--
			continue
		case "q", "d":
			choice.Whole, a.quit = false, a.quit || key == "q"
			left = left[:1]
		}
		left = left[1:]
	}
	if len(choice.Hunks) == 0 {
		return nil, nil
	}
	return choice, nil
}

// wholeQuestion asks for a path that has no hunks.
func (a *hunkAsker) wholeQuestion(f *restore.FileHunks) string {
	switch {
	case f.Old == nil:
		return "Bring this back"
	case f.New == nil:
		return "Delete this, which the checkpoint does not have"
	}
	return "Restore this"
}

// hunkKeys are what can be answered for a hunk.
func hunkKeys(split bool) []answer {
	keys := []answer{
		{"y", "", "restore this one"},
		{"n", "", "leave it as it is"},
		{"q", "", "leave this and all others; what was chosen before is restored"},
		{"a", "", "restore this and the rest of the file"},
		{"d", "", "leave this and the rest of the file"},
	}
	if split {
		keys = append(keys, answer{"s", "", "split it into smaller hunks"})
	}
	return keys
}
