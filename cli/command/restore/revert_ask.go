package restore

import (
	"bufio"
	"context"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/work"
)

// conflictKeys are what can be answered to a conflict. Of a whole file there is no block to keep or to mark.
func conflictKeys(whole bool) []answer {
	keys := []answer{{"k", "keep", "keep the block as it is now"}}
	if !whole {
		keys = append(keys, answer{"f", "file", "keep the whole file as it is now"})
	}
	keys = append(keys, answer{"u", "undo", "undo it: as before the work; what others made of it goes, too (a safety checkpoint has it)"})
	if !whole {
		keys = append(keys, answer{"m", "markers", "write both, between markers"})
	}
	return append(keys, answer{"q", "quit", "quit: nothing is changed"})
}

// askConflicts makes the plan, and asks what becomes of each of its conflicts.
func askConflicts(ctx context.Context, c *app.Call, p *project.Project, o revert.Options) (map[string]work.ConflictChoice, error) {
	o.DryRun, o.Conflicts = true, work.KeepBlock
	plan, err := revert.Revert(ctx, p, o)
	if err != nil || len(plan.Conflicts) == 0 {
		return nil, err
	}
	c.Out.EndProgress()
	d := dialog{Call: c, in: bufio.NewReader(c.Out.Stdin)}
	choices := map[string]work.ConflictChoice{}
	kept := "" // the file that stays as a whole
	for i, k := range plan.Conflicts {
		if k.Path == kept {
			choices[k.Key] = work.KeepFile
			continue
		}
		showConflict(c, k)
		key, err := d.ask(ctx, "What becomes of it", conflictKeys(k.Whole()), i+1, len(plan.Conflicts))
		switch {
		case err != nil:
			return nil, err
		case key == "q":
			return nil, &restore.DeclinedError{}
		case key == "f":
			kept = k.Path
		}
		choices[k.Key] = map[string]work.ConflictChoice{"k": work.KeepBlock, "f": work.KeepFile, "u": work.UndoBlock, "m": work.MarkConflict}[key]
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
