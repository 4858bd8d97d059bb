package restore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/work"
)

// conflictKeys are what can be answered to a conflict.
var conflictKeys = []struct {
	key    byte
	word   string // in the question
	choice work.ConflictChoice
	text   string
}{
	{'k', "keep", work.KeepBlock, "keep the block as it is now"},
	{'f', "file", work.KeepFile, "keep the whole file as it is now"},
	{'u', "undo", work.UndoBlock, "undo it: as before the work; what others made of it goes, too (a safety checkpoint has it)"},
	{'m', "markers", work.MarkConflict, "write both, between markers"},
	{'q', "quit", "", "quit: nothing is changed"},
	{'?', "", "", "this help"},
}

// askConflicts makes the plan, and asks what becomes of each of its conflicts.
func askConflicts(ctx context.Context, c *app.Call, p *project.Project, o revert.Options) (map[string]work.ConflictChoice, error) {
	o.DryRun, o.Conflicts = true, work.KeepBlock
	plan, err := revert.Revert(ctx, p, o)
	if err != nil || len(plan.Conflicts) == 0 {
		return nil, err
	}
	c.Out.EndProgress()
	in := bufio.NewReader(c.Out.Stdin)
	choices := map[string]work.ConflictChoice{}
	kept := "" // the file that stays as a whole
	for i, k := range plan.Conflicts {
		if k.Path == kept {
			choices[k.Key] = work.KeepFile
			continue
		}
		showConflict(c, k)
		choice, err := askConflict(ctx, c, in, k, i+1, len(plan.Conflicts))
		if err != nil {
			return nil, err
		}
		if choice == "" {
			return nil, &restore.DeclinedError{}
		}
		if choices[k.Key] = choice; choice == work.KeepFile {
			kept = k.Path
		}
	}
	return choices, nil
}

// showConflict prints both texts, and who wrote when and for which prompt.
func showConflict(c *app.Call, k revert.RevertConflict) {
	o := c.Out
	o.Line("%s", o.Color.Paint(screen.Bold, report.PlaceText(k.Path, k.From, k.To)+": "+k.Reason))
	for _, w := range k.Own {
		o.Line("  %s %s", o.Color.Paint(screen.Red, "goes: "), report.WorkText(c, w))
	}
	for _, w := range k.By {
		o.Line("  %s %s", o.Color.Paint(screen.Yellow, "since:"), report.WorkText(c, w))
	}
	if k.Whole() || k.Now == nil && k.Before == nil {
		return
	}
	for _, side := range []struct {
		title, sign string
		style       screen.Style
		lines       []string
	}{{"now", "-", screen.Red, k.Now}, {"before the work", "+", screen.Green, k.Before}} {
		o.Line("  %s", o.Color.Paint(screen.Dim, side.title+":"))
		for _, line := range app.FirstN(side.lines, conflictLines) {
			o.Line("%s", o.Color.Paint(side.style, side.sign+app.Escape(strings.TrimRight(line, "\r\n"))))
		}
		if n := len(side.lines) - conflictLines; n > 0 {
			o.Line("  and %d more lines", n)
		}
	}
}

// conflictLines is how many lines of each text are shown.
const conflictLines = 40

// askConflict gives the choice, "" to end without a change; the end of the input is that, too.
func askConflict(ctx context.Context, c *app.Call, in *bufio.Reader, k revert.RevertConflict, n, of int) (work.ConflictChoice, error) {
	var keys, words []string
	for _, a := range conflictKeys {
		if a.choice == work.MarkConflict && k.Whole() || a.choice == work.KeepFile && k.Whole() {
			continue
		}
		keys = append(keys, string(a.key))
		words = append(words, strings.TrimSpace(string(a.key)+" "+a.word))
	}
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		c.Out.Buf.Flush()
		fmt.Fprint(c.Out.Stderr, c.Out.ErrColor.Paint(screen.Blue, fmt.Sprintf("(%d/%d) What becomes of it [%s]?", n, of, strings.Join(words, ", ")))+" ")
		line, err := c.Out.ReadLineFrom(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		if answer == "q" || answer == "" && err != nil {
			return "", nil
		}
		for _, a := range conflictKeys {
			if answer == string(a.key) && a.choice != "" && strings.Contains(strings.Join(keys, ""), answer) {
				return a.choice, nil
			}
		}
		for _, a := range conflictKeys {
			if strings.Contains(strings.Join(keys, ""), string(a.key)) {
				fmt.Fprintf(c.Out.Stderr, "%c - %s\n", a.key, a.text)
			}
		}
	}
}
